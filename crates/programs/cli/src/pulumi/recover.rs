//! `groundstate recover` of a stack: saves what the journal of a killed update has and the checkpoint lacks.

use std::path::Path;
use std::sync::Arc;

use groundstate_pulumi_deployment::RawDeployment;
use groundstate_pulumi_diy::{ErrorKind, JournalOptions};

use crate::args::{LockArgs, RecoverArgs};
use crate::input::location::StateLocation;
#[cfg(feature = "http")]
use crate::input::{remote::Remote, stack::for_buckets};
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::backup::logged;
use crate::session::save::write_document;
use crate::session::stack::{LockedStack, ManagedStack};
use crate::session::who::who;

pub(crate) fn recover(args: &RecoverArgs, found: StateLocation) -> Result {
    #[cfg(feature = "http")]
    if let Some(service) = found.remote().and_then(Remote::service) {
        let instead = "a service turns the journal into a state when the update ends; `groundstate unlock --force` ends an update whose process is gone";
        return Err(for_buckets(service, "recover", instead));
    }
    let logged = logged(&found, "recover");
    let managed = ManagedStack::open(found, "recover", true)?;
    if let Some(file) = &args.export {
        return export(&managed, file);
    }
    let has_journal = managed.unlocked(async |stack| {
        managed.existing(stack).await?;
        stack.has_journal().await.map_err(|error| managed.failure(&error))
    })?;
    let name = managed.name();
    let lock = LockArgs { wait: args.wait.clone(), no_lock: false };
    let (outcome, entries) = match (has_journal, args.discard) {
        (false, _) => ("nothing", None),
        (true, true) => {
            let work = async |locked: &LockedStack<'_>| discard(&managed, locked).await;
            ("discarded", Some(managed.locked(&lock, "discard a journal", work)?))
        }
        (true, false) => {
            let entries = managed.locked(&lock, "recover", async |locked| save(&managed, locked).await)?;
            if entries.is_some() {
                logged.entry().record();
            }
            (if entries.is_some() { "recovered" } else { "nothing" }, entries)
        }
    };
    let changes = entries.unwrap_or_default();
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("state", name);
            json.text("outcome", outcome);
            json.raw("changes", changes);
        }))?;
    } else {
        let entries = count(changes, "entry");
        out.line(&match outcome {
            "nothing" => format!("There is nothing to recover of {name}."),
            "discarded" => format!("Discarded the journal of {name} with {entries}."),
            _ => format!("{name} is up to date: its journal had {entries}."),
        })?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn options() -> JournalOptions {
    let version = env!("CARGO_PKG_VERSION");
    JournalOptions::new(who(), format!("v{version}"), format!("groundstate {version} recover"))
}

/// Saves what the journal has. Gives the number of its entries; nothing if there is no journal.
async fn save(managed: &ManagedStack, locked: &LockedStack<'_>) -> Result<Option<usize>> {
    let recovered = locked.stack.recover(Arc::clone(&locked.guard), &options()).await;
    let recovered = recovered.map_err(|error| match error.kind() {
        ErrorKind::Changed | ErrorKind::Corrupt => Failure::new(Kind::Conflict, chain(&error))
            .hint(format!(
                "`{} --export FILE` writes the deployment that the journal leads to",
                managed.command("recover")
            ))
            .hint(format!("`{}` removes the journal", managed.command("recover --discard"))),
        _ => managed.failure(&error),
    })?;
    Ok(recovered.map(|recovered| recovered.entries))
}

/// Removes the journal. Gives the number of its entries; 0 if it cannot be read.
async fn discard(managed: &ManagedStack, locked: &LockedStack<'_>) -> Result<usize> {
    let journaled = locked.stack.journaled(&options()).await.ok().flatten();
    locked.interrupts.check()?;
    let discarded = locked.stack.discard_journal(&*locked.guard, &options()).await;
    discarded.map_err(|error| managed.failure(&error))?;
    Ok(journaled.map(|journaled| journaled.entries).unwrap_or_default())
}

fn export(managed: &ManagedStack, file: &Path) -> Result {
    let journaled = managed
        .unlocked(async |stack| stack.journaled(&options()).await.map_err(|error| managed.failure(&error)))?;
    let Some(journaled) = journaled else {
        return Err(Failure::new(Kind::NotFound, format!("there is no journal of {}", managed.name())));
    };
    let raw = RawDeployment::read(&journaled.document)
        .map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
    write_document(&raw.to_deployment(), Some(file))?;
    Ok(Outcome::Clean)
}
