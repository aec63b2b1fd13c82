//! Number literals in brackets, as whole numbers.

/// Why a number literal is not an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotAnIndex {
    Fraction,
    TooLarge,
}

/// Length in bytes of the number literal at the start of `bytes`: digits, then a fraction, then an exponent.
pub(super) fn number_len(bytes: &[u8]) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut len = digits(0);
    if len == 0 {
        return 0;
    }
    if bytes.get(len) == Some(&b'.') {
        let fraction = digits(len + 1);
        if fraction > 0 {
            len += 1 + fraction;
        }
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(len + 1 + sign);
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    len
}

/// The value of a literal that `number_len` delimited, if it is whole and at most `i64::MAX`.
///
/// Works on the decimal digits, so that no exponent, however large, costs anything.
pub(super) fn whole_number(literal: &str) -> Result<u64, NotAnIndex> {
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    let count = whole.len() + fraction.len();
    let leading = digits().take_while(|b| *b == b'0').count();
    if leading == count {
        return Ok(0);
    }
    let trailing = digits().rev().take_while(|b| *b == b'0').count();
    // How many zeros follow the last digit that is not zero, counted up to the decimal point.
    let zeros = exponent_value(exponent) + (trailing as i128) - (fraction.len() as i128);
    if zeros < 0 {
        return Err(NotAnIndex::Fraction);
    }
    let significant = count - leading - trailing;
    if zeros + (significant as i128) > 19 {
        return Err(NotAnIndex::TooLarge);
    }
    let value = digits()
        .skip(leading)
        .take(significant)
        .chain(std::iter::repeat_n(b'0', zeros as usize))
        .fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0'));
    if value > i64::MAX as u64 { Err(NotAnIndex::TooLarge) } else { Ok(value) }
}

/// The exponent, held within bounds that no length of text can make up for.
fn exponent_value(text: &str) -> i128 {
    const BOUND: i128 = 1 << 100;
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let size = digits.iter().fold(0_i128, |n, b| (n * 10 + i128::from(b - b'0')).min(BOUND));
    if negative { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_numbers_in_every_spelling() {
        let huge_zero = format!("0.{}e{}", "0".repeat(500), "9".repeat(500));
        let cases = [
            ("0", 0),
            ("007", 7),
            ("1e3", 1000),
            ("1.0", 1),
            ("1.50E+1", 15),
            ("1200e-2", 12),
            ("0.0012e4", 12),
            ("0e999999999999999999999999999999999999999999", 0),
            ("9223372036854775807", i64::MAX as u64),
            ("9223372036854775807000e-3", i64::MAX as u64),
            (huge_zero.as_str(), 0),
        ];
        for (text, value) in cases {
            assert_eq!(number_len(text.as_bytes()), text.len(), "{text}");
            assert_eq!(whole_number(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn refuses_fractions_and_numbers_beyond_63_bits_at_no_cost() {
        let long = "9".repeat(500);
        let cases = [
            ("1.5".to_owned(), NotAnIndex::Fraction),
            ("1e-1".to_owned(), NotAnIndex::Fraction),
            (format!("1e-{long}"), NotAnIndex::Fraction),
            ("9223372036854775808".to_owned(), NotAnIndex::TooLarge),
            ("99999999999999999999".to_owned(), NotAnIndex::TooLarge),
            (format!("1e{long}"), NotAnIndex::TooLarge),
        ];
        for (text, problem) in cases {
            assert_eq!(number_len(text.as_bytes()), text.len(), "{text}");
            assert_eq!(whole_number(&text), Err(problem), "{text}");
        }
    }

    #[test]
    fn a_literal_ends_before_what_does_not_belong_to_it() {
        for (text, len) in
            [("1.", 1), ("1.x", 1), ("1e", 1), ("1e+", 1), ("1_0", 1), ("0x10", 1), ("-1", 0), ("1.2.3", 3)]
        {
            assert_eq!(number_len(text.as_bytes()), len, "{text}");
        }
    }
}
