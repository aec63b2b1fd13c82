//! Numbers: IEEE doubles that remember how they were written.

use std::fmt;
use std::sync::Arc;

/// A number of a property.
///
/// The value is a double, as everywhere in Pulumi. A number that was read from a file keeps its digits until it is
/// replaces it, so integers above 2^53 survive a round trip.
///
/// ```
/// use groundstate_pulumi_snapshot::Number;
///
/// let number = Number::parse("9007199254740993")?;
/// assert_eq!(number.value(), 9007199254740992.0);
/// assert_eq!(number.to_string(), "9007199254740993");
/// assert_eq!(Number::new(1e21).to_string(), "1e+21");
/// # Ok::<(), groundstate_pulumi_snapshot::NumberError>(())
/// ```
#[derive(Clone)]
pub struct Number {
    value: f64,
    /// The text, where it is not the one that the value is written as.
    literal: Option<Arc<str>>,
}

/// A text that is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a number as JSON writes it")]
pub struct NumberError;

impl Number {
    /// A number of this value.
    pub fn new(value: f64) -> Self {
        Self { value, literal: None }
    }

    /// Reads a JSON number. What is beyond the range of a double counts as infinite and keeps its text.
    ///
    /// # Errors
    ///
    /// The text is not a number of JSON.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let is_json = text.ends_with(|c: char| c.is_ascii_digit())
            && text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            && groundstate_json::RawJson::parse(text).is_ok_and(|raw| raw.as_str() == text);
        let value: f64 =
            if is_json { text.parse().map_err(|_| NumberError)? } else { return Err(NumberError) };
        let literal = (!value.is_finite() || Self::format(value) != text).then(|| text.into());
        Ok(Self { value, literal })
    }

    /// The number as Pulumi holds it, a double.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The text it was read as, where that differs from the text its value is written as.
    pub fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// A finite value as Go writes it in JSON: the shortest digits that read back as the same value, with an exponent below
    /// 1e-6 and from 1e21 on.
    fn format(value: f64) -> String {
        let magnitude = value.abs();
        if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
            return value.to_string();
        }
        let text = format!("{value:e}");
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
            _ => text,
        }
    }

    /// Whether both are the same number: by their digits if both have them, by value otherwise. Not a number equals nothing.
    pub fn is_equal(&self, other: &Self) -> bool {
        match (&self.literal, &other.literal) {
            (Some(own), Some(others)) if own == others => true,
            // Two integers that a double cannot tell apart are told apart by their digits.
            (own, others) if own.is_some() || others.is_some() => {
                self.value == other.value && integer(self) == integer(other)
            }
            _ => self.value == other.value,
        }
    }
}

/// The digits of an integer beyond the range in which doubles are exact.
fn integer(number: &Number) -> Option<String> {
    let exact = number.value.abs() < 9_007_199_254_740_992.0;
    let text = number.to_string();
    (!exact && text.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

impl PartialEq for Number {
    /// Whether both have the same bits and the same text.
    fn eq(&self, other: &Self) -> bool {
        self.value.to_bits() == other.value.to_bits() && self.literal == other.literal
    }
}

impl Eq for Number {}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::new(value)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.literal {
            Some(literal) => f.write_str(literal),
            None if self.value.is_nan() => f.write_str("NaN"),
            None if self.value.is_infinite() => f.write_str(if self.value > 0.0 { "+Inf" } else { "-Inf" }),
            None => f.write_str(&Self::format(self.value)),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_go_writes_them() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1.5, "1.5"),
            (123_456_789.0, "123456789"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.25e22, "-1.25e+22"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (-9.5e-10, "-9.5e-10"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(Number::new(value).to_string(), expected);
            let read = Number::parse(expected).unwrap();
            assert_eq!((read.value().to_bits(), read.literal()), (value.to_bits(), None), "{expected}");
        }
    }

    #[test]
    fn other_spellings_are_kept() {
        for text in ["1.0", "1e3", "-0.0", "9007199254740993", "1e400", "-1E-400", "0.10"] {
            let read = Number::parse(text).unwrap();
            assert_eq!((read.to_string().as_str(), read.literal()), (text, Some(text)));
        }
        for text in ["", "-", "+1", "01", ".5", "1.", "NaN", "inf", "1 ", " 1", "0x1", "1e", "[1]", "\"1\""] {
            assert_eq!(Number::parse(text), Err(NumberError), "{text}");
        }
    }

    #[test]
    fn numbers_are_equal_by_value_unless_their_digits_tell_more() {
        for (left, right, expected) in [
            ("1", "1.0", true),
            ("1e3", "1000", true),
            ("0", "-0", true),
            ("9007199254740992", "9007199254740993", false),
            ("9007199254740993", "9007199254740993", true),
            ("1e400", "1e400", true),
            ("0.5", "0.25", false),
        ] {
            let (left, right) = (Number::parse(left).unwrap(), Number::parse(right).unwrap());
            assert_eq!(left.is_equal(&right), expected, "{left} {right}");
            assert_eq!(right.is_equal(&left), expected, "{right} {left}");
        }
        assert!(!Number::new(f64::NAN).is_equal(&Number::new(f64::NAN)));
        assert_eq!(Number::new(f64::NAN), Number::new(f64::NAN));
    }
}
