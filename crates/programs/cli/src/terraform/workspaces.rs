//! `groundstate workspaces`: the workspaces of a place.

use std::path::Path;

use groundstate_backends::{Location, Purpose};
use groundstate_common::{IdSource, OsIds};
use groundstate_statefile::{Dialect, WriterVersion};
use groundstate_statemgr::{Backend, CreateWorkspace, DeleteWorkspace, WorkspaceName, empty_state};
use groundstate_states::Lineage;

use crate::args::{WorkspacesCommand, WorkspacesDeleteArgs, WorkspacesListArgs, WorkspacesNewArgs};
use crate::input::backend::{backend, refused};
use crate::input::encryption;
use crate::input::head::Head;
use crate::input::runtime::runtime;
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::report::text::{did_you_mean, similar};
use crate::session::locked::{lock_document, retried, uninterrupted};
use crate::session::managed_state::journal_of;

/// The writer of a state in a place without others: any release since has read it.
const OLDEST: &str = "1.0.0";

/// How many other workspaces are looked at before a new one is made; one configuration encrypts all or none.
const MAX_READ: usize = 16;

pub(crate) fn run(command: &WorkspacesCommand) -> Result {
    match command {
        WorkspacesCommand::List(args) => list(args),
        WorkspacesCommand::New(args) => new(args),
        WorkspacesCommand::Delete(args) => delete(args),
    }
}

fn list(args: &WorkspacesListArgs) -> Result {
    let place = open(&args.place, Purpose::Read)?;
    let names = runtime()?.block_on(place.opened.backend.list()).map_err(|error| refused(&error))?;
    // An address selects nothing.
    let is_selected = |name: &WorkspaceName| place.directory.is_some() && *name == place.workspace;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("place", &place.opened.backend.to_string());
            json.objects("workspaces", &names, |json, name| {
                json.text("name", name.as_str());
                json.raw("selected", is_selected(name));
            });
        }))?;
    } else {
        for name in &names {
            out.line(&format!("{} {name}", if is_selected(name) { '*' } else { ' ' }))?;
        }
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn new(args: &WorkspacesNewArgs) -> Result {
    let place = open(&args.at.place, Purpose::Change)?;
    let encryption = encryption::of_folder(place.directory.as_deref())?;
    let writer = writer(&place, encryption.is_some())?;
    let lineage = OsIds.uuid().map_err(|error| Failure::new(Kind::Unreachable, chain(&error)))?;
    let state = empty_state(Dialect::Terraform, Lineage::new(&lineage), Some(writer))
        .map_err(|error| refused(&error))?;
    let state = match &encryption {
        Some(encryption) => encryption::encrypted(&place.opened.backend.to_string(), &state, encryption)?,
        None => state,
    };
    // What workspaces are made with is the operation that Terraform names so.
    let options = CreateWorkspace::new(lock_document("init")?, state);
    let WorkspacesNewArgs { name, .. } = args;
    uninterrupted(async |interrupts| {
        interrupts.check()?;
        Ok(place.opened.backend.create(name, &options).await?)
    })?;
    let line = format!("Made the workspace {name} in {}", place.opened.backend);
    done(&place, name, ("created", &line), args.json)
}

/// The release to name as the writer of a new state: that of another workspace, since OpenTofu takes a document without
/// one for encrypted.
fn writer(place: &Location, encrypts: bool) -> Result<WriterVersion> {
    let known = match place.settings.kind() {
        // Workspaces in files begin without a state.
        "local" => None,
        _ => runtime()?.block_on(known_writer(place, encrypts))?,
    };
    let parsed =
        WriterVersion::parse(known.as_deref().unwrap_or(OLDEST)).or_else(|_| WriterVersion::parse(OLDEST));
    parsed.map_err(|error| Failure::new(Kind::Unusable, error.to_string()))
}

/// What other workspaces say of their writers. Where they are encrypted, a state in plain text is none of their kind.
async fn known_writer(place: &Location, encrypts: bool) -> Result<Option<String>> {
    let refuse = |error| refused(&error);
    let mut known = None;
    for name in place.opened.backend.list().await.map_err(refuse)?.iter().take(MAX_READ) {
        let stored = place.opened.backend.store(name).map_err(refuse)?.read().await.map_err(refuse)?;
        let Some(head) = stored.and_then(|stored| Head::read(&stored.bytes)) else { continue };
        if head.is_encrypted && !encrypts {
            let message = format!(
                "the workspace {name} of {} is encrypted by OpenTofu, and a new one would not be",
                place.opened.backend
            );
            return Err(Failure::new(Kind::Usage, message)
                .hint("`--encryption FILE` or TF_ENCRYPTION says how it is encrypted; or make it with `tofu workspace new`"));
        }
        known = known.or(Some(head.writer).filter(|writer| !writer.is_empty()));
    }
    Ok(known)
}

fn delete(args: &WorkspacesDeleteArgs) -> Result {
    let place = open(&args.at.place, Purpose::Change)?;
    let WorkspacesDeleteArgs { name, force, wait, .. } = args;
    if place.directory.is_some() && place.workspace == *name && !name.is_default() {
        let message = format!("{name} is the selected workspace of {}", args.at.place.display());
        return Err(Failure::new(Kind::Usage, message).hint("select another one before"));
    }
    refuse_with_journal(&place, name)?;
    let options = DeleteWorkspace::new(lock_document("workspace-delete")?).force(*force);
    uninterrupted(async |interrupts| {
        retried(wait.lock_timeout, interrupts, async || place.opened.backend.delete(name, &options).await)
            .await
    })
    .map_err(|failure| with_meant(failure, &place, name))?;
    let line = format!("Deleted the workspace {name} of {}", place.opened.backend);
    done(&place, name, ("deleted", &line), args.json)
}

/// Adds the workspaces that may have been meant by one that is not there.
fn with_meant(failure: Failure, place: &Location, name: &WorkspaceName) -> Failure {
    let Some(names) = runtime().ok().and_then(|runtime| runtime.block_on(place.opened.backend.list()).ok())
    else {
        return failure;
    };
    if names.contains(name) {
        return failure;
    }
    let names = names.iter().map(ToString::to_string);
    did_you_mean(&similar(name.as_str(), names)).into_iter().fold(failure, Failure::hint)
}

/// Refuses to delete a state of which the newest changes stand in a journal beside it: they would be left for another one.
fn refuse_with_journal(place: &Location, name: &WorkspaceName) -> Result<()> {
    let journal = journal_of(&place.clone().with_workspace(name.clone()))?;
    let Some(folder) = journal.filter(|folder| folder.is_dir()) else { return Ok(()) };
    let directory = place.directory.as_deref().unwrap_or(Path::new("."));
    let message =
        format!("a run has left a journal of its changes to the workspace {name}: {}", folder.display());
    let recover = format!("groundstate recover {} --workspace {name}", directory.display());
    Err(Failure::new(Kind::Conflict, message)
        .hint(format!("`{recover}` stores them, `{recover} --discard` removes them")))
}

fn open(argument: &Path, purpose: Purpose) -> Result<Location> {
    let place = backend(argument, purpose)?;
    if place.is_named && place.settings.kind() == "local" && place.directory.is_none() {
        let message = format!("{} is a single state and has no workspaces", argument.display());
        return Err(Failure::new(Kind::Usage, message).hint("name its directory or its backend"));
    }
    Ok(place)
}

/// Says what was done with a workspace, to programs and to people.
fn done(place: &Location, name: &WorkspaceName, (outcome, line): (&str, &str), as_json: bool) -> Result {
    let mut out = Output::stdout();
    if as_json {
        out.json(&Json::document(|json| {
            json.text("place", &place.opened.backend.to_string());
            json.text("workspace", name.as_str());
            json.text("outcome", outcome);
        }))?;
    } else {
        out.line(line)?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}
