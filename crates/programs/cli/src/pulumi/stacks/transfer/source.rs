//! The stacks that are to be copied: their states, tags and histories.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_common::Timestamp;
use groundstate_pulumi_backends::pulumi_http::HistoryEntry as Version;
use groundstate_pulumi_backends::pulumi_http::protocol::{JsonText, RequestedBy, StackPath};
use groundstate_pulumi_backends::pulumi_http::{ServiceStack, StackFilter as ServiceFilter};
use groundstate_pulumi_deployment::RawDeployment;
use groundstate_pulumi_diy::{Backend, HistoryEntry, Stack, StackFilter, Update};
use groundstate_pulumi_snapshot::ProjectName;

use super::super::list::warn_of_unlisted;
use super::config;
use crate::input::found_stack::{FoundPlace, FoundStack, stack_failure};
use crate::input::pulumi;
use crate::input::remote::warn_once;
use crate::input::service::{FoundService, names, service_failure};
use crate::input::service_store::updates;
use crate::input::stack::{self, FoundAccount, FoundBackend, FoundBackends};
use crate::report::error::{Failure, Kind, Result, chain};

/// Where the stacks are.
pub(super) enum Source {
    Bucket(FoundBackend),
    Service(FoundAccount),
}

/// A stack that was read.
pub(super) struct OldStack<'s> {
    /// As messages name it.
    pub(super) name: String,
    pub(super) project: String,
    pub(super) stack: String,
    pub(super) tags: BTreeMap<String, String>,
    /// The newest state, as an export.
    pub(super) newest: Vec<u8>,
    /// The updates that are over, the oldest first.
    pub(super) entries: Vec<OldEntry>,
    place: Place<'s>,
}

enum Place<'s> {
    Bucket(&'s FoundStack, &'s Stack),
    Service { found: &'s FoundService, stack: ServiceStack, version: u64 },
}

/// An update that is over.
pub(super) struct OldEntry {
    /// Its number at the source.
    pub(super) number: u64,
    /// What is known of it; the configuration is as buckets have it.
    pub(super) update: Update,
    /// Who made it, where that is known.
    pub(super) author: Option<String>,
    state: State,
}

enum State {
    Key(Box<HistoryEntry>),
    Version(u64),
}

impl OldEntry {
    /// The time that names it in a bucket: that of its end, with its number behind it, so that two of one second have an order.
    pub(super) fn stamp(&self) -> u64 {
        let seconds = u64::try_from(self.update.end_time).unwrap_or_default();
        seconds.saturating_mul(1_000_000_000).saturating_add(self.number % 1_000_000_000)
    }

    pub(super) fn requested_by(&self) -> Option<RequestedBy> {
        let name = self.author.clone()?;
        Some(RequestedBy { name, ..RequestedBy::default() })
    }
}

impl Source {
    pub(super) fn new(found: FoundBackends) -> Self {
        match found {
            // What is left behind may be of the old layout.
            FoundBackends::Bucket(mut found) => {
                found.options = found.options.allow_legacy();
                Self::Bucket(found)
            }
            FoundBackends::Service(found) => Self::Service(found),
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Bucket(found) => found.name.clone(),
            Self::Service(found) => found.service.to_string(),
        }
    }

    /// The full names of the stacks that are meant.
    pub(super) async fn names(&self, single: Option<&FoundPlace>) -> Result<Vec<String>> {
        let failed = |error: groundstate_pulumi_diy::Error| stack_failure(&error);
        match (self, single) {
            (_, Some(FoundPlace::Service(found))) => {
                let stack = found.stack().await.map_err(|error| found.failure(&error))?;
                Ok(vec![stack.path().to_string()])
            }
            (_, Some(FoundPlace::Bucket(found))) => Ok(vec![found.open().await?.reference().to_string()]),
            (Self::Service(found), None) => {
                let all = names(&found.service, &ServiceFilter::default()).await;
                all.map_err(|error| service_failure(&error))
            }
            (Self::Bucket(found), None) => {
                warn_once(&found.opened.notes);
                let (store, options) = (Arc::clone(&found.opened.store), found.options.clone());
                let backend =
                    Backend::open_existing(store, stack::context(), options).await.map_err(failed)?;
                warn_of_unlisted(&backend).await?;
                let names = backend.stack_names(&StackFilter::default()).await.map_err(failed)?;
                Ok(names.iter().map(ToString::to_string).collect())
            }
        }
    }
}

/// Reads a stack of a service, of which no update runs.
pub(super) async fn of_service(found: &FoundService) -> Result<OldStack<'_>> {
    let failed = |error: groundstate_pulumi_backends::pulumi_http::Error| found.failure(&error);
    let stack = found.stack().await.map_err(failed)?;
    let known = match stack.get().await {
        Ok(known) => known,
        Err(error) => return Err(found.failed(&error, stack).await),
    };
    if let Some(holder) = crate::input::service_store::holder(&known) {
        let message = format!("an update of {stack} runs: {holder}");
        return Err(Failure::new(Kind::Locked, message).hint("run the command again when it is over"));
    }
    let newest = stack.export().await.map_err(failed)?;
    let mut entries = Vec::new();
    for version in updates(stack).await.map_err(failed)?.into_iter().rev() {
        if let Some(entry) = entry_of(stack, version)? {
            entries.push(entry);
        }
    }
    let StackPath { project, stack: name, .. } = stack.path().clone();
    Ok(OldStack {
        name: stack.to_string(),
        project,
        stack: name,
        tags: known.tags,
        newest: exported(&newest, &stack.to_string())?,
        entries,
        place: Place::Service { found, stack: stack.clone(), version: known.version },
    })
}

/// An entry of the history of a service; nothing for an update that is not over.
fn entry_of(stack: &ServiceStack, version: Version) -> Result<Option<OldEntry>> {
    let unreadable = |why: String| {
        let number = version.version.unwrap_or_default();
        Failure::new(Kind::Unusable, format!("version {number} of {stack} cannot be read: {why}"))
    };
    let number = version.version.ok_or_else(|| unreadable("it has no number".to_owned()))?;
    // Kinds that this release does not know are kept.
    let mut update: Update = version.text.read().map_err(|error| unreadable(error.to_string()))?;
    if !matches!(update.result.as_str(), "succeeded" | "failed") {
        return Ok(None);
    }
    update.config =
        update.config.take().map(|text| config::of_service(&text)).transpose().map_err(&unreadable)?;
    Ok(Some(OldEntry { number, update, author: version.author, state: State::Version(number) }))
}

/// Reads a stack of a bucket, whose lock is held.
pub(super) async fn of_bucket<'s>(
    found: &'s FoundStack,
    stack: &'s Stack,
    project: Option<&ProjectName>,
) -> Result<OldStack<'s>> {
    let failed = |error: groundstate_pulumi_diy::Error| found.failure(&error);
    if !stack.exists().await.map_err(failed)? {
        return Err(found.missing(stack).await);
    }
    if stack.has_journal().await.map_err(failed)? {
        let message = format!("{stack} lacks the changes of a killed update, so it is not copied");
        return Err(Failure::new(Kind::Conflict, message)
            .hint(format!("`{}` stores it first", found.command("recover"))));
    }
    let newest = stack.export().await.map_err(failed)?;
    let history = stack.history(1, 0).await.map_err(failed)?;
    let mut entries = Vec::new();
    for mut entry in history.entries.into_iter().rev() {
        let update = std::mem::replace(&mut entry.update, Ok(Update::default()));
        let update = update.map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
        entries.push(OldEntry {
            number: entry.number as u64,
            update,
            author: None,
            state: State::Key(Box::new(entry)),
        });
    }
    let project = match stack.reference().project().or(project) {
        Some(project) => project.clone(),
        None => stack.project_of_resources().await.map_err(failed)?.ok_or_else(|| {
            let message = format!("{stack} has no resources, so its project is not known");
            Failure::new(Kind::Usage, message).hint("`--project PROJECT` puts it into one")
        })?,
    };
    Ok(OldStack {
        name: stack.to_string(),
        project: project.to_string(),
        stack: stack.reference().stack().to_string(),
        tags: stack.tags().await.map_err(failed)?.all().clone(),
        newest,
        entries,
        place: Place::Bucket(found, stack),
    })
}

impl OldStack<'_> {
    /// The state that an update left, as an export; nothing if it is not kept.
    pub(super) async fn state(&self, entry: &OldEntry) -> Result<Option<Vec<u8>>> {
        match (&self.place, &entry.state) {
            (Place::Bucket(found, stack), State::Key(entry)) => {
                let read = stack.history_checkpoint(entry).await.map_err(|error| found.failure(&error))?;
                read.map(|read| exported(&read.bytes, &self.name)).transpose()
            }
            (Place::Service { found, stack, .. }, State::Version(version)) => {
                match stack.export_version(*version).await {
                    Ok(bytes) => exported(&bytes, &self.name).map(Some),
                    Err(error) if error.status() == Some(404) => Ok(None),
                    Err(error) => Err(found.failure(&error)),
                }
            }
            _ => Ok(None),
        }
    }

    /// The version that was read; 0 in a bucket, where a lock is held.
    pub(super) fn version(&self) -> u64 {
        match &self.place {
            Place::Bucket(..) => 0,
            Place::Service { version, .. } => *version,
        }
    }

    /// The version that there is now.
    pub(super) async fn version_now(&self) -> Result<u64> {
        match &self.place {
            Place::Bucket(..) => Ok(0),
            Place::Service { found, stack, .. } => {
                Ok(stack.get().await.map_err(|error| found.failure(&error))?.version)
            }
        }
    }
}

/// A deployment in the envelope and the layout of exports. Every value keeps its bytes.
pub(super) fn exported(text: &[u8], name: &str) -> Result<Vec<u8>> {
    let raw = RawDeployment::read(text).map_err(|error| pulumi::failure(&error, name, text))?;
    Ok(raw.to_deployment())
}

/// When an update ended, for messages.
pub(super) fn ended(entry: &OldEntry) -> String {
    let time = Timestamp::from_unix(entry.update.end_time, 0);
    time.map_or_else(|_| "?".to_owned(), |time| time.to_string())
}

/// A text as a document.
pub(super) fn json(text: &[u8]) -> Result<JsonText> {
    let text = String::from_utf8(text.to_vec());
    let text = text.map_err(|_| Failure::new(Kind::Unusable, "the state is not UTF-8"))?;
    JsonText::parse(text).map_err(|error| Failure::new(Kind::Unusable, error.to_string()))
}
