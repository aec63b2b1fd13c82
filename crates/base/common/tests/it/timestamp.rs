//! Timestamps: text, range and arithmetic.

use std::time::Duration;

use groundstate_common::{Timestamp, TimestampError};
use proptest::prelude::*;

#[test]
fn texts_and_seconds_agree() {
    for (text, seconds, nanos, canonical) in [
        ("1970-01-01T00:00:00Z", 0, 0, "1970-01-01T00:00:00Z"),
        ("1969-12-31T23:59:59.5Z", -1, 500_000_000, "1969-12-31T23:59:59.5Z"),
        ("2000-02-29T12:00:00z", 951_825_600, 0, "2000-02-29T12:00:00Z"),
        ("2024-02-29t23:59:59.120-01:00", 1_709_254_799, 120_000_000, "2024-03-01T00:59:59.12Z"),
        ("2026-01-01T00:00:00+05:30", 1_767_205_800, 0, "2025-12-31T18:30:00Z"),
        ("1900-03-01T00:00:00Z", -2_203_891_200, 0, "1900-03-01T00:00:00Z"),
        ("0000-01-01T00:00:00Z", -62_167_219_200, 0, "0000-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00-00:00", -62_135_596_800, 0, "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
        ("2026-06-15T08:09:10.000000001Z", 1_781_510_950, 1, "2026-06-15T08:09:10.000000001Z"),
    ] {
        let time = Timestamp::parse(text).unwrap();
        assert_eq!((time.seconds(), time.nanos()), (seconds, nanos), "{text}");
        assert_eq!(time.to_string(), canonical);
        assert_eq!(text.parse(), Ok(time));
        assert_eq!(Timestamp::from_unix(seconds, nanos), Ok(time));
        assert_eq!(format!("{time:?}"), format!("Timestamp({canonical})"));
    }
}

#[test]
fn refuses_texts_of_another_form_at_their_first_wrong_byte() {
    for (text, at, expected) in [
        ("", 0, "a digit"),
        ("2026", 4, "`-`"),
        ("26-01-01T00:00:00Z", 2, "a digit"),
        ("2026-1-01T00:00:00Z", 6, "a digit"),
        ("2026-01-01 00:00:00Z", 10, "`T`"),
        ("2026-01-01T00:00Z", 16, "`:`"),
        ("2026-01-01T00:00:00", 19, "`Z` or an offset"),
        ("2026-01-01T00:00:00.Z", 20, "a digit"),
        ("2026-01-01T00:00:00,5Z", 19, "`Z` or an offset"),
        ("2026-01-01T00:00:00.1234567890Z", 29, "at most nine fraction digits"),
        ("2026-01-01T00:00:00+0100", 22, "`:`"),
        ("2026-01-01T00:00:00ZZ", 20, "the end"),
        ("+026-01-01T00:00:00Z", 0, "a digit"),
        ("2026-01-01T00:00:00\u{2212}01:00", 19, "`Z` or an offset"),
    ] {
        assert_eq!(Timestamp::parse(text), Err(TimestampError::Malformed { at, expected }), "{text}");
    }
}

#[test]
fn refuses_dates_and_times_that_do_not_exist() {
    for (text, part, value) in [
        ("2026-00-01T00:00:00Z", "month", 0),
        ("2026-13-01T00:00:00Z", "month", 13),
        ("2026-04-31T00:00:00Z", "day", 31),
        ("2026-01-00T00:00:00Z", "day", 0),
        ("2025-02-29T00:00:00Z", "day", 29),
        ("1900-02-29T00:00:00Z", "day", 29),
        ("2026-01-01T24:00:00Z", "hour", 24),
        ("2026-01-01T00:60:00Z", "minute", 60),
        ("2016-12-31T23:59:60Z", "second", 60),
        ("2026-01-01T00:00:00+24:00", "offset hour", 24),
        ("2026-01-01T00:00:00+00:60", "offset minute", 60),
    ] {
        assert_eq!(Timestamp::parse(text), Err(TimestampError::PartOutOfRange { part, value }), "{text}");
    }
}

#[test]
fn refuses_instants_that_have_no_text() {
    for text in ["0000-01-01T00:00:00+00:01", "9999-12-31T23:59:00-00:01"] {
        assert_eq!(Timestamp::parse(text), Err(TimestampError::OutOfRange), "{text}");
    }
    for (seconds, nanos) in [
        (i64::MIN, 0),
        (i64::MAX, 0),
        (Timestamp::MIN.seconds() - 1, 999_999_999),
        (Timestamp::MAX.seconds() + 1, 0),
        (0, 1_000_000_000),
        (0, u32::MAX),
    ] {
        assert_eq!(Timestamp::from_unix(seconds, nanos), Err(TimestampError::OutOfRange));
    }
}

#[test]
fn messages_name_the_place_and_the_form() {
    let message = |text| Timestamp::parse(text).unwrap_err().to_string();
    assert_eq!(
        message("2026-01-01"),
        "expected `T` at byte 10 of the timestamp, as in 2026-01-31T23:59:59.5Z"
    );
    assert_eq!(message("2026-13-01T00:00:00Z"), "the month of the timestamp is out of range: 13");
}

#[test]
fn arithmetic_carries_and_refuses_to_leave_the_range() {
    let time = Timestamp::from_unix(-1, 999_999_999).unwrap();
    assert_eq!(time.checked_add(Duration::from_nanos(1)), Some(Timestamp::UNIX_EPOCH));
    assert_eq!(Timestamp::MAX.checked_add(Duration::from_nanos(1)), None);
    assert_eq!(Timestamp::MIN.checked_add(Duration::MAX), None);
    assert_eq!(Timestamp::UNIX_EPOCH.duration_since(time), Some(Duration::from_nanos(1)));
    assert_eq!(time.duration_since(Timestamp::UNIX_EPOCH), None);
    assert_eq!(time.duration_since(time), Some(Duration::ZERO));
    let whole = Timestamp::MAX.duration_since(Timestamp::MIN).unwrap();
    assert_eq!(Timestamp::MIN.checked_add(whole), Some(Timestamp::MAX));
}

prop_compose! {
    fn instant()(
        seconds in Timestamp::MIN.seconds()..=Timestamp::MAX.seconds(),
        nanos in prop_oneof![Just(0), 0..1_000_000_000_u32],
    ) -> Timestamp {
        Timestamp::from_unix(seconds, nanos).expect("the ranges are those of a timestamp")
    }
}

proptest! {
    #[test]
    fn every_instant_has_a_text_that_reads_back(time in instant()) {
        prop_assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
    }

    #[test]
    fn whole_second_texts_sort_as_their_instants(one in instant(), two in instant()) {
        let whole = |time: Timestamp| Timestamp::from_unix(time.seconds(), 0).unwrap();
        let (one, two) = (whole(one), whole(two));
        prop_assert_eq!(one.cmp(&two), one.to_string().cmp(&two.to_string()));
    }

    #[test]
    fn the_distance_of_two_instants_leads_from_one_to_the_other(one in instant(), two in instant()) {
        let (early, late) = (one.min(two), one.max(two));
        let between = late.duration_since(early).unwrap();
        prop_assert_eq!(early.checked_add(between), Some(late));
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "\\PC{0,40}|[0-9TZ:.+-]{0,40}") {
        if let Ok(time) = Timestamp::parse(&text) {
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
        }
    }
}
