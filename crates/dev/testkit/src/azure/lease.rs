//! A lease of a blob and how it ends.

use std::time::{Duration, Instant};

use super::error::{Refused, Result};

/// A lease that was acquired at some time.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) id: String,
    /// Nothing for a lease that does not end by itself.
    pub(super) duration: Option<Duration>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Until a moment, or for ever.
    Held(Option<Instant>),
    Breaking(Instant),
    Broken,
}

/// What a lease is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Is {
    Leased,
    Breaking,
    Broken,
    Expired,
}

impl Lease {
    pub(super) fn new(id: String, duration: Option<Duration>, now: Instant) -> Self {
        Self { id, duration, phase: Phase::Held(duration.map(|duration| now + duration)) }
    }

    pub(super) fn is(&self, now: Instant) -> Is {
        match self.phase {
            Phase::Held(Some(until)) if until <= now => Is::Expired,
            Phase::Held(_) => Is::Leased,
            Phase::Breaking(until) if until > now => Is::Breaking,
            Phase::Breaking(_) | Phase::Broken => Is::Broken,
        }
    }

    /// The id that writes need.
    pub(super) fn holder(&self, now: Instant) -> Option<&str> {
        matches!(self.is(now), Is::Leased | Is::Breaking).then_some(self.id.as_str())
    }

    pub(super) fn renew(&mut self, now: Instant) {
        self.phase = Phase::Held(self.duration.map(|duration| now + duration));
    }

    /// Ends the lease after this time, and returns how long it still lasts.
    pub(super) fn break_after(&mut self, period: Duration, now: Instant) -> Duration {
        let left = match (self.is(now), self.phase) {
            (Is::Leased, Phase::Held(Some(until))) | (Is::Breaking, Phase::Breaking(until)) => {
                period.min(until.saturating_duration_since(now))
            }
            (Is::Leased, _) => period,
            _ => Duration::ZERO,
        };
        self.phase = if left.is_zero() { Phase::Broken } else { Phase::Breaking(now + left) };
        left
    }
}

/// Refuses a write that does not bring the lease of the blob, or brings one that is not there.
pub(super) fn check_write(lease: Option<&Lease>, given: Option<&str>, now: Instant) -> Result<()> {
    if given.is_none() && lease.is_some_and(|lease| lease.holder(now).is_some()) {
        let message = "There is currently a lease on the blob and no lease ID was specified in the request.";
        return Err(Refused::new(412, "LeaseIdMissing", message));
    }
    check_read(lease, given, now)
}

/// Refuses a read that brings another lease than the blob has; one without a lease is always let through.
pub(super) fn check_read(lease: Option<&Lease>, given: Option<&str>, now: Instant) -> Result<()> {
    let Some(given) = given else { return Ok(()) };
    match lease {
        None => {
            let message = "There is currently no lease on the blob.";
            Err(Refused::new(412, "LeaseNotPresentWithBlobOperation", message))
        }
        Some(lease) if !lease.id.eq_ignore_ascii_case(given) => {
            let message = "The lease ID specified did not match the lease ID for the blob.";
            Err(Refused::new(412, "LeaseIdMismatchWithBlobOperation", message))
        }
        Some(lease) if lease.holder(now).is_none() => {
            let message = "A lease ID was specified, but the lease for the blob has expired.";
            Err(Refused::new(412, "LeaseLost", message))
        }
        Some(_) => Ok(()),
    }
}
