//! What arrived and what was answered, counted in requests and bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::http::{Answer, Flow, Request};
use crate::pattern::fits_request;

/// A request that arrived, and what came of it.
#[derive(Clone)]
pub struct Recorded {
    /// The method, in capitals.
    pub method: String,
    /// The path, decoded.
    pub path: String,
    /// The query as it was sent, without the question mark.
    pub query: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes that followed the headers; empty if the server keeps sizes only.
    pub body: Bytes,
    /// How many bytes followed the headers.
    pub received: u64,
    /// The status of the answer; nothing if the connection was closed, or if the answer is still to come.
    pub status: Option<u16>,
    /// The size of the answer without its headers. What a fault cuts off is not counted.
    pub answered: u64,
    /// The fault that hit the request.
    pub fault: Option<&'static str>,
}

impl Recorded {
    /// A header of the request.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Tells whether method and path fit, as in [`Fault::on`](crate::Fault::on).
    pub fn fits(&self, method: &str, pattern: &str) -> bool {
        fits_request(method, pattern, (&self.method, &self.path, &self.query))
    }
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither headers nor queries: both carry signatures.
        write!(f, "{} {} ({} bytes)", self.method, self.path, self.received)?;
        match self.status {
            Some(status) => write!(f, " -> {status} ({} bytes)", self.answered)?,
            None => write!(f, " -> nothing")?,
        }
        self.fault.map_or(Ok(()), |fault| write!(f, " [{fault}]"))
    }
}

/// A moment in the log of a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark(usize);

/// Requests and bytes, without headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of requests.
    pub requests: usize,
    /// The bytes of the bodies that were sent to the server.
    pub received: u64,
    /// The bytes of the bodies that the server answered.
    pub sent: u64,
    /// The number of requests for each method.
    pub methods: BTreeMap<String, usize>,
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests, {} bytes up, {} bytes down", self.requests, self.received, self.sent)?;
        self.methods.iter().try_for_each(|(method, count)| write!(f, ", {method} {count}"))
    }
}

/// The log of a server.
#[derive(Default)]
pub(crate) struct Log {
    entries: Mutex<Entries>,
    /// Bodies are not kept.
    sizes_only: AtomicBool,
}

#[derive(Default)]
struct Entries {
    /// Numbers go on when the log is cleared, so that late answers find no wrong request.
    forgotten: usize,
    entries: Vec<Recorded>,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn keep_sizes_only(&self) {
        self.sizes_only.store(true, Ordering::Relaxed);
    }

    pub(crate) fn arrived(&self, request: &Request) -> usize {
        let is_kept = !self.sizes_only.load(Ordering::Relaxed);
        let recorded = Recorded {
            method: request.method.clone(),
            path: request.path(),
            query: request.raw_query().to_owned(),
            headers: request.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: if is_kept { request.body.clone() } else { Bytes::new() },
            received: request.body.len() as u64,
            status: None,
            answered: 0,
            fault: None,
        };
        let mut log = self.lock();
        log.entries.push(recorded);
        log.forgotten + log.entries.len() - 1
    }

    pub(crate) fn answered(&self, id: usize, answer: Option<&Answer>) {
        let Some(answer) = answer else { return };
        self.change(id, |entry| {
            let size = answer.body.len();
            entry.status = Some(answer.status);
            entry.answered = match answer.flow {
                Flow::Cut(after) => after.min(size) as u64,
                _ => size as u64,
            };
        });
    }

    pub(crate) fn hit(&self, id: usize, fault: &'static str) {
        self.change(id, |entry| entry.fault = Some(fault));
    }

    fn change(&self, id: usize, change: impl FnOnce(&mut Recorded)) {
        let mut log = self.lock();
        let at = id.checked_sub(log.forgotten);
        if let Some(entry) = at.and_then(|at| log.entries.get_mut(at)) {
            change(entry);
        }
    }

    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.lock().entries.clone()
    }

    pub(crate) fn count(&self, method: &str, pattern: &str) -> usize {
        self.lock().entries.iter().filter(|entry| entry.fits(method, pattern)).count()
    }

    pub(crate) fn clear(&self) {
        let mut log = self.lock();
        log.forgotten += log.entries.len();
        log.entries.clear();
    }

    pub(crate) fn mark(&self) -> Mark {
        let log = self.lock();
        Mark(log.forgotten + log.entries.len())
    }

    pub(crate) fn since(&self, mark: Mark) -> Vec<Recorded> {
        let log = self.lock();
        log.entries.iter().skip(mark.0.saturating_sub(log.forgotten)).cloned().collect()
    }

    pub(crate) fn traffic_since(&self, mark: Mark) -> Traffic {
        let mut traffic = Traffic::default();
        for entry in self.since(mark) {
            traffic.requests += 1;
            traffic.received += entry.received;
            traffic.sent += entry.answered;
            *traffic.methods.entry(entry.method).or_default() += 1;
        }
        traffic
    }
}
