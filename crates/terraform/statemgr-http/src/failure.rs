//! Answers and missing answers as errors that callers act on.

use groundstate_http_client::SendError;
use groundstate_http_client::url::Url;
use groundstate_statemgr::{Error, ErrorKind, LockHolder, Op};

use crate::exchange::{Failed, Reply};
use crate::lock_body::said;
use crate::status::{Call, advice};

/// That a request was not carried out, as far as is known: the server failed, or did not answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    Failed(Failed),
    Later(Reply),
}

impl Unanswered {
    /// Whether what the request asks for may have been done.
    pub(crate) fn may_be_done(&self) -> bool {
        match self {
            Self::Failed(error) => error.was_sent(),
            Self::Later(_) => true,
        }
    }

    /// Whether the same request may be answered later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Failed(error) => error.is_passing(),
            Self::Later(_) => true,
        }
    }

    /// How long the server asks to wait.
    pub(crate) fn retry_after(&self) -> Option<std::time::Duration> {
        match self {
            Self::Failed(_) => None,
            Self::Later(reply) => reply.retry_after(),
        }
    }
}

/// What errors of one state have in common.
pub(crate) struct Context<'a> {
    pub(crate) op: Op,
    pub(crate) target: &'a str,
    /// Texts that a server may send back, and no error shows.
    pub(crate) secrets: &'a [String],
}

impl Context<'_> {
    /// An error of this kind.
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.op, self.target)
    }

    /// The lock is held.
    pub(crate) fn locked(&self, holder: Option<LockHolder>) -> Error {
        Error::locked(self.op, self.target, holder)
    }

    /// `the server answers POST with 409: it is not a state`.
    pub(crate) fn answered(&self, verb: &str, reply: &Reply) -> String {
        let mut text = format!("the server answers {verb} with {}", reply.status);
        if let Some(said) = said(&reply.body) {
            let hidden = |text: String, secret: &String| text.replace(secret.as_str(), "…");
            text.push_str(": ");
            text.push_str(&self.secrets.iter().filter(|secret| !secret.is_empty()).fold(said, hidden));
        }
        text
    }

    /// The error for a refusal that the status explains.
    pub(crate) fn refused(&self, kind: ErrorKind, call: Call, verb: &str, reply: &Reply) -> Error {
        let mut why = self.answered(verb, reply);
        if let Some(advice) = advice(call, reply.status) {
            why.push_str("; ");
            why.push_str(advice);
        }
        self.error(kind).because(why)
    }

    /// The error for a request without an answer, after so many attempts; `kind` where nothing else is known.
    pub(crate) fn unanswered(
        &self,
        kind: ErrorKind,
        verb: &str,
        url: &Url,
        unanswered: Unanswered,
        attempts: u32,
    ) -> Error {
        let mut kind = kind;
        let why = match &unanswered {
            Unanswered::Later(reply) => match reply.retry_after() {
                Some(wait) => {
                    format!("{}, and asks to wait {} s", self.answered(verb, reply), wait.as_secs())
                }
                None => self.answered(verb, reply),
            },
            Unanswered::Failed(Failed::Send(error)) => {
                if matches!(error, SendError::NotSent(_) | SendError::Tls(_) | SendError::Options(_)) {
                    kind = ErrorKind::Invalid;
                } else if matches!(error, SendError::TooLarge(_)) && kind == ErrorKind::Unavailable {
                    // It is as large the next time.
                    kind = ErrorKind::Corrupt;
                }
                said_of(error, url)
            }
            Unanswered::Failed(Failed::Redirect(why)) => {
                kind = ErrorKind::Invalid;
                why.clone()
            }
            Unanswered::Failed(error @ Failed::Damaged(_)) => {
                kind = ErrorKind::Corrupt;
                error.to_string()
            }
        };
        let error = self.error(kind).because(match attempts {
            0 | 1 => why,
            attempts => format!("{why} (after {attempts} attempts)"),
        });
        match unanswered {
            Unanswered::Failed(Failed::Send(cause)) => error.with_source(cause),
            _ => error,
        }
    }
}

/// What a missing answer means, and what to change.
fn said_of(error: &SendError, url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match error {
        SendError::NotSent(why) => why.to_string(),
        SendError::Connect(_) => {
            format!("no connection to {host} can be made; check the network and the address")
        }
        SendError::Tls(_) => format!(
            "the TLS handshake with {host} failed; check the address, and the authority in `client_ca_certificate_pem`"
        ),
        SendError::TooLarge(why) => format!(
            "{why}; if it is a state of that size, set the option `max_state_size` or the variable GROUNDSTATE_MAX_STATE_SIZE"
        ),
        SendError::Deadline(why) => format!(
            "{why}; if the line is that slow, set the option `request_timeout` or the variable GROUNDSTATE_REQUEST_TIMEOUT"
        ),
        SendError::Options(_) => "no client can be made with the certificates".to_owned(),
        _ => "the answer did not arrive whole".to_owned(),
    }
}
