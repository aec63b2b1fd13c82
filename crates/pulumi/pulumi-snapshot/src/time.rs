//! Times as snapshots write them, with their offset.

use std::fmt;
use std::str::FromStr;

use groundstate_common::{Timestamp, TimestampError};

/// An instant together with the offset it is written in.
///
/// The text has up to nine digits of a fraction without zeros at its end, and `Z` for an offset of zero.
///
/// ```
/// use groundstate_pulumi_snapshot::Time;
///
/// let time = Time::parse("2024-05-06T07:08:09.120+02:00")?;
/// assert_eq!(time.to_string(), "2024-05-06T07:08:09.12+02:00");
/// assert_eq!(time.instant().to_string(), "2024-05-06T05:08:09.12Z");
/// assert_eq!(Time::ZERO.to_string(), "0001-01-01T00:00:00Z");
/// # Ok::<(), groundstate_common::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    // Split up, because a `Timestamp` and an offset beside it take a third more room in every resource.
    seconds: i64,
    nanos: u32,
    offset: i16,
}

impl Time {
    /// The time that stands for none: the first moment of the year 1.
    pub const ZERO: Self = Self { seconds: -62_135_596_800, nanos: 0, offset: 0 };

    /// The instant in UTC.
    pub fn utc(instant: Timestamp) -> Self {
        Self { seconds: instant.seconds(), nanos: instant.nanos(), offset: 0 }
    }

    /// Reads an RFC 3339 text. Of a fraction, nine digits count.
    ///
    /// # Errors
    ///
    /// The text has another form, or lies outside the years 0000 to 9999.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        let instant = match long_fraction(text) {
            Some((end, rest)) => Timestamp::parse(&format!("{}{}", &text[..end], &text[rest..]))?,
            None => Timestamp::parse(text)?,
        };
        // The text was accepted, so what does not end in a letter ends in a sign, two digits, a colon and two digits.
        let offset = match text.len().checked_sub(6).and_then(|at| text.get(at..)) {
            Some(zone) if zone.starts_with(['+', '-']) => {
                let number = |from: usize| zone.get(from..from + 2).and_then(|two| two.parse::<i16>().ok());
                let minutes = number(1).unwrap_or(0) * 60 + number(4).unwrap_or(0);
                if zone.starts_with('-') { -minutes } else { minutes }
            }
            _ => 0,
        };
        Ok(Self { seconds: instant.seconds(), nanos: instant.nanos(), offset })
    }

    /// The instant, without the offset.
    pub fn instant(&self) -> Timestamp {
        // Both constructors begin with an instant, and nothing changes the parts.
        Timestamp::from_unix(self.seconds, self.nanos).unwrap_or(Timestamp::MIN)
    }
}

/// Where a fraction of more than nine digits is to be cut off, and where it ends.
fn long_fraction(text: &str) -> Option<(usize, usize)> {
    let start = text.find('.')? + 1;
    let digits = text.get(start..)?.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 9).then_some((start + 9, start + digits))
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = Timestamp::from_unix(self.seconds + i64::from(self.offset) * 60, self.nanos);
        let (Ok(local), true) = (local, self.offset != 0) else { return self.instant().fmt(f) };
        let minutes = self.offset.unsigned_abs();
        let sign = if self.offset < 0 { '-' } else { '+' };
        let text = local.to_string();
        let digits = text.trim_end_matches('Z');
        write!(f, "{digits}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Time({self})")
    }
}

impl From<Timestamp> for Time {
    fn from(instant: Timestamp) -> Self {
        Self::utc(instant)
    }
}

impl FromStr for Time {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_the_offset_they_were_read_in() {
        for (text, expected) in [
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("2024-01-31T23:59:59.999999999Z", "2024-01-31T23:59:59.999999999Z"),
            ("2024-01-31T23:59:59.500+05:30", "2024-01-31T23:59:59.5+05:30"),
            ("2024-01-01T00:00:00-08:00", "2024-01-01T00:00:00-08:00"),
            ("2024-01-01T00:00:00+00:00", "2024-01-01T00:00:00Z"),
            ("2024-01-01T00:00:00-00:00", "2024-01-01T00:00:00Z"),
            ("2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00Z"),
            ("2024-01-01T00:00:00.1234567899999Z", "2024-01-01T00:00:00.123456789Z"),
            ("2024-01-01T00:00:00.12345678901234+01:00", "2024-01-01T00:00:00.123456789+01:00"),
            ("0000-01-01T00:00:00-23:59", "0000-01-01T00:00:00-23:59"),
        ] {
            assert_eq!(Time::parse(text).unwrap().to_string(), expected, "{text}");
        }
        assert_eq!(Time::parse("0001-01-01T00:00:00Z").unwrap(), Time::ZERO);
        for text in
            ["", "2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-13-01T00:00:00Z", "é.0"]
        {
            assert!(Time::parse(text).is_err(), "{text}");
        }
    }
}
