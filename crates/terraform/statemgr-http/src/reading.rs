//! Reading: GET, and what its answers are.

use groundstate_statemgr::{ErrorKind, Op, Result, Stored, Version};
use sha2::{Digest, Sha256};

use crate::exchange::{Outgoing, Reply};
use crate::failure::Unanswered;
use crate::status::{Call, Meaning, meaning};
use crate::store::{HttpStore, Seen};

/// The version of a state: a digest of its bytes, since the protocol has none.
pub(crate) fn version_of(bytes: &[u8]) -> Version {
    let digest = Sha256::digest(bytes);
    Version::new(&digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

impl HttpStore {
    /// What is stored; zero bytes are nothing. What is seen is remembered.
    pub(crate) async fn fetch(&self, op: Op) -> Result<Option<Stored>> {
        let endpoint = &self.shared.endpoints.read;
        let outgoing = Outgoing { call: Call::Read, endpoint, body: None, condition: None };
        let context = self.context(op);
        let mut schedule = self.shared.exchange.schedule();
        loop {
            let unanswered = match self.shared.exchange.send(&outgoing).await {
                Ok(reply) => match meaning(Call::Read, reply.status) {
                    Meaning::Done => return self.stored(op, reply),
                    Meaning::Absent => {
                        *self.seen() = Some(Seen::Nothing { e_tag: None });
                        return Ok(None);
                    }
                    Meaning::Later => Unanswered::Later(reply),
                    Meaning::Refused(kind) => {
                        return Err(context.refused(kind, Call::Read, endpoint.method.as_str(), &reply));
                    }
                    _ => {
                        return Err(context.refused(
                            ErrorKind::Invalid,
                            Call::Read,
                            endpoint.method.as_str(),
                            &reply,
                        ));
                    }
                },
                Err(error) => Unanswered::Failed(error),
            };
            if !unanswered.is_passing() || !schedule.again(unanswered.retry_after()).await {
                let (verb, url) = (endpoint.method.as_str(), &endpoint.url);
                return Err(context.unanswered(ErrorKind::Unavailable, verb, url, unanswered, schedule.made));
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
