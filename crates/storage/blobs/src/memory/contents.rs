//! What a container in memory holds, and who holds leases on it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;

use bytes::Bytes;
use groundstate_common::Timestamp;

use crate::blob::{Attributes, BlobMeta, LeaseState, Listed, Page, PageToken};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::lease::{LeaseDuration, LeaseId};
use crate::op::Op;
use crate::options::ListOptions;
use crate::version::BlobVersion;

/// As many as S3 and Google give.
const PAGE: usize = 1000;

#[derive(Default)]
pub(super) struct Contents {
    blobs: BTreeMap<Key, Stored>,
    /// Counts the writes, also across deletions, so that no version comes twice.
    writes: u64,
    snapshots: Vec<(Key, String, Bytes)>,
}

pub(super) struct Stored {
    pub(super) bytes: Bytes,
    pub(super) meta: BlobMeta,
    pub(super) lease: Option<Lease>,
}

#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) id: LeaseId,
    pub(super) duration: LeaseDuration,
    pub(super) expires: Option<Timestamp>,
}

impl fmt::Debug for Contents {
    /// Shows numbers only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").field("blobs", &self.blobs.len()).field("writes", &self.writes).finish()
    }
}

impl Contents {
    pub(super) fn get(&self, key: &Key) -> Option<&Stored> {
        self.blobs.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &Key) -> Option<&mut Stored> {
        self.blobs.get_mut(key)
    }

    pub(super) fn next_version(&mut self) -> BlobVersion {
        self.writes += 1;
        BlobVersion::default().with_generation(self.writes).with_e_tag(format!("\"{}\"", self.writes))
    }

    pub(super) fn put(&mut self, key: &Key, bytes: Bytes, attributes: Attributes, now: Timestamp) -> &Stored {
        let mut meta = BlobMeta::new(self.next_version(), bytes.len() as u64);
        meta.last_modified = Some(now);
        meta.attributes = attributes;
        let lease = self.blobs.remove(key).and_then(|stored| stored.lease);
        self.blobs.entry(key.clone()).or_insert(Stored { bytes, meta, lease })
    }

    pub(super) fn remove(&mut self, key: &Key) -> bool {
        self.blobs.remove(key).is_some()
    }

    /// Keeps the present content under a name that is not used yet.
    pub(super) fn keep(&mut self, key: &Key, now: Timestamp) -> String {
        let name = format!("{now}.{}", self.snapshots.len());
        if let Some(stored) = self.blobs.get(key) {
            self.snapshots.push((key.clone(), name.clone(), stored.bytes.clone()));
        }
        name
    }

    pub(super) fn snapshots(&self, key: &Key) -> Vec<(String, Bytes)> {
        let of_key = self.snapshots.iter().filter(|(of, _, _)| of == key);
        of_key.map(|(_, name, bytes)| (name.clone(), bytes.clone())).collect()
    }

    /// Ends the leases whose time is over.
    pub(super) fn expire(&mut self, now: Timestamp) {
        for stored in self.blobs.values_mut() {
            stored.lease.take_if(|lease| lease.expires.is_some_and(|end| now >= end));
        }
    }

    pub(super) fn list(
        &self,
        prefix: &str,
        options: &ListOptions,
        meta: impl Fn(&Stored) -> BlobMeta,
    ) -> Page {
        let limit = options.limit.unwrap_or(PAGE).clamp(1, PAGE);
        let mut page = Page::default();
        // A token is the last name or prefix that was given: what begins with a given prefix was given with it.
        let after = options.page.as_ref().map(PageToken::as_str);
        let from = after.map_or(Bound::Included(prefix), Bound::Excluded);
        let mut last = None;
        for (key, stored) in self.range(from).take_while(|(key, _)| key.as_str().starts_with(prefix)) {
            let name = key.as_str();
            let folder = options.delimiter.then(|| folder(name, prefix)).flatten();
            if folder.is_some() && (folder == page.prefixes.last().map(String::as_str) || folder == after) {
                continue;
            }
            if page.blobs.len() + page.prefixes.len() == limit {
                page.next = last.map(PageToken::new);
                break;
            }
            last = Some(folder.unwrap_or(name));
            match folder {
                Some(folder) => page.prefixes.push(folder.to_owned()),
                None => page.blobs.push(Listed::new(name, meta(stored))),
            }
        }
        page
    }

    fn range<'a>(&'a self, from: Bound<&'a str>) -> impl Iterator<Item = (&'a Key, &'a Stored)> {
        self.blobs.range::<str, _>((from, Bound::Unbounded))
    }
}

/// The name up to the first slash behind the prefix.
fn folder<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let rest = name.strip_prefix(prefix)?;
    let slash = rest.find('/')?;
    name.get(..prefix.len() + slash + 1)
}

impl Stored {
    pub(super) fn lease_state(&self) -> LeaseState {
        match self.lease.as_ref().map(|lease| lease.duration) {
            None => LeaseState::Free,
            Some(LeaseDuration::Infinite) => LeaseState::Held,
            Some(LeaseDuration::For(_)) => LeaseState::HeldForNow,
        }
    }

    /// Refuses a reader whose lease is not in force; one without a lease may always read.
    pub(super) fn check_reader(&self, lease: Option<&LeaseId>, place: impl FnOnce() -> String) -> Result<()> {
        match (lease, &self.lease) {
            (None, _) => Ok(()),
            (Some(mine), Some(held)) if held.id == *mine => Ok(()),
            (Some(_), _) => Err(Error::new(ErrorKind::LeaseLost, Op::Read, place())),
        }
    }

    /// Refuses a writer without the lease that is in force, and one whose lease is not.
    pub(super) fn check_writer(
        op: Op,
        stored: Option<&Self>,
        lease: Option<&LeaseId>,
        place: impl FnOnce() -> String,
    ) -> Result<()> {
        let held = stored.and_then(|stored| stored.lease.as_ref()).map(|held| &held.id);
        let kind = match (lease, held) {
            (None, None) => return Ok(()),
            (Some(mine), Some(held)) if mine == held => return Ok(()),
            (None, Some(_)) => ErrorKind::LeaseHeld,
            (Some(_), _) => ErrorKind::LeaseLost,
        };
        Err(Error::new(kind, op, place()))
    }
}
