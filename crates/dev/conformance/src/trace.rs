//! A client whose calls are written down, so that a failure shows what led to it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_statemgr::{
    Capabilities, Error, Expect, LockGrant, LockHolder, LockId, LockInfo, Result, StateStore, Stored,
    Version, WriteOptions,
};

use crate::failure::{describe_bytes, describe_stored};

/// So many calls are shown.
const SHOWN: usize = 40;

/// The last calls of a case.
#[derive(Debug, Default)]
pub(crate) struct Trace(Mutex<VecDeque<(String, usize)>>);

impl Trace {
    pub(crate) fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, times)) = lines.back_mut()
            && *last == line
        {
            *times += 1;
            return;
        }
        if lines.len() == SHOWN {
            lines.pop_front();
        }
        lines.push_back((line, 1));
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let show = |(line, times): &(String, usize)| match times {
            1 => line.clone(),
            _ => format!("{line} ({times} times)"),
        };
        lines.iter().map(show).collect()
    }
}

/// A client with a name.
pub(crate) struct Traced {
    pub(crate) store: Arc<dyn StateStore>,
    pub(crate) name: String,
    pub(crate) trace: Arc<Trace>,
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Traced {
    /// Writes the call down when its answer has come, and also when it is dropped before that.
    fn call(&self, call: String) -> Open<'_> {
        Open { client: self, call: Some(call) }
    }
}

/// A call without an answer.
struct Open<'a> {
    client: &'a Traced,
    call: Option<String>,
}

impl Open<'_> {
    fn answered<T>(mut self, outcome: Result<T>, show: impl FnOnce(&T) -> String) -> Result<T> {
        let answer = match &outcome {
            Ok(value) => show(value),
            Err(error) => format!("{:?}{}", error.kind(), details(error)),
        };
        self.note(&answer);
        outcome
    }

    fn note(&mut self, answer: &str) {
        if let Some(call) = self.call.take() {
            self.client.trace.push(format!("{} {call} -> {answer}", self.client.name));
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.note("given up");
    }
}

fn details(error: &Error) -> String {
    match (error.holder(), error.mismatch()) {
        (Some(holder), _) => format!(" (held under {:?})", holder.id.as_str()),
        (None, Some((expected, found))) => format!(" (expected {expected}, found {found})"),
        (None, None) => String::new(),
    }
}

fn options_text(options: &WriteOptions) -> String {
    let mut text = match &options.expect {
        Expect::Any => String::new(),
        expect => format!(" expecting {expect}"),
    };
    if let Some(token) = options.fence {
        text.push_str(&format!(" with token {token}"));
    }
    if options.force {
        text.push_str(" by force");
    }
    text
}

fn grant_text(grant: &LockGrant) -> String {
    let mut text = format!("lock {:?}", grant.id.as_str());
    if let Some(token) = grant.fence {
        text.push_str(&format!(" with token {token}"));
    }
    if let Some(end) = grant.expires {
        text.push_str(&format!(" until {end}"));
    }
    text
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for Traced {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn lock_name(&self) -> String {
        self.store.lock_name()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        let call = self.call("read".to_owned());
        call.answered(self.store.read().await, |stored| describe_stored(stored.as_ref()))
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        let call = self.call(format!("write {}{}", describe_bytes(&bytes), options_text(options)));
        call.answered(self.store.write(bytes, options).await, |version| format!("version {version}"))
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        let call = self.call(format!("delete{}", options_text(options)));
        call.answered(self.store.delete(options).await, |()| "done".to_owned())
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        let call = self.call(format!("lock as {:?}", info.id.as_str()));
        call.answered(self.store.lock(info).await, grant_text)
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        let call = self.call(format!("renew {:?}", id.as_str()));
        call.answered(self.store.renew(id).await, grant_text)
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        let call = self.call(format!("unlock {:?}", id.as_str()));
        call.answered(self.store.unlock(id).await, |()| "done".to_owned())
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        let call = self.call(format!("force_unlock {:?}", id.as_str()));
        call.answered(self.store.force_unlock(id).await, |()| "done".to_owned())
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        let call = self.call("lock_holder".to_owned());
        call.answered(self.store.lock_holder().await, |holder| {
            holder.as_ref().map_or("no client".to_owned(), |holder| format!("{:?}", holder.id.as_str()))
        })
    }
}
