//! `groundstate undo`: the content of the last backup, under a serial higher than all before it.

use std::fs;
use std::path::Path;

use groundstate_statefile::File;

use super::replace::{Replacement, replace};
use crate::args::UndoArgs;
use crate::error::{Failure, Kind, Result};
use crate::load::load;
use crate::site::Found;
use crate::source::Source;

pub(super) fn run(args: &UndoArgs) -> Result {
    let found = Found::at(&args.place.state)?;
    let path = args.from.clone().unwrap_or_else(|| found.with_suffix(".backup"));
    if !path.exists() {
        return Err(missing(&path, &found.with_suffix("")));
    }
    let source = Source::find(&path)?;
    let backup = load(&source)?.file;
    let how = Replacement {
        args: &args.change,
        operation: "state-undo",
        // Not the backup itself: it stays what it is until the state is safely stored, and after.
        backup_suffix: ".undone",
        force: args.force,
        checked: false,
    };
    replace(found, &how, |stored| newer(backup, stored, args, &source.name))
}

/// The backup as the successor of what is stored.
fn newer(mut backup: File, stored: Option<&File>, args: &UndoArgs, name: &str) -> Result<File> {
    let Some(stored) = stored else {
        // What was there before has had a higher serial than its backup.
        backup.serial = backup.serial.next().unwrap_or(backup.serial);
        return Ok(backup);
    };
    if !args.force && stored.lineage != backup.lineage {
        let message = format!("{name} is no backup of this state: their lineages differ");
        return Err(Failure::new(Kind::Conflict, message)
            .hint("name the right one with `--from`; `--force` goes back to this one all the same"));
    }
    backup.serial = backup.serial.max(stored.serial);
    Ok(backup)
}

fn missing(path: &Path, state: &Path) -> Failure {
    let failure =
        Failure::new(Kind::NoState, format!("there is no backup: {} does not exist", path.display()));
    match others(state) {
        names if names.is_empty() => failure.hint("name a backup with `--from FILE`"),
        names => failure.hint(format!("name one of these with `--from`: {}", names.join(", "))),
    }
}

/// Files beside the state that look like backups of it, the last few.
fn others(state: &Path) -> Vec<String> {
    let folder = state.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = state.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let is_backup = |other: &String| {
        other.strip_prefix(name).is_some_and(|rest| rest.ends_with(".backup") || rest == ".undone")
    };
    let mut found: Vec<String> = names.filter(is_backup).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(5);
    found.iter().map(|name| state.with_file_name(name).display().to_string()).collect()
}
