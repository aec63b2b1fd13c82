//! Numbers: one text for each value, and an order that is numeric.

use groundstate_states::{Number, NumberError};
use proptest::prelude::*;

fn number(text: &str) -> Number {
    Number::parse(text).expect(text)
}

#[test]
fn has_one_spelling_for_each_value() {
    let cases = [
        ("0", "0"),
        ("-0", "-0"),
        ("-0.0e7", "-0"),
        ("+0", "0"),
        ("0.000", "0"),
        ("0e999999999999999999999", "0"),
        ("1e3", "1000"),
        ("1E+3", "1000"),
        ("1.50", "1.5"),
        ("-1.50e1", "-15"),
        ("007", "7"),
        ("+7", "7"),
        (".5", "0.5"),
        ("5.", "5"),
        ("12.34e-3", "0.01234"),
        ("0.00120", "0.0012"),
        ("100", "100"),
        ("120e-1", "12"),
        (
            "12345678901234567890123456789.000000000000000000001",
            "12345678901234567890123456789.000000000000000000001",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(number(text).as_str(), expected, "{text}");
    }
}

#[test]
fn does_not_expand_huge_exponents() {
    assert_eq!(number("1e4095").as_str().len(), 4096);
    assert_eq!(number("1e4096").as_str(), "1e+4096");
    assert_eq!(number("-12.5e100000000").as_str(), "-1.25e+100000001");
    assert_eq!(number("1.20e-100000000").as_str(), "1.2e-100000000");
    assert_eq!(number(&("1".to_owned() + &"0".repeat(5000))), number("1e5000"));
    let long = "1".repeat(5000);
    assert_eq!(number(&long).as_str(), long, "nothing is expanded here");
    assert_eq!(Number::parse("1e9999999999999999"), Err(NumberError::ExponentTooLarge));
    // What counts is the exponent that would be written.
    assert_eq!(number("10e999999999999998").as_str(), "1e+999999999999999");
    assert_eq!(Number::parse("10e999999999999999"), Err(NumberError::ExponentTooLarge));
    assert_eq!(Number::parse("0.1e-999999999999999"), Err(NumberError::ExponentTooLarge));
}

#[test]
fn refuses_what_is_not_a_decimal_number() {
    for text in [
        "", "-", ".", "e3", "1e", "1e+", "1.2.3", "0x10", "1_000", "Inf", "-inf", "NaN", " 1", "1 ", "--1",
        "١",
    ] {
        assert_eq!(Number::parse(text), Err(NumberError::Malformed), "{text}");
    }
}

#[test]
fn orders_by_value() {
    let ascending = [
        "-1e5000", "-1e100", "-10", "-9.5", "-9", "-0.5", "-1e-5000", "-0", "0", "1e-5000", "0.05", "0.5",
        "0.51", "9", "10", "100", "100.5", "1e100", "1e4095", "1e5000", "1.5e5000",
    ];
    for (i, left) in ascending.iter().enumerate() {
        for (j, right) in ascending.iter().enumerate() {
            assert_eq!(number(left).cmp(&number(right)), i.cmp(&j), "{left} {right}");
        }
    }
}

#[test]
fn converts_whole_numbers_that_fit() {
    assert_eq!(number("18446744073709551615").to_u64(), Some(u64::MAX));
    assert_eq!((number("-1").to_u64(), number("-1").to_i64()), (None, Some(-1)));
    assert_eq!((number("1.5").to_i64(), number("1e30").to_i64()), (None, None));
    assert_eq!((number("-0").to_u64(), number("-0").to_i64()), (Some(0), Some(0)));
    assert_eq!(Number::from(i64::MIN), number("-9223372036854775808"));
    assert_eq!(Number::from(10_u64), number("1e1"));
}

proptest! {
    #[test]
    fn agrees_with_integers(left: i64, right: i64) {
        prop_assert_eq!(number(&left.to_string()).cmp(&number(&right.to_string())), left.cmp(&right));
        prop_assert_eq!(number(&left.to_string()).to_i64(), Some(left));
    }

    #[test]
    fn the_spelling_is_a_fixed_point(text in "-?[0-9]{1,30}(\\.[0-9]{0,30})?(e[+-]?[0-9]{1,4})?") {
        let once = number(&text);
        prop_assert_eq!(number(once.as_str()), once);
    }

    #[test]
    fn shifting_the_point_keeps_the_value(digits in "[1-9][0-9]{0,20}", shift in 0_usize..10) {
        let shifted = format!("{digits}{}e-{shift}", "0".repeat(shift));
        prop_assert_eq!(number(&shifted), number(&digits));
    }
}

#[test]
fn digits_that_were_written_out_stay_written_out() {
    for text in [format!("1{}", "0".repeat(6000)), format!("0.{}1", "0".repeat(6000))] {
        assert_eq!(Number::parse(&text).expect("a number").as_str(), text);
    }
    let (long, short) = (format!("1{}", "0".repeat(6000)), "1e6000");
    let (long, short) = (Number::parse(&long).expect("a number"), Number::parse(short).expect("a number"));
    assert_eq!(long, short);
    assert_eq!(short.as_str(), "1e+6000");
    let hash = |number: &Number| {
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(number, &mut hasher);
        std::hash::Hasher::finish(&hasher)
    };
    assert_eq!(hash(&long), hash(&short));
}
