//! RFC 3339 text to seconds and nanoseconds since the epoch, and back.

use crate::TimestampError;

const SECONDS_PER_DAY: i64 = 86_400;
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01, where the computation's years begin, to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;

/// Reads the text; the result is not yet held against the range of years.
pub(crate) fn parse(text: &str) -> Result<(i64, u32), TimestampError> {
    let mut cursor = Cursor { bytes: text.as_bytes(), at: 0 };
    let year = cursor.number(4, "year", 0..=9999)?;
    cursor.expect(b"-", "`-`")?;
    let month = cursor.number(2, "month", 1..=12)?;
    cursor.expect(b"-", "`-`")?;
    let day = cursor.number(2, "day", 1..=days_in_month(year, month))?;
    cursor.expect(b"Tt", "`T`")?;
    let hour = cursor.number(2, "hour", 0..=23)?;
    cursor.expect(b":", "`:`")?;
    let minute = cursor.number(2, "minute", 0..=59)?;
    cursor.expect(b":", "`:`")?;
    let second = cursor.number(2, "second", 0..=59)?;
    let nanos = cursor.fraction()?;
    let offset = cursor.offset()?;
    if cursor.at < cursor.bytes.len() {
        return Err(cursor.malformed("the end"));
    }
    let of_day = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    let days = days_from_civil(i64::from(year), i64::from(month), i64::from(day));
    Ok((days * SECONDS_PER_DAY + of_day - offset, nanos))
}

/// Writes the instant in UTC, the fraction without trailing zeros.
pub(crate) fn format(seconds: i64, nanos: u32) -> String {
    let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
    let of_day = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if nanos > 0 {
        text.push_str(format!(".{nanos:09}").trim_end_matches('0'));
    }
    text.push('Z');
    text
}

/// Days from 1970-01-01 to the date. Years begin in March here, so that the leap day is a year's last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_TO_EPOCH
}

/// The date that lies `days` after 1970-01-01: year, month and day.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_EPOCH;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / (DAYS_PER_ERA - 1)) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = (shifted + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

fn days_in_month(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A place in the text that only moves forward.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn malformed(&self, expected: &'static str) -> TimestampError {
        TimestampError::Malformed { at: self.at, expected }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Takes one of the bytes, or fails naming what was expected.
    fn expect(&mut self, any_of: &[u8], expected: &'static str) -> Result<u8, TimestampError> {
        match self.peek() {
            Some(byte) if any_of.contains(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            _ => Err(self.malformed(expected)),
        }
    }

    fn digit(&mut self) -> Option<u32> {
        let byte = self.peek().filter(u8::is_ascii_digit)?;
        self.at += 1;
        Some(u32::from(byte - b'0'))
    }

    /// Takes exactly `digits` digits, at most four, whose value lies in `range`.
    fn number(
        &mut self,
        digits: usize,
        part: &'static str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<u32, TimestampError> {
        let mut value = 0;
        for _ in 0..digits {
            value = value * 10 + self.digit().ok_or_else(|| self.malformed("a digit"))?;
        }
        if range.contains(&value) { Ok(value) } else { Err(TimestampError::PartOutOfRange { part, value }) }
    }

    /// Takes the fraction if there is one, and gives it in nanoseconds.
    fn fraction(&mut self) -> Result<u32, TimestampError> {
        if self.peek() != Some(b'.') {
            return Ok(0);
        }
        self.at += 1;
        let mut nanos = self.digit().ok_or_else(|| self.malformed("a digit"))?;
        let mut digits = 1;
        while let Some(digit) = self.digit() {
            digits += 1;
            if digits > 9 {
                self.at -= 1;
                return Err(self.malformed("at most nine fraction digits"));
            }
            nanos = nanos * 10 + digit;
        }
        Ok(nanos * 10_u32.pow(9 - digits))
    }

    /// Takes `Z` or a numeric offset, and gives it in seconds east of UTC.
    fn offset(&mut self) -> Result<i64, TimestampError> {
        let sign = match self.expect(b"Zz+-", "`Z` or an offset")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Ok(0),
        };
        let hours = self.number(2, "offset hour", 0..=23)?;
        self.expect(b":", "`:`")?;
        let minutes = self.number(2, "offset minute", 0..=59)?;
        Ok(sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
    }
}
