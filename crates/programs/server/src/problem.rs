//! Answers that say what is wrong: `application/problem+json`, as RFC 9457 has it.

use axum::response::{IntoResponse, Response};
use groundstate_audit::Outcome;
use groundstate_common::one_line;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, LINK, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// Defines the types with their statuses, URIs and titles.
macro_rules! problem_types {
    ($($(#[doc = $doc:literal])+ $variant:ident = $status:ident, $slug:literal, $title:literal;)+) => {
        /// What kind of problem it is. Clients act on the type; its text never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ProblemType {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ProblemType {
            /// Every type.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The status that it is answered with.
            pub fn status(self) -> StatusCode {
                match self {
                    $(Self::$variant => StatusCode::$status,)+
                }
            }

            /// The URI that tells it from others.
            pub fn uri(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!("urn:groundstate:problem:", $slug),)+
                }
            }

            /// What it is, in a few words.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title,)+
                }
            }
        }
    };
}

problem_types! {
    /// The request itself is wrong: a header, a query, a body. Fix it.
    BadRequest = BAD_REQUEST, "bad-request", "the request is not valid";
    /// A part of the URL is not a name. Fix it.
    InvalidName = BAD_REQUEST, "invalid-name", "the name is not valid";
    /// The body is not what its `Content-MD5` says. Send it again.
    DigestMismatch = BAD_REQUEST, "digest-mismatch", "the body does not have the digest that was sent with it";
    /// There are no credentials, or they are not valid. Give others.
    Unauthenticated = UNAUTHORIZED, "unauthenticated", "the credentials are missing or not valid";
    /// The principal lacks the role. Ask for it.
    Forbidden = FORBIDDEN, "forbidden", "the principal does not have the role that this needs";
    /// There is no such page.
    NoSuchRoute = NOT_FOUND, "no-such-route", "there is nothing at this URL";
    /// There is no such project, state, version, output or lock.
    NotFound = NOT_FOUND, "not-found", "it does not exist";
    /// The URL has other methods.
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method-not-allowed", "the URL does not have this method";
    /// What is stored does not fit the request. Read, do the work again.
    Conflict = CONFLICT, "conflict", "what is stored does not fit the request";
    /// The lock of the writer is not held any more. Do not write; lock, and plan again.
    LockLost = CONFLICT, "lock-lost", "the lock is not held any more";
    /// The policy wants a lock for a write. Lock first.
    LockRequired = CONFLICT, "lock-required", "a write needs a lock";
    /// The content is not what the policy accepts.
    ContentRefused = CONFLICT, "content-refused", "the content is not accepted";
    /// Another holder has the lock. Wait, or ask the holder.
    Locked = LOCKED, "locked", "another holder has the lock";
    /// `If-Match` or `If-None-Match` does not hold. Read, do the work again.
    PreconditionFailed = PRECONDITION_FAILED, "precondition-failed", "the precondition does not hold";
    /// The body takes too long to arrive. Send it again over a better connection.
    RequestTimeout = REQUEST_TIMEOUT, "request-timeout", "the body takes too long to arrive";
    /// The request is for another host, or a page of another site sent it. Use the URL of the server.
    Misdirected = MISDIRECTED_REQUEST, "misdirected", "the request is not for this server";
    /// The body is larger than the limit.
    TooLarge = PAYLOAD_TOO_LARGE, "too-large", "the body is larger than the limit";
    /// The body has an encoding or a type that is not accepted.
    UnsupportedMedia = UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "the body has a type or an encoding that is not accepted";
    /// The content cannot be read as a state: it is encrypted, damaged or of another format.
    Unreadable = UNPROCESSABLE_ENTITY, "unreadable-state", "the state cannot be read";
    /// Too many requests. Wait as long as `Retry-After` says.
    TooManyRequests = TOO_MANY_REQUESTS, "too-many-requests", "there are too many requests";
    /// A defect of the server. Report it.
    Internal = INTERNAL_SERVER_ERROR, "internal", "there is a defect in the server";
    /// The stored content is damaged. Tell an operator, who finds out more by `groundstate store check`.
    Damaged = INTERNAL_SERVER_ERROR, "damaged", "what is stored is damaged";
    /// The store refuses the server, is read-only, or is not the one it was. Tell an operator.
    StoreUnusable = SERVICE_UNAVAILABLE, "store-unusable", "the server cannot use its store";
    /// The store does not answer. Wait as long as `Retry-After` says.
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "the store does not answer";
}

/// How clients may say who they are. Terraform and OpenTofu send Basic.
const CHALLENGES: [&str; 2] =
    [r#"Basic realm="groundstate", charset="UTF-8""#, r#"Bearer realm="groundstate""#];

/// An answer that says what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    kind: ProblemType,
    detail: String,
    retry_after: Option<u64>,
    allow: Option<&'static str>,
    link: Option<HeaderValue>,
}

/// The document of a problem.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemDocument {
    /// A URI for the kind of problem, which never changes.
    #[serde(rename = "type")]
    #[schema(example = "urn:groundstate:problem:not-found")]
    kind: &'static str,
    /// The kind in words.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// What is wrong here, and what to do.
    detail: String,
}

impl Problem {
    /// A problem and what is wrong here: lower case, no full stop, no values of states.
    pub fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        let detail = one_line(&detail.into()).into_owned();
        Self { kind, detail, retry_after: None, allow: None, link: None }
    }

    /// Says after how many seconds the request may succeed.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Says which methods the URL has.
    #[must_use]
    pub fn with_allow(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    /// Says where something else is, as the header `Link` does.
    #[must_use]
    pub(crate) fn with_link(mut self, link: Option<HeaderValue>) -> Self {
        self.link = link;
        self
    }

    /// What kind it is.
    pub fn kind(&self) -> ProblemType {
        self.kind
    }

    /// The outcome that the audit log has for it.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.kind {
            ProblemType::Unauthenticated | ProblemType::Forbidden => Outcome::Denied,
            ProblemType::Internal
            | ProblemType::Damaged
            | ProblemType::StoreUnusable
            | ProblemType::Unavailable => Outcome::Failed,
            _ => Outcome::Refused,
        }
    }

    /// What is wrong here.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.kind.status();
        let document = ProblemDocument {
            kind: self.kind.uri(),
            title: self.kind.title(),
            status: status.as_u16(),
            detail: self.detail.clone(),
        };
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(methods) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(methods));
        }
        if let Some(link) = &self.link {
            headers.insert(LINK, link.clone());
        }
        if self.kind == ProblemType::Unauthenticated {
            for challenge in CHALLENGES {
                headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
            }
        }
        // The kind, for layers that count and record answers.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::response::IntoResponse;
    use http::StatusCode;

    use super::{Problem, ProblemType};

    #[test]
    fn no_two_types_have_the_same_uri() {
        let uris: BTreeSet<_> = ProblemType::ALL.iter().map(|kind| kind.uri()).collect();
        assert_eq!(uris.len(), ProblemType::ALL.len());
    }

    #[test]
    fn only_defects_and_troubles_of_the_store_are_5xx() {
        for kind in ProblemType::ALL {
            let is_5xx = matches!(
                kind,
                ProblemType::Internal
                    | ProblemType::Damaged
                    | ProblemType::StoreUnusable
                    | ProblemType::Unavailable
            );
            assert_eq!(kind.status().is_server_error(), is_5xx, "{kind:?}");
            assert!(kind.status().is_client_error() || is_5xx, "{kind:?}");
        }
    }

    #[test]
    fn a_wait_and_methods_are_in_the_headers() {
        let problem =
            Problem::new(ProblemType::Unavailable, "the store does not answer\u{1b}").with_retry_after(7);
        assert_eq!(problem.detail(), r"the store does not answer\u001b");
        let response = problem.into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()["retry-after"], "7");
        let problem = Problem::new(ProblemType::MethodNotAllowed, "no").with_allow("GET, POST");
        assert_eq!(problem.into_response().headers()["allow"], "GET, POST");
        let problem = Problem::new(ProblemType::Unauthenticated, "there are no credentials");
        assert!(
            problem.into_response().headers()["www-authenticate"].to_str().unwrap().starts_with("Basic ")
        );
    }
}
