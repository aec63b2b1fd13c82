//! What is refused: a problem, or the document of the lock that is in the way.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use groundstate_audit::Outcome;
use groundstate_versioned::{Error, Lock};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use crate::problem::{Problem, ProblemType};
use crate::store_problem::store_problem;

/// Why a request of the protocol is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    Problem(Problem),
    /// A lock is in the way. The body is its document as its holder sent it, at the top level: Terraform reads it.
    Held {
        status: StatusCode,
        document: Bytes,
        /// The principal that took it.
        by: String,
    },
}

impl Refusal {
    /// The lock of another holder is in the way: 423.
    pub(crate) fn locked(lock: &Lock) -> Self {
        Self::held(StatusCode::LOCKED, lock)
    }

    /// The lock is not the one that was named: 409.
    pub(crate) fn other_lock(lock: &Lock) -> Self {
        Self::held(StatusCode::CONFLICT, lock)
    }

    fn held(status: StatusCode, lock: &Lock) -> Self {
        Self::Held { status, document: lock.document.clone(), by: lock.by.clone() }
    }

    /// The same as a problem, for clients of the JSON API.
    pub(crate) fn into_problem(self) -> Problem {
        match self {
            Self::Problem(problem) => problem,
            Self::Held { by, .. } => Problem::new(ProblemType::Locked, format!("{by} holds the lock")),
        }
    }

    /// Whether there just is nothing.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Problem(problem) if problem.kind() == ProblemType::NotFound)
    }

    /// The outcome for the audit log.
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Held { .. } => Outcome::Refused,
            Self::Problem(problem) => problem.outcome(),
        }
    }

    /// The reason for the audit log.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Held { by, .. } => format!("{by} holds the lock"),
            Self::Problem(problem) => problem.detail().to_owned(),
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Problem(store_problem(&error))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::Held { status, document, by } => {
                let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
                let mut response = (status, headers, document).into_response();
                let detail = format!("{by} holds the lock");
                response.extensions_mut().insert(Problem::new(ProblemType::Locked, detail));
                response
            }
        }
    }
}
