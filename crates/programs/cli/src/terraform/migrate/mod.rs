//! `groundstate migrate`: states to another place, with lineage and serial.

mod decide;
mod preview;
mod receipt;

use std::path::Path;

use bytes::Bytes;
use groundstate_backends::{Location, Purpose, local_path};
use groundstate_statemgr::{
    Backend, ErrorKind, Expect, LockInfo, Manager, StateStore, Stored, Version, WorkspaceName, WriteOptions,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::MigrateArgs;
use crate::input::backend::{backend, destination, refused};
use crate::input::family::is_packed;
use crate::input::head::Head;
use crate::input::packed;
use crate::input::runtime::runtime;
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{holding, lock_info};
use crate::session::managed_state::ManagedState;
use crate::session::recovery::warn_of_journal;
use crate::session::state_error::StateError;
use decide::{Decision, decide};
use preview::Preview;
use receipt::{Entry, Receipt};

/// A state, where it is and where it is to go.
struct Move {
    workspace: WorkspaceName,
    from: ManagedState,
    to: ManagedState,
}

/// What became of a state.
enum Became {
    Copied(Entry),
    Present(Entry),
    /// It was sent, and nothing tells whether it is stored.
    Unknown(Entry, Failure),
    /// There is none.
    Nothing,
    /// It would be copied, or why not.
    Would(Preview),
}

pub(crate) fn run(args: &MigrateArgs) -> Result {
    let (from, to) = (backend(&args.from, Purpose::Read)?, destination(&args.to)?);
    let moves = moves(args, &from, &to)?;
    let interrupts = Interrupts::listen()?;
    let mut receipt = match args.dry_run {
        true => None,
        false => {
            let first = moves.first();
            let from = name(&from, first.map(|each| &each.from));
            let to = name(&to, first.map(|each| &each.to));
            Some(Receipt::open(&args.receipt, &from, &to)?)
        }
    };
    warn_of_places_without_locks(args, &moves);
    let done = migrate_all(args, &moves, &interrupts, receipt.as_mut())?;
    report(args, &from, &done, receipt)
}

/// A place as its receipt names it: a file by its own name, since the folder has others.
fn name(place: &Location, opened: Option<&ManagedState>) -> String {
    match opened {
        Some(opened) if is_file(place) => opened.name.clone(),
        _ => place.opened.backend.to_string(),
    }
}

fn is_file(place: &Location) -> bool {
    place.is_named && place.directory.is_none()
}

/// What is to be migrated, in the order of the names.
fn moves(args: &MigrateArgs, from: &Location, to: &Location) -> Result<Vec<Move>> {
    let to_file = is_file(to);
    if args.all_workspaces && (to_file || is_file(from)) {
        let message = "one state has no workspaces, so `--all-workspaces` needs two directories or backends";
        return Err(Failure::new(Kind::Usage, message));
    }
    let names = match args.all_workspaces {
        true => runtime()?.block_on(from.opened.backend.list()).map_err(|error| refused(&error))?,
        false => vec![from.workspace.clone()],
    };
    let each = |workspace: WorkspaceName| {
        let at = if to_file { to.workspace.clone() } else { workspace.clone() };
        let found = Move {
            from: ManagedState::of_workspace(from, &workspace, &args.from, !args.lock.no_lock)?,
            to: ManagedState::of_workspace(to, &at, &args.to, !args.lock.no_lock)?,
            workspace,
        };
        if found.from.name == found.to.name {
            let message = format!("{} is where the state is already", found.to.name);
            return Err(Failure::new(Kind::Usage, message));
        }
        Ok(found)
    };
    names.into_iter().map(each).collect()
}

fn warn_of_places_without_locks(args: &MigrateArgs, moves: &[Move]) {
    let Some(first) = moves.first().filter(|_| !args.dry_run && !args.lock.no_lock) else { return };
    for opened in [&first.from, &first.to] {
        if !opened.manager.store().capabilities().locking {
            Messages::stderr().warning(&format!(
                "{} cannot be locked: let no other process write there meanwhile",
                opened.name
            ));
        }
    }
}

fn migrate_all<'m>(
    args: &MigrateArgs,
    moves: &'m [Move],
    interrupts: &Interrupts,
    mut receipt: Option<&mut Receipt>,
) -> Result<Vec<(&'m Move, Became)>> {
    let bar = bar(moves.len());
    let mut done = Vec::new();
    for each in moves {
        bar.set_message(each.workspace.to_string());
        let became = runtime()?.block_on(migrate(args, each, interrupts));
        let became = became.map_err(|failure| {
            bar.finish_and_clear();
            stopped(failure, done.len(), moves.len())
        })?;
        let entry = match &became {
            Became::Copied(entry) | Became::Present(entry) | Became::Unknown(entry, _) => Some(entry.clone()),
            Became::Nothing | Became::Would(_) => None,
        };
        if let (Some(entry), Some(receipt)) = (entry, receipt.as_deref_mut()) {
            receipt.add(entry)?;
        }
        if let Became::Unknown(_, failure) = became {
            bar.finish_and_clear();
            return Err(stopped(failure, done.len(), moves.len()));
        }
        done.push((each, became));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(receipt) = receipt {
        receipt.finish()?;
    }
    Ok(done)
}

/// Why a migration ended early, after so many states of all.
fn stopped(mut failure: Failure, done: usize, all: usize) -> Failure {
    if done == 0 {
        return failure;
    }
    if matches!(failure.kind, Kind::Signal(_)) {
        failure.message = format!("interrupted after {done} of {all} states");
    }
    failure.hint("the states before it are copied; the same command goes on from here")
}

/// A bar on a terminal, if there is more than one thing to wait for.
fn bar(count: usize) -> ProgressBar {
    let target = if count > 1 { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(count as u64), target);
    match ProgressStyle::with_template("migrating {wide_bar} {pos} of {len} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Migrates a state under both locks; a preview takes none.
async fn migrate(args: &MigrateArgs, each: &Move, interrupts: &Interrupts) -> Result<Became> {
    let Move { from, to, .. } = each;
    if args.dry_run {
        return preview(args, each).await.map_err(|error| error.explain(from));
    }
    let [ours, theirs] =
        [lock_document(from, "migration source state")?, lock_document(to, "migration destination state")?];
    let both = holding(from, &args.lock, ours, interrupts, async || {
        let copied =
            holding(to, &args.lock, theirs, interrupts, async || copy(args, each, interrupts).await).await;
        // What the destination says is explained as the destination's.
        copied.map_err(|error| StateError::Own(error.explain(to)))
    });
    both.await.map_err(|error| {
        let failure = error.explain(from);
        let was_interrupted = [from, to]
            .iter()
            .any(|opened| opened.backup_store.as_ref().is_some_and(|store| store.was_interrupted()));
        if was_interrupted { interrupts.check().err().unwrap_or(failure) } else { failure }
    })
}

fn lock_document(opened: &ManagedState, operation: &str) -> Result<LockInfo> {
    lock_info(opened, operation)
}

async fn preview(args: &MigrateArgs, each: &Move) -> Result<Became, StateError> {
    for opened in [&each.from, &each.to] {
        warn_of_journal(opened).await;
    }
    let Some(source) = read(&each.from.manager).await? else { return Ok(Became::Nothing) };
    let stored = read(&each.to.manager).await?;
    let serial = |bytes: &[u8]| Head::read(bytes).unwrap_or_default().serial;
    Ok(Became::Would(match decision(&source, stored.as_ref(), args.force) {
        Decision::Present => Preview::Present { serial: serial(&source.text) },
        Decision::Copy(copy) => Preview::Copy {
            serial: serial(&copy),
            bytes: copy.len(),
            over: stored.as_ref().map(|old| serial(&old.text)),
        },
        Decision::Refuse(why) => Preview::Refuse { why },
    }))
}

async fn copy(args: &MigrateArgs, each: &Move, interrupts: &Interrupts) -> Result<Became, StateError> {
    let Move { workspace, from, to } = each;
    let Some(source) = read(&from.manager).await.map_err(|error| error.explain(from))? else {
        return Ok(Became::Nothing);
    };
    let stored = read(&to.manager).await?;
    let entry =
        |outcome: &str, bytes: &[u8]| Entry::new(workspace.as_str(), [&from.name, &to.name], outcome, bytes);
    let copy = match decision(&source, stored.as_ref(), args.force) {
        Decision::Present => {
            let present = stored.as_ref().unwrap_or(&source);
            return Ok(Became::Present(entry("present", &present.text)));
        }
        Decision::Copy(copy) => Bytes::from(copy.into_owned()),
        Decision::Refuse(why) => {
            return Err(Failure::new(
                Kind::Conflict,
                format!("{workspace} is not copied to {}: {why}", to.name),
            )
            .hint("compare them with `groundstate diff`; `--force` copies it nevertheless")
            .into());
        }
    };
    interrupts.check()?;
    let written =
        write(&to.manager, copy.clone(), stored.as_ref().map(|stored| stored.version.clone())).await;
    let doubt = match written {
        Ok(()) => None,
        Err(error) if error.kind() == ErrorKind::Ambiguous => Some(error),
        Err(error) => return Err(error.into()),
    };
    let arrived = match (read(&to.manager).await, doubt) {
        (Ok(arrived), None) => arrived.map(|content| content.text),
        (Ok(Some(content)), Some(_)) if content.text == *copy => Some(content.text),
        (Ok(_), Some(error)) => {
            return Ok(Became::Unknown(entry("unknown", &copy), in_doubt(to, &chain(&error))));
        }
        (Err(error), _) => {
            let why = error.explain(to).message;
            return Ok(Became::Unknown(entry("unknown", &copy), in_doubt(to, &why)));
        }
    };
    if arrived.as_deref() != Some(&*copy) {
        let message = format!(
            "{} does not hold what was written: another program wrote there, or it is damaged",
            to.name
        );
        return Err(Failure::new(Kind::Conflict, message)
            .hint("look at it, and run the command once more")
            .into());
    }
    Ok(Became::Copied(entry("copied", &copy)))
}

/// The state was sent, and what is stored cannot be read back.
fn in_doubt(to: &ManagedState, why: &str) -> Failure {
    let message =
        format!("the state was sent to {}, and it is not known whether it is stored: {why}", to.name);
    Failure::new(Kind::Unreachable, message).hint(
        "run the same command once more: it finds a state that has arrived, and copies one that has not",
    )
}

/// What a place has stored.
struct Content {
    /// The state, without the compression that it may be stored with.
    text: Vec<u8>,
    version: Version,
    is_packed: bool,
}

async fn read(manager: &Manager) -> Result<Option<Content>, StateError> {
    Ok(manager.store().read().await?.map(|Stored { bytes, version, .. }| {
        // Damaged compression stays as it is: no rule takes it for a state.
        let unpacked = is_packed(&bytes).then(|| packed::unpack(&bytes).ok()).flatten();
        let is_packed = unpacked.is_some();
        Content { text: unpacked.unwrap_or(bytes), version, is_packed }
    }))
}

/// Decides about a state. A state that is there, but compressed, is written once more: Terraform cannot read it so.
fn decision<'s>(source: &'s Content, stored: Option<&'s Content>, force: bool) -> Decision<'s> {
    match (decide(&source.text, stored.map(|stored| &*stored.text), force), stored) {
        (Decision::Present, Some(stored)) if stored.is_packed => Decision::Copy((&*stored.text).into()),
        (decision, _) => decision,
    }
}

/// Stores bytes in place of those that were looked at, as far as the place can tell.
async fn write(
    manager: &Manager,
    bytes: Bytes,
    version: Option<Version>,
) -> groundstate_statemgr::Result<()> {
    let store = manager.store();
    let expect = match version {
        _ if !store.capabilities().conditional_write => Expect::Any,
        Some(version) => Expect::Version(version),
        None => Expect::Absent,
    };
    store.write(bytes, &WriteOptions::expecting(expect)).await?;
    Ok(())
}

fn line(workspace: &WorkspaceName, became: &Became) -> String {
    match became {
        Became::Copied(Entry { serial, bytes, .. }) => {
            format!("{workspace}: copied, serial {serial}, {bytes} bytes")
        }
        Became::Present(Entry { serial, .. }) => format!("{workspace}: is there already, serial {serial}"),
        Became::Unknown(..) => format!("{workspace}: was sent, and it is not known whether it is stored"),
        Became::Nothing => format!("{workspace}: no state is stored"),
        Became::Would(preview) => format!("{workspace}: {}", preview.line()),
    }
}

/// What a preview says to programs.
fn previewed(done: &[(&Move, Became)]) -> String {
    Json::document(|json| {
        json.raw("dry_run", true);
        json.objects("states", done, |json, (each, became)| {
            json.text("workspace", each.workspace.as_str());
            json.text("source", &each.from.name);
            json.text("destination", &each.to.name);
            match became {
                Became::Would(preview) => preview.members(json),
                _ => json.text("outcome", "no_state"),
            }
        });
    })
}

fn report(args: &MigrateArgs, from: &Location, done: &[(&Move, Became)], receipt: Option<Receipt>) -> Result {
    let mut out = Output::stdout();
    match &receipt {
        Some(receipt) if args.json => out.json(&receipt.json())?,
        None if args.json => out.json(&previewed(done))?,
        _ => done.iter().try_for_each(|(each, became)| out.line(&line(&each.workspace, became)))?,
    }
    out.finish()?;
    if receipt.is_some() {
        let mut messages = Messages::stderr();
        messages.note(&format!("the receipt is in {}", shown(&args.receipt)));
        messages.note(&advice(from)?);
    }
    Ok(Outcome::Clean)
}

/// What makes Terraform use the new place.
fn advice(from: &Location) -> Result<String> {
    const CHANGE: &str = "change the backend of the configuration and run `terraform init -reconfigure`";
    let names = || runtime()?.block_on(from.opened.backend.list()).map_err(|error| refused(&error));
    match &from.directory {
        // Terraform asks what to do with each workspace that it finds in files, and fails where it must not ask.
        Some(directory) if from.settings.kind() == "local" && names()?.len() > 1 => {
            let state = local_path(&from.settings, &WorkspaceName::default_name(), directory)?;
            let folder = from.settings.text("workspace_dir")?.unwrap_or("terraform.tfstate.d");
            Ok(format!(
                "move {} and {} away, {CHANGE}; as long as they are there, Terraform asks about them, and fails with `-input=false`",
                state.display(),
                directory.join(folder).display()
            ))
        }
        _ => Ok(format!("{CHANGE}; the old place is as it was")),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
