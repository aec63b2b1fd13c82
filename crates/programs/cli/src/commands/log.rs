//! `groundstate log`: what this command has done to states on this machine.

use std::collections::BTreeMap;

use crate::args::LogArgs;
use crate::input::location::StateLocation;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::session::generations::{Generations, state_home};
use crate::session::operations::{Entry, entries};

/// One run of the command, with the states that it changed.
struct Operation<'e> {
    states: Vec<&'e Entry>,
}

pub(super) fn run(args: &LogArgs) -> Result {
    if state_home().is_none() {
        return Err(Failure::new(Kind::NoState, "no log is kept, since the environment names no home")
            .hint("set HOME, or GROUNDSTATE_STATE_DIR to a directory for log and backups"));
    }
    let place = match &args.state {
        Some(state) => Some(Generations::of(&StateLocation::at(state)?).place),
        None => None,
    };
    let entries = entries()?;
    let mut operations: Vec<Operation<'_>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &entries {
        match known.get(&*entry.id) {
            Some(at) => operations.get_mut(*at).into_iter().for_each(|found| found.states.push(entry)),
            None => {
                known.insert(&entry.id, operations.len());
                operations.push(Operation { states: vec![entry] });
            }
        }
    }
    if let Some(place) = &place {
        operations.retain(|operation| operation.states.iter().any(|entry| entry.place == *place));
    }
    operations.truncate(args.limit.unwrap_or(usize::MAX));
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| json.objects("operations", &operations, describe)))?;
    } else {
        if operations.is_empty() {
            out.line("No operation is in the log.")?;
        }
        for operation in &operations {
            lines(operation).iter().try_for_each(|line| out.line(line))?;
        }
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn lines(Operation { states }: &Operation<'_>) -> Vec<String> {
    let Some(first) = states.last() else { return Vec::new() };
    let mut lines = vec![format!("{}  {}  {}  {}", first.id, first.time, first.operation, first.who)];
    lines.extend(states.iter().rev().map(|entry| {
        let backup = match (entry.backup, &entry.file) {
            (Some(number), _) => format!(", backup {number}"),
            (None, Some(file)) => format!(", the state before is in {file}"),
            (None, None) if entry.created => ", which it made".to_owned(),
            (None, None) => String::new(),
        };
        let restored = entry.restored.as_ref().map(|id| format!(", restored {id}")).unwrap_or_default();
        format!("  {}{backup}{restored}", entry.place)
    }));
    lines
}

fn describe(json: &mut Json, Operation { states }: &Operation<'_>) {
    let Some(first) = states.last() else { return };
    json.text("id", &first.id);
    json.text("time", &first.time);
    json.text("who", &first.who);
    json.text("operation", &first.operation);
    json.objects("states", states.iter().rev(), |json, entry| {
        json.text("state", &entry.place);
        json.text("argument", &entry.argument);
        json.raw("created", entry.created);
        if let Some(backup) = entry.backup {
            json.raw("backup", backup);
        }
        if let Some(file) = &entry.file {
            json.text("file", file);
        }
        if let Some(restored) = &entry.restored {
            json.text("restored", restored);
        }
    });
}
