//! From an argument to the file or the backend that it names.

use std::path::Path;

use groundstate_backends::{BackendsError, PlaceUrl, Purpose, local_path};

use crate::input::environment::Environment;
use crate::input::remote::{Located, Remote};
use crate::input::stack;
use crate::input::workdir;
use crate::report::error::Result;

/// The argument that stands for standard input.
const STDIN: &str = "-";

/// Whether an argument stands for standard input.
pub(crate) fn is_standard(argument: &Path) -> bool {
    argument == Path::new(STDIN)
}

/// Finds out where an argument leads, which nothing but the working directory is read for.
pub(crate) fn locate(argument: &Path, must_exist: bool, purpose: Purpose) -> Result<Located> {
    let environment = Environment::of_process();
    if is_place(argument) {
        return of_place(argument, &environment, must_exist, purpose);
    }
    if let Some(workspace) = environment.chosen().filter(|workspace| !workspace.is_default()) {
        let (place, workspace) = (argument.display().to_string(), workspace.to_string());
        return Err(BackendsError::NoWorkspaces { place, workspace }.into());
    }
    Ok(Located::File(argument.to_owned(), None))
}

/// The same for an argument beside the place that the command is about: `--workspace` does not mean it.
pub(crate) fn locate_beside(argument: &Path) -> Result<Located> {
    if is_place(argument) {
        let environment = Environment::of_process().without_workspace();
        return of_place(argument, &environment, true, Purpose::Read);
    }
    Ok(Located::File(argument.to_owned(), None))
}

/// Whether an argument names a directory or a backend, and not a file.
pub(crate) fn is_place(argument: &Path) -> bool {
    argument.to_str().is_some_and(PlaceUrl::is_url) || argument.is_dir()
}

fn of_place(
    argument: &Path,
    environment: &Environment,
    must_exist: bool,
    purpose: Purpose,
) -> Result<Located> {
    if let Some(address) = stack::address(argument) {
        return Ok(Located::Remote(Box::new(stack::of_address(address, environment)?)));
    }
    let Some(url) = argument.to_str().filter(|text| PlaceUrl::is_url(text)) else {
        if stack::is_project(argument, environment)? {
            return Ok(Located::Remote(Box::new(stack::of_directory(argument, environment)?)));
        }
        return workdir::locate(argument, environment, must_exist, purpose);
    };
    let registry = Environment::registry();
    let place = registry.place(url, environment.chosen(), &environment.context(purpose))?;
    if place.settings.kind() == "local" {
        let path = local_path(&place.settings, &place.workspace, Path::new(""))?;
        return Ok(Located::File(path, None));
    }
    Ok(Located::Remote(Box::new(Remote::new(place, url)?)))
}
