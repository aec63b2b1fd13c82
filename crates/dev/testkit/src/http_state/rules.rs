//! What a test makes of the server: who may ask, and how it words refusals.

use super::flaw::HttpFlaw;
use crate::digest::base64;
use crate::http::{Answer, Request};

#[derive(Default)]
pub(super) struct Rules {
    pub(super) basic: Option<(String, String)>,
    /// The status of a lock that is refused.
    pub(super) held: Option<u16>,
    /// What is sent in place of the holder's document.
    pub(super) holder_text: Option<String>,
    /// Whether changes without the lock are refused.
    pub(super) needs_lock: bool,
    pub(super) denies_empty_unlock: bool,
    pub(super) flaw: Option<HttpFlaw>,
}

impl Rules {
    /// The refusal of a request without the credentials that the rules ask for.
    pub(super) fn check(&self, request: &Request) -> Option<Answer> {
        let (user, password) = self.basic.as_ref()?;
        let expected = format!("Basic {}", base64(format!("{user}:{password}").as_bytes()));
        match request.header("authorization") {
            None => Some(Answer::new(401).header("www-authenticate", "Basic realm=\"states\"")),
            Some(given) => (given != expected).then(|| Answer::new(403)),
        }
    }

    pub(super) fn has(&self, flaw: HttpFlaw) -> bool {
        self.flaw == Some(flaw)
    }
}
