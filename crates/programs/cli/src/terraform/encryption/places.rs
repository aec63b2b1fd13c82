//! The states that a command is about, one after the other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_backends::{Purpose, local_path};

use crate::args::StatesArg;
use crate::input::backend::{backend, refused};
use crate::input::locate::is_standard;
use crate::input::location::StateLocation;
use crate::input::remote::Remote;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Result};

/// The states that the command line and its list name, found one argument after the other.
pub(super) fn each(
    args: &StatesArg,
    purpose: Purpose,
) -> Result<impl Iterator<Item = Result<StateLocation>>> {
    let all_workspaces = args.all_workspaces;
    Ok(arguments(args)?.into_iter().flat_map(move |argument| {
        match states(&argument, all_workspaces, purpose) {
            Ok(found) => found.into_iter().map(Ok).collect(),
            Err(failure) => vec![Err(failure)],
        }
    }))
}

/// What the command line names, and what the list adds; the present directory if that is nothing.
fn arguments(args: &StatesArg) -> Result<Vec<PathBuf>> {
    let mut arguments = args.states.clone();
    if let Some(path) = &args.list {
        let text = match is_standard(path) {
            true => io::read_to_string(io::stdin().lock()),
            false => fs::read_to_string(path),
        };
        let text = text.map_err(|error| Failure::unreadable(path, &error))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        arguments.extend(lines.map(PathBuf::from));
    } else if arguments.is_empty() {
        arguments.push(PathBuf::from("."));
    }
    Ok(arguments)
}

/// The states of an argument: one, or those of all its workspaces.
fn states(argument: &Path, all: bool, purpose: Purpose) -> Result<Vec<StateLocation>> {
    if !all {
        let found = match purpose {
            Purpose::Read => StateLocation::to_read(argument)?,
            Purpose::Change => StateLocation::existing(argument)?,
        };
        return Ok(vec![found]);
    }
    let place = backend(argument, purpose)?;
    let names = runtime()?.block_on(place.opened.backend.list()).map_err(|error| refused(&error))?;
    let mut states = Vec::new();
    for name in names {
        if place.settings.kind() != "local" {
            let remote = Remote::new(place.clone().with_workspace(name), &argument.to_string_lossy())?;
            states.push(StateLocation::of_remote(remote, argument));
            continue;
        }
        let folder = place.directory.as_deref().unwrap_or(Path::new(""));
        let path = local_path(&place.settings, &name, folder)?;
        // A workspace in files is there before it has a state.
        if path.exists() {
            states.push(StateLocation::in_directory(path, place.directory.clone())?);
        }
    }
    Ok(states)
}
