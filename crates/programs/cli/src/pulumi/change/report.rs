//! What a change did or would do, as lines and as JSON.

use super::done::{Change, Changed};
use crate::report::differences::{self, Difference};
use crate::report::error::Result;
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::keeper::KeptBackup;

pub(super) struct Report<'r> {
    pub(super) state: &'r str,
    pub(super) dry_run: bool,
    /// Where the state before the change is.
    pub(super) backup: Option<KeptBackup>,
    pub(super) changed: &'r Changed,
    /// The stack that gets what this one gives.
    pub(super) other: Option<Other<'r>>,
}

/// What a move between two stacks did to the one that got it.
pub(super) struct Other<'r> {
    pub(super) state: &'r str,
    pub(super) written: bool,
    pub(super) backup: Option<KeptBackup>,
    pub(super) diff: &'r [Difference],
}

impl Report<'_> {
    pub(super) fn print(&self, as_json: bool) -> Result<()> {
        let done = &self.changed.done;
        let mut messages = Messages::stderr();
        done.warnings.iter().for_each(|warning| messages.warning(warning));
        drop(messages);
        let mut out = Output::stdout();
        if as_json {
            out.json(&self.json())?;
            return Ok(out.finish()?);
        }
        for change in &done.changes {
            out.line(&if self.dry_run { change.would() } else { change.done() })?;
        }
        match (self.dry_run, self.changed.written) {
            (true, _) => {
                out.line("")?;
                differences::text(&self.changed.diff, &mut out)?;
                if let Some(other) = &self.other {
                    out.line(&format!("{}:", other.state))?;
                    differences::text(other.diff, &mut out)?;
                }
            }
            (false, true) => out.line(&done.success)?,
            (false, false) => out.line("Nothing to change.")?,
        }
        if let Some(backup) = &self.backup {
            out.line(&format!("The state before is {backup}."))?;
        }
        if let Some(Other { state, backup: Some(backup), .. }) = &self.other {
            out.line(&format!("What {state} was before is {backup}."))?;
        }
        Ok(out.finish()?)
    }

    fn json(&self) -> String {
        Json::document(|json| {
            json.text("state", self.state);
            json.raw("dry_run", self.dry_run);
            json.raw("written", self.changed.written);
            if let Some(backup) = &self.backup {
                json.text("backup", &backup.path());
            }
            json.objects("changes", &self.changed.done.changes, change);
            json.inner("diff", |json| differences::members(json, &self.changed.diff));
            if let Some(other) = &self.other {
                json.inner("to", |json| other.members(json));
            }
        })
    }
}

impl Other<'_> {
    fn members(&self, json: &mut Json) {
        json.text("state", self.state);
        json.raw("written", self.written);
        if let Some(backup) = &self.backup {
            json.text("backup", &backup.path());
        }
        json.inner("diff", |json| differences::members(json, self.diff));
    }
}

fn change(json: &mut Json, change: &Change) {
    json.text("change", change.verb());
    if !change.urn().is_empty() {
        json.text("urn", change.urn());
    }
    for (name, value) in change.members() {
        json.text(name, &value);
    }
}
