//! What a service says when it refuses, and what that means for the caller.

use std::fmt;
use std::time::Duration;

use groundstate_blobs::{Error, ErrorKind, Op};
use serde::Deserialize;

use super::exchange::{Effect, Reply};
use super::reading::Dialect;

/// More of a message than this is not worth showing.
const LONGEST_MESSAGE: usize = 300;

/// A refusal, as the service words it; without signatures and strings to sign, which some services send back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) region: Option<String>,
    pub(crate) date: Option<String>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    /// The host that a redirect names.
    location: Option<String>,
    /// What Azure adds to refusals of signatures; it has parts of the request and is never shown.
    detail: String,
}

/// What a refusal means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) kind: ErrorKind,
    pub(crate) why: Option<String>,
    pub(crate) step: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Document {
    code: String,
    message: String,
    region: Option<String>,
    request_id: Option<String>,
    authentication_error_detail: String,
    error: Option<Inner>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Inner {
    code: String,
    message: String,
}

impl Failure {
    pub(crate) fn of(reply: &Reply) -> Self {
        let text = String::from_utf8_lossy(&reply.body);
        let document: Document =
            quick_xml::de::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let header = |name| reply.header(name).map(str::to_owned);
        // The service of tokens puts both below another element.
        let (code, message) = match document.error {
            Some(inner) => (inner.code, inner.message),
            None => (document.code, document.message),
        };
        let code = match code {
            code if code.is_empty() => header("x-ms-error-code").unwrap_or_default(),
            code => code,
        };
        let message = message.lines().next().unwrap_or_default();
        Self {
            status: reply.status,
            code,
            message: message.chars().take(LONGEST_MESSAGE).collect(),
            region: document.region.or_else(|| header("x-amz-bucket-region")),
            date: header("date"),
            detail: document.authentication_error_detail,
            retry_after: reply.retry_after(),
            location: header("location")
                .and_then(|text| Some(url::Url::parse(&text).ok()?.host()?.to_string())),
            request_id: document
                .request_id
                .or_else(|| header("x-amz-request-id"))
                .or_else(|| header("x-ms-request-id"))
                .or_else(|| header("x-guploader-uploadid")),
        }
    }

    /// Whether the service says that there is no such blob. A `HEAD` has no body to say so in.
    pub(crate) fn is_missing(&self, dialect: &Dialect) -> bool {
        self.status == 404 && (self.code.is_empty() || self.code == dialect.missing)
    }

    /// Whether the service found the date of the request to be wrong.
    #[cfg(feature = "azure")]
    pub(crate) fn is_about_dates(&self) -> bool {
        [&self.detail, &self.message].into_iter().any(|text| text.to_ascii_lowercase().contains("date"))
    }

    /// What a status means with every service, unless its code says more.
    pub(crate) fn general(&self, effect: Effect) -> Meaning {
        let kind = match (self.status, effect) {
            (304, _) => ErrorKind::NotModified,
            (300..400, _) => return self.redirected(),
            (401, _) => ErrorKind::Unauthenticated,
            (403, _) => ErrorKind::Denied,
            (404, _) => ErrorKind::NotFound,
            (405 | 501, _) => ErrorKind::Unsupported,
            (412, _) => ErrorKind::PreconditionFailed,
            (408 | 429 | 500.., Effect::Change) => ErrorKind::Ambiguous,
            (429, Effect::Read) => ErrorKind::Throttled,
            (408 | 500.., Effect::Read) => ErrorKind::Unavailable,
            (400..500, _) => ErrorKind::Invalid,
            _ => ErrorKind::Internal,
        };
        let why = match kind {
            ErrorKind::Invalid if !self.message.is_empty() => {
                Some(format!("the service says: {}", self.message))
            }
            ErrorKind::Invalid | ErrorKind::Internal => Some(format!("the service answers with {self}")),
            _ => None,
        };
        Meaning { kind, why, step: None }
    }

    /// A redirect, which is not followed: it would take the request, with all that is in it, to another host.
    fn redirected(&self) -> Meaning {
        let host = self.location.as_deref().unwrap_or("another address");
        Meaning::new(
            ErrorKind::Invalid,
            format!("the service redirects to {host}, and redirects are not followed"),
            "correct the address of the service, or the proxy before it",
        )
    }

    /// The error for the caller, with this as its cause.
    pub(crate) fn into_error(self, op: Op, place: &str, meaning: Meaning) -> Error {
        let Meaning { kind, why, step } = meaning;
        let mut error = Error::new(kind, op, place);
        if let Some(why) = why {
            error = error.because(why);
        }
        if let Some(wait) = self.retry_after.filter(|_| matches!(self.status, 408 | 429 | 500..)) {
            let asked = format!("the service asks to wait for {} seconds", wait.as_secs());
            error = error.with_retry_after(wait).next_step(asked);
        }
        if let Some(step) = step {
            error = error.next_step(step);
        }
        error.with_source(self)
    }
}

impl Meaning {
    pub(crate) fn new(kind: ErrorKind, why: impl Into<String>, step: impl Into<String>) -> Self {
        Self { kind, why: Some(why.into()), step: Some(step.into()) }
    }

    /// There is no bucket or container of this name.
    pub(crate) fn no_container(what: &str, name: &str, option: &str) -> Self {
        let why = format!("there is no {what} {name}");
        Self::new(ErrorKind::NotFound, why, format!("create it, or correct the option `{option}`"))
    }

    /// A kind that needs no more words.
    pub(crate) fn plain(kind: ErrorKind) -> Self {
        Self { kind, why: None, step: None }
    }

    /// This machine's clock is wrong; `date` is the service's.
    pub(crate) fn clock_skew(date: Option<&str>) -> Self {
        let why = match date {
            Some(date) => format!("the clock of this machine is wrong, the service has {date}"),
            None => "the clock of this machine is too far from the service's".to_owned(),
        };
        Self::new(ErrorKind::ClockSkew, why, "set the clock of this machine")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.status)?;
        for (before, text) in [(" ", &self.code), (": ", &self.message)] {
            if !text.is_empty() {
                write!(f, "{before}{text}")?;
            }
        }
        match &self.request_id {
            Some(id) => write!(f, " (request {id})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}
