//! Deposed keys: what is read, what people may write, what is generated.

use std::collections::BTreeSet;

use groundstate_states::{DeposedKey, DeposedKeyError, Generation};

#[test]
fn files_may_hold_any_eight_bytes() {
    for text in ["00000001", "ZZZZZZZZ", "DEADBEEF", "éééé", "        "] {
        assert_eq!(DeposedKey::parse(text).map(|key| key.to_string()), Ok(text.to_owned()));
    }
    for (text, length) in [("", 0), ("abc", 3), ("123456789", 9), ("éééééééé", 16)] {
        assert_eq!(DeposedKey::parse(text), Err(DeposedKeyError::Length { length }), "{text}");
    }
}

#[test]
fn people_write_lower_case_hexadecimal_digits() {
    assert_eq!(DeposedKey::parse_strict("0a1b2c3d"), DeposedKey::parse("0a1b2c3d"));
    for text in ["0A1B2C3D", "ZZZZZZZZ", "éééé", "0x000001"] {
        assert_eq!(DeposedKey::parse_strict(text), Err(DeposedKeyError::NotCanonical), "{text}");
    }
    assert_eq!(DeposedKey::parse_strict("abc"), Err(DeposedKeyError::Length { length: 3 }));
}

#[test]
fn numbers_become_canonical_keys() {
    for number in [0, 1, 2, 0xdead_beef, u32::MAX] {
        let key = DeposedKey::from_number(number);
        assert_eq!(key.as_str(), format!("{number:08x}"));
        assert!(key.is_canonical());
    }
}

#[test]
fn generated_keys_are_never_in_use() {
    let used: BTreeSet<_> = [7, 8].map(DeposedKey::from_number).into();
    let mut numbers = [7, 8, 7, 9].into_iter();
    let key = DeposedKey::generate(|| numbers.next().unwrap(), |key| used.contains(key));
    assert_eq!(key, DeposedKey::from_number(9));
    let stuck = DeposedKey::generate(|| 7, |key| used.contains(key));
    assert_eq!(stuck, DeposedKey::from_number(9), "a source that repeats itself is left behind");
}

#[test]
fn the_current_object_comes_first() {
    let deposed = |text: &str| Generation::Deposed(DeposedKey::parse(text).unwrap());
    let mut order = [deposed("ffffffff"), Generation::Current, deposed("00000001")];
    order.sort();
    assert_eq!(order, [Generation::Current, deposed("00000001"), deposed("ffffffff")]);
}
