//! Decimal numbers of any size, kept as text.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A decimal number without any limit of digits, in the spelling that state files use.
///
/// The spelling is plain decimal without exponent, without superfluous zeros. A zero keeps its sign, as Terraform
/// keeps it: `-0` is a number of its own, just below `0`. A number that was read with an exponent, and that writing
/// it out would blow up to more than [`Number::MAX_EXPANDED`] digits, is spelled `d.ddde+n` instead; it equals the same
/// number written out.
///
/// ```
/// use groundstate_states::Number;
///
/// assert_eq!(Number::parse("1e3")?.as_str(), "1000");
/// assert_eq!(Number::parse("-1.50")?.as_str(), "-1.5");
/// assert!(Number::parse("9")? < Number::parse("10")?);
/// # Ok::<(), groundstate_states::NumberError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Number(Arc<str>);

/// The largest exponent that is read or written.
const MAX_EXPONENT: u64 = 999_999_999_999_999;

/// Text that is not a decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Not digits with an optional sign, fraction and exponent.
    #[error("not a decimal number; write digits with an optional sign, fraction and exponent")]
    Malformed,
    /// An exponent of more than 15 digits.
    #[error("the exponent of the number has more than 15 digits")]
    ExponentTooLarge,
}

impl Number {
    /// How many digits a number may have because an exponent was written out.
    pub const MAX_EXPANDED: usize = 4096;

    /// Reads decimal text: an optional sign, digits with at most one point, an optional exponent.
    ///
    /// # Errors
    /// Anything else, also infinity and NaN, which no state can hold.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], exponent(&unsigned[at + 1..])?),
            None => (unsigned, Some(0)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        if !all_digits || (whole.is_empty() && fraction.is_empty()) {
            return Err(NumberError::Malformed);
        }
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        if significant.is_empty() {
            return Ok(Self(if negative { "-0" } else { "0" }.into()));
        }
        // Only now: zero is zero with any exponent.
        let exponent = exponent.ok_or(NumberError::ExponentTooLarge)?;
        let leading = digits.len() - significant.len();
        let point =
            exponent.saturating_add_unsigned(whole.len() as u64).saturating_sub_unsigned(leading as u64);
        // The exponent behind the first digit is what may be written, so it is held to the same limit.
        if point.saturating_sub(1).unsigned_abs() > MAX_EXPONENT {
            return Err(NumberError::ExponentTooLarge);
        }
        // Digits that were written out stay written out; only an exponent can ask for more than was given.
        let limit = if mantissa.len() == unsigned.len() { i64::MAX } else { Self::MAX_EXPANDED as i64 };
        Ok(Self(spell(negative, significant.trim_end_matches('0'), point, limit).into()))
    }

    /// The canonical text, which is also its JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number as an `i64`, if it is whole and fits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The number as a `u64`, if it is whole and fits.
    #[must_use]
    pub fn to_u64(&self) -> Option<u64> {
        // `-0` is whole, but an unsigned integer is not parsed from it.
        if &*self.0 == "-0" { Some(0) } else { self.0.parse().ok() }
    }

    /// Sign, significant digits and the position of the point before the first of them.
    pub(crate) fn parts(&self) -> Parts {
        let (negative, unsigned) = self.0.strip_prefix('-').map_or((false, &*self.0), |rest| (true, rest));
        let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        let leading = digits.len() - significant.len();
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let point =
            exponent.saturating_add_unsigned(whole.len() as u64).saturating_sub_unsigned(leading as u64);
        Parts { negative, digits: significant.trim_end_matches('0').to_owned(), point }
    }
}

/// A number taken apart: `0.digits × 10^point`.
pub(crate) struct Parts {
    pub(crate) negative: bool,
    /// Neither begins nor ends with zero; empty for the number zero.
    pub(crate) digits: String,
    pub(crate) point: i64,
}

/// The exponent's value; none if it is out of any sensible range.
fn exponent(text: &str) -> Result<Option<i64>, NumberError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberError::Malformed);
    }
    let significant = unsigned.trim_start_matches('0');
    if significant.len() > 15 {
        return Ok(None);
    }
    let magnitude: i64 = if significant.is_empty() { 0 } else { significant.parse().unwrap_or(i64::MAX) };
    Ok(Some(if text.starts_with('-') { -magnitude } else { magnitude }))
}

/// The canonical text of `0.digits × 10^point`, where digits neither begin nor end with zero.
fn spell(negative: bool, digits: &str, point: i64, limit: i64) -> String {
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let padding = if point <= 0 { 1 - point } else { (point - count).max(0) };
    let sign = if negative { "-" } else { "" };
    // A number that is long by its own digits gains nothing from an exponent.
    if padding > 0 && count.saturating_add(padding) > limit {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{dot}{rest}e{:+}", point - 1);
    }
    // Padding is within the limit or was read from here on, and a point inside the digits is below their count.
    let zeros = "0".repeat(usize::try_from(padding).unwrap_or(0));
    match usize::try_from(point) {
        Ok(point) if point > 0 && padding == 0 && point < digits.len() => {
            format!("{sign}{}.{}", &digits[..point], &digits[point..])
        }
        Ok(point) if point > 0 => format!("{sign}{digits}{zeros}"),
        _ => format!("{sign}0.{}{digits}", &zeros[1..]),
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (self.parts(), other.parts());
        let sign = |parts: &Parts| match (parts.digits.is_empty(), parts.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let by_size = || left.point.cmp(&right.point).then_with(|| left.digits.cmp(&right.digits));
        sign(&left).cmp(&sign(&right)).then_with(|| match sign(&left) {
            0 => right.negative.cmp(&left.negative),
            1 => by_size(),
            _ => by_size().reverse(),
        })
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let parts = self.parts();
        (parts.negative, parts.digits, parts.point).hash(state);
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        Self::parse(text)
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self(number.to_string().into())
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(number.to_string().into())
    }
}
