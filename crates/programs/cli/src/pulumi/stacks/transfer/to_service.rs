//! A stack into a service.

use groundstate_pulumi_backends::pulumi_http::protocol::{
    AppendVersion, Capability, DocumentError, Stack, UntypedDeployment, UpdateInfo, UpdateKind, UpdateResult,
    decode,
};
use groundstate_pulumi_backends::pulumi_http::{ErrorKind, HistoryEntry, ServiceStack};
use groundstate_pulumi_deployment::{DecodeOptions, decode as decode_state};
use groundstate_statemgr::LockHolder;

use super::recode::{Recoder, digest};
use super::source::{OldEntry, OldStack, ended, exported, json};
use super::{Arrived, Outcome, Transfer, config, place_of};
use crate::input::remote::warn_once;
use crate::input::service::FoundService;
use crate::input::service_store::{holder, updates};
use crate::report::error::{Failure, Kind, Result};

pub(super) async fn copy(
    transfer: &Transfer<'_>,
    old: &OldStack<'_>,
    found: &FoundService,
    stack: &ServiceStack,
    recoder: Recoder,
) -> Result<Outcome> {
    let failed = |error: groundstate_pulumi_backends::pulumi_http::Error| found.failure(&error);
    let known = match stack.get().await {
        Ok(known) => Some(known),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(found.failure(&error)),
    };
    let there = match &known {
        Some(known) => look(old, found, stack, known, &recoder).await?,
        None => There { updates: Vec::new(), is_newest: false, text: Vec::new() },
    };
    let can_append =
        stack.service().capabilities().await.map_err(failed)?.get(Capability::APPEND_VERSIONS).is_some();
    let missing: Vec<&OldEntry> = old.entries.iter().filter(|entry| !there.has(entry)).collect();
    let missing = if can_append && !there.is_only_newest() { missing } else { Vec::new() };
    let tags_differ = known.as_ref().is_none_or(|known| known.tags != old.tags);
    if there.is_newest && missing.is_empty() && !tags_differ {
        return Ok(Outcome::Present { digest: digest(&there.text) });
    }
    if transfer.args.dry_run {
        // The last update has left the newest state, as a rule.
        let last = match missing.last() {
            Some(last) => old.state(last).await?,
            None => None,
        };
        let is_there = match last {
            Some(last) if !there.is_newest => recoder.is_same(&last, &old.newest)?,
            _ => there.is_newest,
        };
        return Ok(Outcome::Would { objects: missing.len() + usize::from(!is_there) });
    }
    if !can_append && !old.entries.is_empty() {
        warn_once(&[format!(
            "{} takes no versions of other histories, so only the newest states and tags go there",
            stack.service()
        )]);
    }
    transfer.interrupts.check()?;
    if known.is_none() {
        stack.create(old.tags.clone(), None).await.map_err(failed)?;
    }
    for entry in &missing {
        transfer.interrupts.check()?;
        append(transfer, old, entry, found, stack, &recoder).await?;
    }
    let mut objects = missing.len();
    let present = exported(&stack.export().await.map_err(failed)?, &stack.to_string())?;
    if !recoder.is_same(&present, &old.newest)? {
        transfer.interrupts.check()?;
        let text = recoder.state(&old.newest, &old.name)?;
        stack.import(text.into()).await.map_err(failed)?;
        objects += 1;
    }
    if known.is_some() && tags_differ {
        stack.set_tags(&old.tags).await.map_err(failed)?;
    }
    let back = exported(&stack.export().await.map_err(failed)?, &stack.to_string())?;
    if !recoder.is_same(&back, &old.newest)? {
        return Err(other(&format!("{stack}"), "its state"));
    }
    Ok(Outcome::Arrived(Arrived { objects, is_resumed: known.is_some(), digest: digest(&back) }))
}

/// What is at the target already.
struct There {
    updates: Vec<UpdateInfo>,
    /// Its state is that of the source.
    is_newest: bool,
    text: Vec<u8>,
}

impl There {
    /// Whether an update of the source was appended before.
    fn has(&self, entry: &OldEntry) -> bool {
        let is_it = |update: &UpdateInfo| {
            update.source.as_ref().is_some_and(|source| source.version == entry.number)
                && (update.start_time, update.end_time) == (entry.update.start_time, entry.update.end_time)
        };
        self.updates.iter().any(is_it)
    }

    /// Whether the state is there without a history: what is appended now would come behind it.
    fn is_only_newest(&self) -> bool {
        self.is_newest
            && !self.updates.is_empty()
            && self.updates.iter().all(|update| update.source.is_none())
    }
}

/// Looks whether what is at the target is a copy of this stack, or the beginning of one.
async fn look(
    old: &OldStack<'_>,
    found: &FoundService,
    stack: &ServiceStack,
    known: &Stack,
    recoder: &Recoder,
) -> Result<There> {
    let failed = |error: groundstate_pulumi_backends::pulumi_http::Error| found.failure(&error);
    if let Some(running) = holder(known) {
        return Err(locked(stack, &running));
    }
    let read = |entry: HistoryEntry| entry.update.map_err(|error| unreadable(found, stack, &error));
    let updates: Vec<UpdateInfo> =
        updates(stack).await.map_err(failed)?.into_iter().map(read).collect::<Result<_>>()?;
    let text = exported(&stack.export().await.map_err(failed)?, &stack.to_string())?;
    let is_newest = recoder.is_same(&text, &old.newest)?;
    // Imports into a bucket behind a server are in no history, so without one only the state tells what is there.
    let is_begun = match updates.is_empty() {
        true => known.version == 0 && is_empty(&text),
        false => updates.iter().all(|update| update.source.is_some()),
    };
    if is_newest || is_begun {
        return Ok(There { updates, is_newest, text });
    }
    let message = format!("{stack} exists already with another state, so nothing was written");
    Err(Failure::new(Kind::Conflict, message)
        .hint(format!("`{}` shows what it has", found.command("history"))))
}

/// Whether a state has no resources, of which nothing can be lost.
fn is_empty(text: &[u8]) -> bool {
    decode_state(text, &DecodeOptions::default()).is_ok_and(|file| {
        file.snapshot.is_none_or(|state| state.resources.is_empty() && state.pending_operations.is_empty())
    })
}

fn unreadable(found: &FoundService, stack: &ServiceStack, error: &DocumentError) -> Failure {
    let message =
        format!("an update in the history of {stack} cannot be read, so nothing was written: {error}");
    Failure::new(Kind::Unusable, message).hint(format!("`{}` shows which one", found.command("history")))
}

fn locked(stack: &ServiceStack, running: &LockHolder) -> Failure {
    Failure::new(Kind::Locked, format!("an update of {stack} runs: {running}"))
        .hint("run the command again when it is over")
}

/// Appends a version, and reads its state back.
async fn append(
    transfer: &Transfer<'_>,
    old: &OldStack<'_>,
    entry: &OldEntry,
    found: &FoundService,
    stack: &ServiceStack,
    recoder: &Recoder,
) -> Result<()> {
    let failed = |error: groundstate_pulumi_backends::pulumi_http::Error| found.failure(&error);
    let state = old.state(entry).await?;
    let new = state.as_deref().map(|state| recoder.state(state, &old.name)).transpose()?;
    let version = AppendVersion {
        key: key(transfer, old, entry),
        info: info(old, entry, state.as_deref(), new.as_deref(), recoder)?,
    };
    let appended = stack.append_version(&version).await.map_err(failed)?;
    let Some(state) = state.filter(|_| appended.appended) else { return Ok(()) };
    let back = stack.export_version(appended.version).await.map_err(failed)?;
    match recoder.is_same(&exported(&back, &stack.to_string())?, &state)? {
        true => Ok(()),
        false => Err(other(&stack.to_string(), &format!("version {}", appended.version))),
    }
}

/// What tells a version from all others: where it comes from, its number and its times.
fn key(transfer: &Transfer<'_>, old: &OldStack<'_>, entry: &OldEntry) -> String {
    let place =
        place_of(std::path::Path::new(&transfer.source.name()), &format!("{}/{}", old.project, old.stack));
    let times = (entry.update.start_time, entry.update.end_time);
    digest(format!("{place}\n{}\n{} {}", entry.number, times.0, times.1).as_bytes())
}

fn info(
    old: &OldStack<'_>,
    entry: &OldEntry,
    state: Option<&[u8]>,
    new: Option<&[u8]>,
    recoder: &Recoder,
) -> Result<UpdateInfo> {
    let update = &entry.update;
    let wrong = |why: String| {
        let message =
            format!("version {} of {}, which ended {}: {why}", entry.number, old.name, ended(entry));
        Failure::new(Kind::Unusable, message)
    };
    let text = match &update.config {
        Some(text) => Some(recoder.config(text, state.unwrap_or(&old.newest), &old.name)?),
        None => None,
    };
    let deployment = new.map(|text| {
        let document: UntypedDeployment = decode(text).map_err(|error| wrong(error.to_string()))?;
        document.checked().map_err(|error| wrong(error.to_string()))?;
        json(text)
    });
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    let changes = update.resource_changes.clone();
    Ok(UpdateInfo {
        kind: UpdateKind::parse(&update.kind)
            .ok_or_else(|| wrong(format!("its kind {:?} is not known", update.kind)))?,
        start_time: update.start_time,
        message: update.message.clone(),
        environment: update.environment.clone().unwrap_or_default(),
        config: config::to_service(text.as_deref()).map_err(&wrong)?,
        result: UpdateResult::parse(&update.result)
            .ok_or_else(|| wrong(format!("its result {:?} is not known", update.result)))?,
        end_time: update.end_time,
        version: entry.number,
        deployment: deployment.transpose()?,
        resource_changes: changes
            .map(|all| all.into_iter().map(|(kind, number)| (kind, count(number))).collect()),
        resource_count: None,
        update_id: None,
        requested_by: entry.requested_by(),
        source: None,
    })
}

/// That what was read back is not what was written.
fn other(stack: &str, what: &str) -> Failure {
    let message = format!("{what} of {stack} is not what was sent there");
    Failure::new(Kind::Conflict, message)
        .hint("look at the stack there before anything else; the source is as it was")
}
