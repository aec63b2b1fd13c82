//! Writing and deleting: what is sent is never sent again before what is stored has been looked at.

use bytes::Bytes;
use groundstate_http_client::http::HeaderValue;
use groundstate_http_client::http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use groundstate_statemgr::{Error, ErrorKind, Expect, LockHolder, LockId, Op, Result, Version, WriteOptions};

use crate::address::Endpoint;
use crate::exchange::{Outgoing, Reply};
use crate::failure::Unanswered;
use crate::lock_body::{holder_in, is_lock_lost};
use crate::reading::version_of;
use crate::status::{Call, Meaning, meaning};
use crate::store::{HttpStore, Seen};

/// A write or a deletion, and what it is to leave behind.
struct Change<'a> {
    op: Op,
    call: Call,
    endpoint: Endpoint,
    /// The lock that it is made under.
    under: Option<LockId>,
    /// The bytes to store; nothing for a deletion.
    body: Option<Bytes>,
    expect: &'a Expect,
}

/// What is stored after a change whose answer got lost.
enum Outcome {
    /// What the change was to leave.
    Made,
    /// What was there before.
    NotMade,
    /// Something else, or nothing.
    Other(Option<Version>),
}

impl Change<'_> {
    fn version(&self) -> Option<Version> {
        self.body.as_ref().map(|body| version_of(body))
    }

    fn verb(&self) -> &str {
        self.endpoint.method.as_str()
    }
}

impl HttpStore {
    pub(crate) async fn put(&self, body: Bytes, options: &WriteOptions) -> Result<Version> {
        self.check_options(Op::Write, options)?;
        if body.is_empty() {
            let why = "a state of zero bytes is none, delete it instead";
            return Err(Error::new(ErrorKind::Invalid, Op::Write, self).because(why));
        }
        let version = version_of(&body);
        let change = self.change(Op::Write, Call::Write, Some(body), &options.expect);
        let reply = self.make(&change).await?;
        *self.seen() =
            Some(Seen::State { version: version.clone(), e_tag: reply.and_then(|reply| reply.e_tag()) });
        Ok(version)
    }

    pub(crate) async fn remove(&self, options: &WriteOptions) -> Result<()> {
        self.check_options(Op::Delete, options)?;
        if options.expect == Expect::Absent {
            return match self.fetch(Op::Delete).await? {
                None => Ok(()),
                Some(stored) => Err(self.conflict(Op::Delete, &options.expect, Some(&stored.version))),
            };
        }
        let change = self.change(Op::Delete, Call::Delete, None, &options.expect);
        self.make(&change).await?;
        *self.seen() = Some(Seen::Nothing { e_tag: None });
        Ok(())
    }

    fn change<'a>(&self, op: Op, call: Call, body: Option<Bytes>, expect: &'a Expect) -> Change<'a> {
        let endpoints = &self.shared.endpoints;
        let endpoint = if call == Call::Write { &endpoints.write } else { &endpoints.delete };
        let under = self.held().as_ref().map(|held| held.id.clone());
        Change { op, call, endpoint: endpoint.under(under.as_ref()), under, body, expect }
    }

    /// Carries a change out, and gives the answer if there was one.
    async fn make(&self, change: &Change<'_>) -> Result<Option<Reply>> {
        let reply = self.attempt(change).await?;
        if let Some(held) = &mut *self.held() {
            held.is_proven |= change.under.as_ref() == Some(&held.id);
        }
        Ok(reply)
    }

    /// The same. After an answer that got lost, what is stored decides.
    async fn attempt(&self, change: &Change<'_>) -> Result<Option<Reply>> {
        let exchange = &self.shared.exchange;
        let mut condition = self.condition(change).await?;
        let before = match change.expect {
            Expect::Any => self.seen().as_ref().map(|seen| seen.version().cloned()),
            Expect::Absent => Some(None),
            Expect::Version(version) => Some(Some(version.clone())),
        };
        let mut schedule = exchange.schedule();
        let (mut is_doubtful, mut is_renewed) = (false, false);
        loop {
            let outgoing = Outgoing {
                call: change.call,
                endpoint: &change.endpoint,
                body: change.body.as_ref(),
                condition: condition.clone(),
            };
            let unanswered = match exchange.send(&outgoing).await {
                Ok(reply) => match meaning(change.call, reply.status) {
                    Meaning::Done => return Ok(Some(reply)),
                    // What a version names is not there any more.
                    Meaning::Absent if !is_doubtful && matches!(change.expect, Expect::Version(_)) => {
                        return Err(self.conflict(change.op, change.expect, None));
                    }
                    Meaning::Absent => return Ok(Some(reply)),
                    Meaning::Later | Meaning::Unclear => Unanswered::Later(reply),
                    Meaning::Conflict if reply.status == 412 && condition.is_some() => {
                        match self.unmet(change, is_doubtful, is_renewed).await? {
                            None => return Ok(None),
                            // The same content has another mark by now.
                            renewed => (condition, is_renewed) = (renewed, true),
                        }
                        continue;
                    }
                    // The request before this one may have been carried out.
                    _ if is_doubtful && matches!(self.outcome(change, None).await, Ok(Outcome::Made)) => {
                        return Ok(None);
                    }
                    other => return Err(self.refused_change(change, other, &reply)),
                },
                Err(error) => Unanswered::Failed(error),
            };
            let may_be_made = unanswered.may_be_done();
            is_doubtful |= may_be_made;
            let is_unclear = matches!(&unanswered, Unanswered::Later(reply) if reply.status < 300);
            if may_be_made {
                match self.outcome(change, before.as_ref()).await {
                    Ok(Outcome::Made) => return Ok(None),
                    Ok(Outcome::NotMade) => {}
                    Ok(Outcome::Other(found)) => return Err(self.overtaken(change, before.as_ref(), found)),
                    Err(error) => {
                        return Err(self.doubtful(change, unanswered, schedule.made).with_source(error));
                    }
                }
            }
            if is_unclear || !unanswered.is_passing() || !schedule.again(unanswered.retry_after()).await {
                // A server that answers has decided; a request without an answer may still arrive.
                let is_decided = matches!(unanswered, Unanswered::Later(_)) || !is_doubtful;
                let kind = if is_decided { ErrorKind::Unavailable } else { ErrorKind::Ambiguous };
                let (verb, url) = (change.verb(), &change.endpoint.url);
                return Err(self.context(change.op).unanswered(kind, verb, url, unanswered, schedule.made));
            }
        }
    }

    /// What a change expects, as a header.
    async fn condition(&self, change: &Change<'_>) -> Result<Option<(HeaderName, HeaderValue)>> {
        match change.expect {
            Expect::Any => Ok(None),
            Expect::Absent => Ok(Some((IF_NONE_MATCH, HeaderValue::from_static("*")))),
            Expect::Version(version) => {
                let known = match &*self.seen() {
                    Some(Seen::State { version: seen, e_tag: Some(e_tag) }) if seen == version => {
                        Some(e_tag.clone())
                    }
                    _ => None,
                };
                let e_tag = match known {
                    Some(e_tag) => e_tag,
                    None => self.mark_of(change, version).await?,
                };
                Ok(Some((IF_MATCH, e_tag)))
            }
        }
    }

    /// The server's mark of a version, if that is what is stored.
    async fn mark_of(&self, change: &Change<'_>, version: &Version) -> Result<HeaderValue> {
        let stored = self.fetch(change.op).await?.map(|stored| stored.version);
        if stored.as_ref() != Some(version) {
            return Err(self.conflict(change.op, change.expect, stored.as_ref()));
        }
        match &*self.seen() {
            Some(Seen::State { e_tag: Some(e_tag), .. }) => Ok(e_tag.clone()),
            _ => {
                let why = "the server sends no ETag, so it cannot be told what to expect; leave `conditional_write` off";
                Err(Error::unsupported(change.op, self).because(why))
            }
        }
    }

    /// After a condition that did not hold: nothing where the change turns out to be made, and another condition where the
    /// content is still the expected one.
    async fn unmet(
        &self,
        change: &Change<'_>,
        is_doubtful: bool,
        is_renewed: bool,
    ) -> Result<Option<(HeaderName, HeaderValue)>> {
        let stored = self.fetch(change.op).await?.map(|stored| stored.version);
        if is_doubtful && stored == change.version() {
            return Ok(None);
        }
        match change.expect {
            Expect::Version(version) if stored.as_ref() == Some(version) && !is_renewed => {
                self.condition(change).await
            }
            // Zero bytes are nothing here, and something to the server.
            Expect::Absent if stored.is_none() && !is_renewed => match &*self.seen() {
                Some(Seen::Nothing { e_tag: Some(e_tag) }) => Ok(Some((IF_MATCH, e_tag.clone()))),
                _ => Ok(Some((IF_NONE_MATCH, HeaderValue::from_static("*")))),
            },
            _ => Err(self.conflict(change.op, change.expect, stored.as_ref())),
        }
    }

    /// What came of a change: what is stored is compared with what it was to leave, and with what was there before.
    async fn outcome(&self, change: &Change<'_>, before: Option<&Option<Version>>) -> Result<Outcome> {
        let stored = self.fetch(change.op).await?.map(|stored| stored.version);
        Ok(match stored {
            stored if stored == change.version() => Outcome::Made,
            stored if before == Some(&stored) => Outcome::NotMade,
            // A deletion can be repeated whatever is there, unless it names a version.
            _ if change.body.is_none() && *change.expect == Expect::Any => Outcome::NotMade,
            stored => Outcome::Other(stored),
        })
    }

    fn conflict(&self, op: Op, expect: &Expect, found: Option<&Version>) -> Error {
        let found = found.map_or_else(|| "nothing".to_owned(), |version| format!("version {version}"));
        Error::conflict(op, self, expect, found)
    }

    /// Something is stored that is neither what was sent nor what was there before.
    fn overtaken(
        &self,
        change: &Change<'_>,
        before: Option<&Option<Version>>,
        found: Option<Version>,
    ) -> Error {
        match before {
            Some(before) => {
                let expect = before.clone().map_or(Expect::Absent, Expect::Version);
                let why = "the answer got lost, and something else is stored by now";
                self.conflict(change.op, &expect, found.as_ref()).because(why)
            }
            None => {
                let why = "the answer got lost, and what was stored before is not known";
                Error::new(ErrorKind::Ambiguous, change.op, self).because(why)
            }
        }
    }

    fn doubtful(&self, change: &Change<'_>, unanswered: Unanswered, attempts: u32) -> Error {
        let (verb, url) = (change.verb(), &change.endpoint.url);
        let context = self.context(change.op);
        let error = context.unanswered(ErrorKind::Ambiguous, verb, url, unanswered, attempts);
        let why = format!("{}, and the state cannot be read either", error.message());
        Error::new(ErrorKind::Ambiguous, change.op, self).because(why)
    }

    /// The error for a change that the server refuses.
    fn refused_change(&self, change: &Change<'_>, meaning: Meaning, reply: &Reply) -> Error {
        let context = self.context(change.op);
        let holder = holder_in(&reply.body);
        let lost = |held_by: Option<LockHolder>| {
            let now = held_by.map_or_else(String::new, |holder| format!(", and is held by {holder}"));
            let why = format!("the lock was released by another client while it was held{now}");
            context.error(ErrorKind::LockLost).because(why)
        };
        match (meaning, &change.under, holder) {
            (Meaning::Held | Meaning::Conflict, Some(own), Some(info)) if info.id != *own => {
                lost(Some(LockHolder::of(info)))
            }
            (Meaning::Held | Meaning::Conflict, None, Some(info)) => {
                context.locked(Some(LockHolder::of(info)))
            }
            (Meaning::Held, Some(_), None) => lost(None),
            (Meaning::Conflict, Some(_), None) if is_lock_lost(&reply.body) => lost(None),
            (Meaning::Held, None, None) => context.locked(None),
            (Meaning::Refused(kind), ..) => context.refused(kind, change.call, change.verb(), reply),
            _ => context.error(ErrorKind::Conflict).because(context.answered(change.verb(), reply)),
        }
    }
}
