//! What a change did or would do, as lines and as JSON.

use std::path::PathBuf;

use super::done::{Change, Changed};
use crate::report::differences;
use crate::report::error::Result;
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;

pub(super) struct Report<'r> {
    pub(super) state: &'r str,
    pub(super) dry_run: bool,
    /// Where the state before the change is.
    pub(super) backup: Option<PathBuf>,
    pub(super) changed: &'r Changed,
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
            }
            (false, true) => out.line(&done.success)?,
            (false, false) => out.line("Nothing to change.")?,
        }
        if let Some(backup) = &self.backup {
            out.line(&format!("The state before is in {}.", backup.display()))?;
        }
        Ok(out.finish()?)
    }

    fn json(&self) -> String {
        Json::document(|json| {
            json.text("state", self.state);
            json.raw("dry_run", self.dry_run);
            json.raw("written", self.changed.written);
            if let Some(backup) = &self.backup {
                json.text("backup", &backup.display().to_string());
            }
            json.objects("changes", &self.changed.done.changes, change);
            json.inner("diff", |json| differences::members(json, &self.changed.diff));
        })
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
