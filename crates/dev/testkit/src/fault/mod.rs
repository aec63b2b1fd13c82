//! Faults: what goes wrong, with which requests, and how often.

mod carry_out;
mod plan;

use std::time::Duration;

use crate::http::Answer;

pub(crate) use carry_out::carry_out;
pub(crate) use plan::Faults;

/// Something that goes wrong with some of the requests.
///
/// A new one hits every request; [`on`](Self::on), [`nth`](Self::nth), [`times`](Self::times) and
/// [`chance`](Self::chance) narrow it down. Of several that are planned, the first that hits a request is carried out;
/// the request counts for all of them.
///
/// ```
/// use groundstate_testkit::Fault;
///
/// // The first lock is taken, and its taker hears of an error.
/// let fault = Fault::after_commit_500().on("PUT", "*.tflock").nth(1);
/// # drop(fault);
/// ```
#[derive(Clone, Debug)]
pub struct Fault {
    pub(crate) kind: Kind,
    method: String,
    pattern: String,
    /// How many requests that fit are let through first.
    skip: u64,
    /// How many of those that follow are hit.
    times: u64,
    chance: f64,
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// An error instead of an answer, and nothing is done.
    Refuse {
        status: u16,
        code: &'static str,
        retry_after: Option<u64>,
    },
    /// An error instead of the answer, though everything is done.
    ErrorAfter {
        status: u16,
        code: &'static str,
    },
    Instead(Answer),
    DropBefore,
    DropAfter,
    Cut(usize),
    DelayBefore(Duration),
    DelayAfter(Duration),
    Duplicate,
}

impl Fault {
    fn new(kind: Kind) -> Self {
        let everything = "*".to_owned();
        Self { kind, method: everything.clone(), pattern: everything, skip: 0, times: u64::MAX, chance: 1.0 }
    }

    /// The request is carried out, and the answer is 500.
    pub fn after_commit_500() -> Self {
        Self::after_commit(500, "InternalError")
    }

    /// The request is carried out, and the answer has this status and this code of an error.
    pub fn after_commit(status: u16, code: &'static str) -> Self {
        Self::new(Kind::ErrorAfter { status, code })
    }

    /// The request is not carried out, and the answer is 500.
    pub fn before_500() -> Self {
        Self::refuse(500, "InternalError", None)
    }

    /// The answer is this one, and nothing is done: what a hostile server sends.
    pub fn instead(answer: Answer) -> Self {
        Self::new(Kind::Instead(answer))
    }

    /// The connection is closed without an answer, and nothing is done.
    pub fn drop_before() -> Self {
        Self::new(Kind::DropBefore)
    }

    /// The request is carried out, and the connection is closed without an answer.
    pub fn drop_after_commit() -> Self {
        Self::new(Kind::DropAfter)
    }

    /// The request is carried out, and the connection is closed after so many bytes of the answer's body.
    pub fn cut_body(after: usize) -> Self {
        Self::new(Kind::Cut(after))
    }

    /// The request waits before it is carried out. It is carried out even if the client does not wait for it.
    pub fn delay(by: Duration) -> Self {
        Self::new(Kind::DelayBefore(by))
    }

    /// The request is carried out at once, and the answer is late.
    pub fn delay_answer(by: Duration) -> Self {
        Self::new(Kind::DelayAfter(by))
    }

    /// The request is carried out twice, and the second answer is sent.
    pub fn duplicate() -> Self {
        Self::new(Kind::Duplicate)
    }

    /// The answer is 503 with `Retry-After` in seconds, and nothing is done.
    pub fn unavailable(retry_after: u64) -> Self {
        Self::refuse(503, "SlowDown", Some(retry_after))
    }

    /// The answer is 429, and nothing is done.
    pub fn throttle() -> Self {
        Self::refuse(429, "TooManyRequests", None)
    }

    /// The answer is 409 `ConditionalRequestConflict`, which S3 gives to writers that meet; nothing is done.
    pub fn conflict() -> Self {
        Self::refuse(409, "ConditionalRequestConflict", None)
    }

    /// The answer has this status and this code of an error, and nothing is done.
    pub fn refuse(status: u16, code: &'static str, retry_after: Option<u64>) -> Self {
        Self::new(Kind::Refuse { status, code, retry_after })
    }

    /// Only requests with this method, `*` for any, and a path that fits the pattern.
    ///
    /// In the pattern `*` stands for any text. It is compared with the decoded path, which begins with a slash; if it
    /// contains a question mark, with path and query.
    #[must_use]
    pub fn on(mut self, method: &str, pattern: &str) -> Self {
        method.clone_into(&mut self.method);
        pattern.clone_into(&mut self.pattern);
        self
    }

    /// Only the N-th of the requests that fit, counted from 1.
    #[must_use]
    pub fn nth(self, n: u64) -> Self {
        self.after(n.saturating_sub(1)).times(1)
    }

    /// Not the first N of the requests that fit.
    #[must_use]
    pub fn after(mut self, n: u64) -> Self {
        self.skip = n;
        self
    }

    /// Only so many of the requests that fit, then no more.
    #[must_use]
    pub fn times(mut self, n: u64) -> Self {
        self.times = n;
        self
    }

    /// Each of the requests that fit only with this probability, by random numbers that begin at the server's seed.
    #[must_use]
    pub fn chance(mut self, probability: f64) -> Self {
        self.chance = probability;
        self
    }
}

impl Kind {
    /// The name in the log.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Refuse { code, .. } => code,
            Self::ErrorAfter { .. } => "error after commit",
            Self::Instead(_) => "another answer",
            Self::DropBefore => "drop before",
            Self::DropAfter => "drop after commit",
            Self::Cut(_) => "cut body",
            Self::DelayBefore(_) => "delay",
            Self::DelayAfter(_) => "delay answer",
            Self::Duplicate => "duplicate",
        }
    }
}
