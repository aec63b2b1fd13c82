//! Errors of the store as answers: one place that maps kinds to problems.

use groundstate_versioned::{Error, ErrorKind};
use tracing::{error, warn};

use crate::problem::{Problem, ProblemType};

/// How long to wait before the next attempt, in seconds, where the store does not say.
const RETRY_AFTER: u64 = 2;

/// The answer to what the store did not do. The log has the causes; the answer does not name places that only operators know.
pub(crate) fn store_problem(failed: &Error) -> Problem {
    let wait = failed.retry_after().map_or(RETRY_AFTER, |wait| wait.as_secs().max(1));
    let (kind, detail) = match failed.kind() {
        ErrorKind::NotKept => (ProblemType::NotFound, "the history does not have this version"),
        ErrorKind::TooLarge => (ProblemType::TooLarge, "it is larger than the store takes"),
        ErrorKind::Invalid => (ProblemType::BadRequest, "the store does not take it"),
        ErrorKind::Expired => (ProblemType::Conflict, "the upload took too long; send it again"),
        ErrorKind::Busy => {
            (ProblemType::Unavailable, "other clients change the state all the time; try again")
        }
        ErrorKind::Ambiguous => {
            (ProblemType::Unavailable, "the store did not say whether it happened; try again")
        }
        ErrorKind::Throttled | ErrorKind::Unavailable => {
            (ProblemType::Unavailable, "the store does not answer; try again")
        }
        ErrorKind::NoContainer => (
            ProblemType::StoreUnusable,
            "the store of the server is not there; the log of the server says more",
        ),
        ErrorKind::Denied => (
            ProblemType::StoreUnusable,
            "the store of the server refuses it, or is read-only; the log of the server says which",
        ),
        ErrorKind::Corrupt => (ProblemType::Damaged, "see `groundstate store check`"),
        _ => (ProblemType::Internal, "the server failed; the log of the server says why"),
    };
    let cause = std::error::Error::source(failed).map(ToString::to_string).unwrap_or_default();
    match kind {
        ProblemType::Internal | ProblemType::Damaged | ProblemType::StoreUnusable => {
            error!(error = %failed, cause, "the store failed")
        }
        _ => warn!(error = %failed, cause, "the store did not do it"),
    }
    let detail = match kind {
        // These say what is wrong with the request, and which version is meant.
        ProblemType::NotFound | ProblemType::TooLarge | ProblemType::BadRequest => {
            format!("{detail}: {}", failed.reason())
        }
        // The reason names parts of the document, and no place.
        ProblemType::Damaged => format!("{}; {detail}", failed.reason()),
        _ => detail.to_owned(),
    };
    let problem = Problem::new(kind, detail);
    if kind == ProblemType::Unavailable { problem.with_retry_after(wait) } else { problem }
}
