//! `groundstate undo --list`: the backups of a state.

use crate::input::location::StateLocation;
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::report::text::{columns, size};
use crate::session::generations::{Generation, Generations, candidate};

/// Lists the backups, newest first, and marks the one that `undo` restores.
pub(super) fn list(found: &StateLocation, as_json: bool) -> Result {
    let all = Generations::of(found).list()?;
    let next = candidate(&all).map(|next| next.number);
    let mut out = Output::stdout();
    if as_json {
        out.json(&Json::document(|json| {
            json.text("state", found.name());
            json.objects("backups", &all, |json, backup| describe(json, backup, next));
        }))?;
    } else {
        if all.is_empty() {
            out.line(&format!("{} has no backups", found.name()))?;
        }
        let rows: Vec<[String; 5]> = all.iter().map(|backup| row(backup, next)).collect();
        columns(&rows).iter().try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn row(backup: &Generation, next: Option<u64>) -> [String; 5] {
    let what = match backup.restored {
        Some(restored) => format!("before {} of {restored}", backup.operation),
        None => format!("before {}", backup.operation),
    };
    let remark = if Some(backup.number) == next { "restored next" } else { "" };
    [backup.number.to_string(), backup.time.to_string(), what, size(backup.bytes), remark.to_owned()]
}

fn describe(json: &mut Json, backup: &Generation, next: Option<u64>) {
    json.raw("number", backup.number);
    json.text("time", &backup.time.to_string());
    json.text("operation", &backup.operation);
    if let Some(restored) = backup.restored {
        json.raw("restored", restored);
    }
    json.raw("bytes", backup.bytes);
    json.text("path", &backup.path.display().to_string());
    if Some(backup.number) == next {
        json.raw("next", true);
    }
}
