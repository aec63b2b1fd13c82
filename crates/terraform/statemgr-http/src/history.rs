//! The history of a state, at servers that keep one and say where.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::Timestamp;
use groundstate_http_client::http::Method;
use groundstate_statemgr::states::{Lineage, Serial};
use groundstate_statemgr::{Error, ErrorKind, History, HistoryEntry, HistoryId, Op, Result, Stored};
use serde::Deserialize;

use crate::address::Endpoint;
use crate::exchange::Reply;
use crate::reading::version_of;
use crate::status::{Call, Meaning};
use crate::store::Shared;

/// Versions that are asked for at once.
const PAGE: &str = "1000";
/// Pages that are asked for at most, for a million versions: no server keeps a client busy for ever.
const MOST_PAGES: usize = 1000;

/// What a server keeps of a state, found by the link `version-history` in its answers.
pub(crate) struct HttpHistory {
    shared: Arc<Shared>,
}

/// A page of the list, as the server of this project writes it.
#[derive(Deserialize)]
struct Page {
    versions: Vec<Item>,
    #[serde(default)]
    missing: Vec<u64>,
    #[serde(default)]
    damaged: Vec<Damaged>,
    next_before: Option<u64>,
}

/// A version whose record is damaged.
#[derive(Deserialize)]
struct Damaged {
    number: u64,
    problem: String,
}

/// A version in the list.
#[derive(Deserialize)]
struct Item {
    number: u64,
    time: String,
    #[serde(default)]
    deleted: bool,
    size: u64,
    serial: Option<u64>,
    lineage: Option<String>,
    by: Option<String>,
    #[serde(default)]
    remarks: Vec<String>,
}

impl HttpHistory {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    fn error(&self, op: Op, kind: ErrorKind, why: impl Into<String>) -> Error {
        Error::new(kind, op, &self.shared.target).because(why.into())
    }

    /// Where the list of versions is.
    async fn place(&self, op: Op) -> Result<Endpoint> {
        let mut endpoint = self.shared.endpoints.read.clone();
        endpoint.method = Method::HEAD;
        let (_, reply) = self.shared.ask(op, Call::Look, &endpoint).await?;
        endpoint.method = Method::GET;
        let Some(link) = reply.version_history() else {
            let why = "the server keeps no history of the state, or does not say where";
            return Err(self.error(op, ErrorKind::Unsupported, why));
        };
        // Its credentials go to the server of the state, and to no other.
        match endpoint.url.join(link) {
            Ok(url) if url.origin() == endpoint.url.origin() => endpoint.url = url,
            _ => {
                let why = "the server says that the history is at another server, which is not asked";
                return Err(self.error(op, ErrorKind::Invalid, why));
            }
        }
        Ok(endpoint)
    }

    fn page(&self, op: Op, reply: &Reply) -> Result<Page> {
        serde_json::from_slice(&reply.body).map_err(|error| {
            let why = format!(
                "the list of versions is in a form that is not known (line {}, column {})",
                error.line(),
                error.column()
            );
            self.error(op, ErrorKind::Unsupported, why)
        })
    }

    /// The entries of a page, the newest first.
    fn entries(&self, op: Op, page: &Page) -> Result<Vec<HistoryEntry>> {
        // A deletion has no content to go back to.
        let items = page.versions.iter().filter(|item| !item.deleted);
        let mut numbered =
            items.map(|item| Ok((item.number, self.entry(op, item)?))).collect::<Result<Vec<_>>>()?;
        let missing =
            page.missing.iter().map(|number| (*number, "it is missing from the store of the server"));
        let damaged = page.damaged.iter().map(|damaged| (damaged.number, &*damaged.problem));
        numbered.extend(missing.chain(damaged).map(|(number, reason)| {
            (number, HistoryEntry::unreadable(HistoryId::new(&number.to_string()), reason))
        }));
        numbered.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        Ok(numbered.into_iter().map(|(_, entry)| entry).collect())
    }

    fn entry(&self, op: Op, item: &Item) -> Result<HistoryEntry> {
        let stored_at = Timestamp::parse(&item.time).map_err(|_| {
            self.error(op, ErrorKind::Corrupt, format!("version {} has no time", item.number))
        })?;
        let id = HistoryId::new(&item.number.to_string());
        Ok(HistoryEntry::new(id, stored_at, item.size)
            .serial(item.serial.map(Serial::new))
            .lineage(item.lineage.as_deref().map(Lineage::new))
            .by(item.by.clone().filter(|by| !by.is_empty()))
            .remarks(item.remarks.clone()))
    }
}

impl fmt::Debug for HttpHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpHistory").field("state", &self.shared.target).finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl History for HttpHistory {
    async fn list(&self) -> Result<Vec<HistoryEntry>> {
        const OP: Op = Op::ListHistory;
        let place = self.place(OP).await?;
        let (mut entries, mut before) = (Vec::new(), None::<u64>);
        for _ in 0..MOST_PAGES {
            let mut endpoint = place.clone();
            endpoint.url.query_pairs_mut().append_pair("limit", PAGE);
            if let Some(before) = before {
                endpoint.url.query_pairs_mut().append_pair("before", &before.to_string());
            }
            let (_, reply) = self.shared.ask(OP, Call::Read, &endpoint).await?;
            let page = self.page(OP, &reply)?;
            entries.extend(self.entries(OP, &page)?);
            // Pages lead downwards.
            before = page.next_before.filter(|next| before.is_none_or(|before| *next < before));
            if before.is_none() {
                return Ok(entries);
            }
        }
        // A list of which the rest is missing would look like the whole.
        Err(self.error(
            OP,
            ErrorKind::Unsupported,
            format!("its list of versions has more than {MOST_PAGES} pages"),
        ))
    }

    async fn read(&self, id: &HistoryId) -> Result<Stored> {
        const OP: Op = Op::ReadHistory;
        let missing = || self.error(OP, ErrorKind::NotFound, format!("there is no version {id}"));
        let number: u64 = id.as_str().parse().map_err(|_| missing())?;
        let mut endpoint = self.place(OP).await?;
        let path = format!("{}/{number}/content", endpoint.url.path().trim_end_matches('/'));
        endpoint.url.set_path(&path);
        match self.shared.ask(OP, Call::Read, &endpoint).await? {
            (Meaning::Done, reply) => {
                let version = version_of(&reply.body);
                Ok(Stored::new(reply.body.into(), version))
            }
            _ => Err(missing()),
        }
    }
}
