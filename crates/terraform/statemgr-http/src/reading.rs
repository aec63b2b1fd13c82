//! Reading: GET, and what its answers are.

use groundstate_common::hex;
use groundstate_statemgr::{ErrorKind, Op, Result, Stored, Version};
use sha2::{Digest, Sha256};

use crate::address::Endpoint;
use crate::exchange::{Outgoing, Reply};
use crate::failure::Unanswered;
use crate::status::{Call, Meaning, meaning};
use crate::store::{HttpStore, Seen, Shared};

/// The version of a state: a digest of its bytes, since the protocol has none.
pub(crate) fn version_of(bytes: &[u8]) -> Version {
    Version::new(&hex(&Sha256::digest(bytes)))
}

impl Shared {
    /// The answer to a read: what is there, or that there is nothing. It is asked again while the server has no time.
    pub(crate) async fn ask(&self, op: Op, call: Call, endpoint: &Endpoint) -> Result<(Meaning, Reply)> {
        let outgoing = Outgoing { call, endpoint, body: None, condition: None };
        let (context, verb) = (self.context(op), endpoint.method.as_str());
        let mut schedule = self.exchange.schedule();
        loop {
            let unanswered = match self.exchange.send(&outgoing).await {
                Ok(reply) => match meaning(call, reply.status) {
                    answer @ (Meaning::Done | Meaning::Absent) => return Ok((answer, reply)),
                    Meaning::Later => Unanswered::Later(reply),
                    Meaning::Refused(kind) => return Err(context.refused(kind, call, verb, &reply)),
                    _ => return Err(context.refused(ErrorKind::Invalid, call, verb, &reply)),
                },
                Err(error) => Unanswered::Failed(error),
            };
            if !unanswered.is_passing() || !schedule.again(unanswered.retry_after()).await {
                let kind = ErrorKind::Unavailable;
                return Err(context.unanswered(kind, verb, &endpoint.url, unanswered, schedule.made));
            }
        }
    }
}

impl HttpStore {
    /// What is stored; zero bytes are nothing. What is seen is remembered.
    pub(crate) async fn fetch(&self, op: Op) -> Result<Option<Stored>> {
        match self.shared.ask(op, Call::Read, &self.shared.endpoints.read).await? {
            (Meaning::Done, reply) => self.stored(op, reply),
            _ => {
                *self.seen() = Some(Seen::Nothing { e_tag: None });
                Ok(None)
            }
        }
    }

    fn stored(&self, op: Op, reply: Reply) -> Result<Option<Stored>> {
        if reply.is_page() {
            let why = "the address answers with a page for browsers and not with a state; check the address, and whether it wants a \
                       login";
            return Err(self.context(op).error(ErrorKind::Invalid).because(why));
        }
        if reply.body.is_empty() {
            *self.seen() = Some(Seen::Nothing { e_tag: reply.e_tag() });
            return Ok(None);
        }
        let version = version_of(&reply.body);
        *self.seen() = Some(Seen::State { version: version.clone(), e_tag: reply.e_tag() });
        Ok(Some(Stored::new(reply.body.into(), version)))
    }
}
