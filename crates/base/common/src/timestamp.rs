//! An instant in UTC, to the nanosecond.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::rfc3339;

const NANOS_PER_SECOND: u32 = 1_000_000_000;

/// An instant: seconds and nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// It covers the years 0000 to 9999, so each value has an RFC 3339 text. [`Display`](fmt::Display) writes that text in
/// UTC, with as many fraction digits as are needed and none when there is no fraction, as Go's `RFC3339Nano` does.
///
/// ```
/// use groundstate_common::Timestamp;
///
/// let time = Timestamp::parse("2024-02-29T23:59:59.250-01:00")?;
/// assert_eq!(time.to_string(), "2024-03-01T00:59:59.25Z");
/// assert_eq!(time.nanos(), 250_000_000);
/// # Ok::<(), groundstate_common::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
}

/// Why a [`Timestamp`] cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TimestampError {
    /// The text does not have the RFC 3339 form; `at` is the byte where it departs from it.
    #[error("expected {expected} at byte {at} of the timestamp, as in 2026-01-31T23:59:59.5Z")]
    Malformed {
        /// The byte offset in the text.
        at: usize,
        /// What the form asks for there.
        expected: &'static str,
    },
    /// A part of the text is a number that no date or time has there.
    #[error("the {part} of the timestamp is out of range: {value}")]
    PartOutOfRange {
        /// The name of the part, such as `month`.
        part: &'static str,
        /// The number that was found.
        value: u32,
    },
    /// The instant lies outside the years 0000 to 9999, or has a second's worth of nanoseconds or more.
    #[error("the instant is outside the years 0000 to 9999, give one that RFC 3339 can write")]
    OutOfRange,
}

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self { seconds: 0, nanos: 0 };
    /// 0000-01-01T00:00:00Z, the earliest instant.
    pub const MIN: Self = Self { seconds: -62_167_219_200, nanos: 0 };
    /// 9999-12-31T23:59:59.999999999Z, the latest instant.
    pub const MAX: Self = Self { seconds: 253_402_300_799, nanos: NANOS_PER_SECOND - 1 };

    /// The instant `nanos` nanoseconds after the second `seconds` of the Unix epoch.
    ///
    /// # Errors
    ///
    /// [`TimestampError::OutOfRange`] outside the years 0000 to 9999, or when `nanos` reaches a whole second.
    pub fn from_unix(seconds: i64, nanos: u32) -> Result<Self, TimestampError> {
        let time = Self { seconds, nanos };
        if nanos < NANOS_PER_SECOND && (Self::MIN..=Self::MAX).contains(&time) {
            Ok(time)
        } else {
            Err(TimestampError::OutOfRange)
        }
    }

    /// Reads an RFC 3339 text with any offset, and one to nine fraction digits or none.
    ///
    /// # Errors
    ///
    /// [`TimestampError::Malformed`] or [`TimestampError::PartOutOfRange`] for a text of another form, a leap second
    /// included; [`TimestampError::OutOfRange`] when the offset carries it outside the years 0000 to 9999.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        let (seconds, nanos) = rfc3339::parse(text)?;
        Self::from_unix(seconds, nanos)
    }

    /// Whole seconds since the Unix epoch, rounded down: negative before 1970.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds since [`seconds`](Self::seconds), less than a second's worth.
    pub fn nanos(self) -> u32 {
        self.nanos
    }

    /// The instant `duration` later, or none when it lies beyond the year 9999.
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        let nanos = self.nanos + duration.subsec_nanos();
        let carry = i64::from(nanos / NANOS_PER_SECOND);
        let seconds =
            self.seconds.checked_add(i64::try_from(duration.as_secs()).ok()?)?.checked_add(carry)?;
        Self::from_unix(seconds, nanos % NANOS_PER_SECOND).ok()
    }

    /// The time that passed from `earlier` to this instant, or none when `earlier` is the later of the two.
    pub fn duration_since(self, earlier: Self) -> Option<Duration> {
        if self < earlier {
            return None;
        }
        let borrow = i64::from(self.nanos < earlier.nanos);
        // Both lie within the years 0000 to 9999, so neither the difference nor the sum can overflow.
        let seconds = u64::try_from(self.seconds - earlier.seconds - borrow).ok()?;
        let nanos = (self.nanos + NANOS_PER_SECOND - earlier.nanos) % NANOS_PER_SECOND;
        Some(Duration::new(seconds, nanos))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&rfc3339::format(self.seconds, self.nanos))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Self::parse(text)
    }
}
