//! What a change did or would do, as lines and as JSON.

use groundstate_state_edit::Diff;
use groundstate_state_edit::{Change, ProviderTaken, Summary};
use groundstate_states::Generation;
use groundstate_states::addr::AbsResourceInstance;

use crate::report::differences;
use crate::report::error::Result;
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::keeper::KeptBackup;
use crate::terraform::diff::differences as compared;

pub(super) struct Report<'r> {
    pub(super) state: &'r str,
    pub(super) dry_run: bool,
    pub(super) written: bool,
    /// Where the state before the change is.
    pub(super) backup: Option<KeptBackup>,
    pub(super) summary: &'r Summary,
    pub(super) warnings: &'r [String],
    /// The last line when something was done.
    pub(super) success: String,
    pub(super) diff: Option<&'r Diff>,
    /// The state that gets what this one gives.
    pub(super) other: Option<Other<'r>>,
}

/// What a move between two states did to the one that got it.
pub(super) struct Other<'r> {
    pub(super) state: &'r str,
    pub(super) written: bool,
    pub(super) backup: Option<KeptBackup>,
    /// Objects that do not depend any more on what stayed behind.
    pub(super) dependents: &'r [Dependent],
    /// Instances that have the provider configuration of a resource that was there.
    pub(super) providers: &'r [ProviderTaken],
    pub(super) diff: Option<&'r Diff>,
}

type Dependent = (AbsResourceInstance, Generation);

impl Report<'_> {
    pub(super) fn print(&self, as_json: bool) -> Result<()> {
        let mut messages = Messages::stderr();
        for target in &self.summary.missing {
            messages.warning(&format!("{target} matches nothing in {}", self.state));
        }
        self.warnings.iter().for_each(|warning| messages.warning(warning));
        drop(messages);
        let mut out = Output::stdout();
        if as_json {
            out.json(&self.json())?
        } else {
            self.text(&mut out)?
        }
        Ok(out.finish()?)
    }

    /// Instances that have another provider configuration now, in either state.
    fn providers(&self) -> impl Iterator<Item = &ProviderTaken> {
        self.summary.providers.iter().chain(self.other.iter().flat_map(|other| other.providers))
    }

    fn text(&self, out: &mut Output) -> Result<()> {
        for change in &self.summary.changes {
            out.line(&if self.dry_run { would(change) } else { change.to_string() })?;
        }
        for taken in self.providers() {
            out.line(&format!("{}{taken}", if self.dry_run { "Would change " } else { "Changed " }))?;
        }
        let dependents = self.summary.dependents.len();
        let verb = if self.dry_run { "would change" } else { "changed" };
        if dependents > 0 {
            let objects = count(dependents, "object");
            out.line(&format!("Recorded dependencies of {objects} {verb} with it."))?;
        }
        if let Some(other) = self.other.as_ref().filter(|other| !other.dependents.is_empty()) {
            let objects = count(other.dependents.len(), "object");
            out.line(&format!("Recorded dependencies of {objects} that move {verb}: what they name stays."))?;
        }
        match self.diff.filter(|_| self.dry_run) {
            Some(diff) => {
                out.line("")?;
                if let Some(other) = &self.other {
                    out.line(&format!("{}:", other.state))?;
                    other.diff.map_or(Ok(()), |diff| differences::text(&compared(diff, false), out))?;
                    out.line("")?;
                    out.line(&format!("{}:", self.state))?;
                }
                differences::text(&compared(diff, false), out)?;
            }
            None if self.written => out.line(&self.success)?,
            None => out.line("Nothing to change.")?,
        }
        if let Some(backup) = &self.backup {
            out.line(&format!("The state before is {backup}."))?;
        }
        if let Some(Other { state, backup: Some(backup), .. }) = &self.other {
            out.line(&format!("What {state} was before is {backup}."))?;
        }
        Ok(())
    }

    fn json(&self) -> String {
        Json::document(|json| {
            json.text("state", self.state);
            json.raw("dry_run", self.dry_run);
            json.raw("written", self.written);
            if let Some(backup) = &self.backup {
                json.text("backup", &backup.path());
            }
            let changes = self.summary.changes.iter().map(Done::Change);
            let done: Vec<Done<'_>> = changes.chain(self.providers().map(Done::Provider)).collect();
            json.objects("changes", &done, |json, done| match done {
                Done::Change(done) => change(json, done),
                Done::Provider(taken) => provider(json, taken),
            });
            json.objects("dependents", &self.summary.dependents, dependent);
            json.texts("missing", self.summary.missing.iter().map(ToString::to_string));
            if let Some(diff) = self.diff {
                json.inner("diff", |json| differences::members(json, &compared(diff, false)));
            }
            if let Some(other) = &self.other {
                json.inner("to", |json| other.members(json));
            }
        })
    }
}

/// A change as JSON shows it.
enum Done<'r> {
    Change(&'r Change),
    Provider(&'r ProviderTaken),
}

fn provider(json: &mut Json, taken: &ProviderTaken) {
    json.text("change", "take_provider");
    json.text("address", &taken.instance.to_string());
    json.text("from", &taken.from.to_string());
    json.text("to", &taken.to.to_string());
}

impl Other<'_> {
    fn members(&self, json: &mut Json) {
        json.text("state", self.state);
        json.raw("written", self.written);
        if let Some(backup) = &self.backup {
            json.text("backup", &backup.path());
        }
        json.objects("dependents", self.dependents, dependent);
        if let Some(diff) = self.diff {
            json.inner("diff", |json| differences::members(json, &compared(diff, false)));
        }
    }
}

fn dependent(json: &mut Json, (address, generation): &Dependent) {
    json.text("address", &address.to_string());
    if let Generation::Deposed(key) = generation {
        json.text("deposed_key", key.as_str());
    }
}

/// The line of a change that is not made.
fn would(change: &Change) -> String {
    match change {
        Change::Tainted(instance) => format!("Would mark {instance} as tainted"),
        Change::Untainted(instance) => format!("Would untaint {instance}"),
        other => {
            let line = other.to_string();
            match line.split_once(' ') {
                Some(("Move", rest)) => format!("Would move {rest}"),
                Some(("Removed", rest)) => format!("Would remove {rest}"),
                Some(("Replaced", rest)) => format!("Would replace {rest}"),
                _ => line,
            }
        }
    }
}

fn change(json: &mut Json, change: &Change) {
    let (verb, address) = match change {
        Change::Moved { from, .. } => ("move", from.to_string()),
        Change::Removed(instance) => ("remove", instance.to_string()),
        Change::RemovedEmptyResource(resource) => ("remove", resource.to_string()),
        Change::RemovedDeposed(instance, _) => ("remove", instance.to_string()),
        Change::IdentityRemoved(instance) => ("remove_identity", instance.to_string()),
        Change::ProviderReplaced { resource, .. } => ("replace_provider", resource.to_string()),
        Change::DependencyRemoved { instance, .. } => ("remove_dependency", instance.to_string()),
        Change::Tainted(instance) => ("taint", instance.to_string()),
        Change::Untainted(instance) => ("untaint", instance.to_string()),
        _ => ("other", String::new()),
    };
    json.text("change", verb);
    json.text("address", &address);
    match change {
        Change::Moved { to, .. } => json.text("to", &to.to_string()),
        Change::RemovedDeposed(_, key) => json.text("deposed_key", key.as_str()),
        Change::DependencyRemoved { dependency, .. } => json.text("dependency", &dependency.to_string()),
        Change::ProviderReplaced { from, to, .. } => {
            json.text("from", &from.to_string());
            json.text("to", &to.to_string());
        }
        _ => {}
    }
}
