//! The cursor: what it accepts, where it stops and why, what it gives out of a document.

use std::borrow::Cow;

use groundstate_json::{Cursor, Kind, MAX_DEPTH, RawJson, Stop, SyntaxError};
use proptest::prelude::*;

use SyntaxError::{ControlInString, End, Escape, TooDeep, Unexpected, Utf8};

/// Reads a whole document by skipping its value.
fn skipped(text: &[u8]) -> Result<(), Stop> {
    let mut cursor = Cursor::new(text);
    cursor.skip()?;
    cursor.end()
}

/// Reads a whole document item by item, with the typed methods alone.
fn walked(text: &[u8]) -> Result<(), Stop> {
    let mut cursor = Cursor::new(text);
    let mut open: Vec<(u8, bool)> = Vec::new();
    loop {
        let kind = cursor.kind()?;
        match kind {
            Kind::Null => cursor.null()?,
            Kind::Bool => drop(cursor.bool()?),
            Kind::Number => drop(cursor.number()?),
            Kind::String => drop(cursor.string()?),
            Kind::Array | Kind::Object => {
                let brace = if kind == Kind::Object { b'{' } else { b'[' };
                cursor.open(brace)?;
                open.push((brace, true));
                assert_eq!(cursor.depth(), open.len());
            }
        }
        loop {
            let Some((brace, first)) = open.last_mut() else { return cursor.end() };
            let more = match brace {
                b'{' => cursor.member(first)?.is_some(),
                _ => cursor.element(first)?,
            };
            if more {
                break;
            }
            open.pop();
            assert_eq!(cursor.depth(), open.len());
        }
    }
}

#[test]
fn both_ways_through_a_document_stop_at_the_same_byte_for_the_same_reason() {
    let cases: [(&[u8], usize, SyntaxError); 44] = [
        (b"", 0, End),
        (b" \n", 2, End),
        (b"{", 1, End),
        (b"[", 1, End),
        (b"[1", 2, End),
        (b"[1,", 3, End),
        (b"{\"a", 3, End),
        (b"{\"a\"", 4, End),
        (b"{\"a\":", 5, End),
        (b"{\"a\":1", 6, End),
        (b"{\"a\":1,", 7, End),
        (b"tru", 3, End),
        (b"nul", 3, End),
        (b"-", 1, End),
        (b"1.", 2, End),
        (b"1e", 2, End),
        (b"1E+", 3, End),
        (b"\"abc\\", 5, End),
        (b"\"\\u12", 5, End),
        (b"[,1]", 1, Unexpected),
        (b"[1,]", 3, Unexpected),
        (b"[1 2]", 3, Unexpected),
        (b"[1}", 2, Unexpected),
        (b"{1:2}", 1, Unexpected),
        (b"{\"a\" 1}", 5, Unexpected),
        (b"{\"a\":}", 5, Unexpected),
        (b"{\"a\":1,}", 7, Unexpected),
        (b"{\"a\":1 \"b\":2}", 7, Unexpected),
        (b"{\"a\":1]", 6, Unexpected),
        (b"{,}", 1, Unexpected),
        (b"01", 1, Unexpected),
        (b"-a", 1, Unexpected),
        (b"1.e1", 2, Unexpected),
        (b"1ex", 2, Unexpected),
        (b"+1", 0, Unexpected),
        (b"trve", 2, Unexpected),
        (b"falze", 3, Unexpected),
        (b"1 2", 2, Unexpected),
        (b"\xef\xbb\xbf{}", 0, Unexpected),
        (b"\"a\nb\"", 2, ControlInString),
        (b"\"12345678\x1f\"", 9, ControlInString),
        (b"\"\\x\"", 2, Escape),
        (b"\"\\u00g0\"", 5, Escape),
        (b"\"1234567\xff\"", 8, Utf8),
    ];
    for (text, offset, why) in cases {
        let shown = String::from_utf8_lossy(text);
        assert_eq!(skipped(text), Err(Stop { offset, why }), "skipping {shown}");
        assert_eq!(walked(text), Err(Stop { offset, why }), "walking {shown}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_found_wherever_they_lie_in_a_string() {
    for before in 0..20 {
        for after in 0..10 {
            let plain = |count| "x".repeat(count);
            let mut text = format!("[\"{}", plain(before)).into_bytes();
            text.push(0xc3);
            text.extend(plain(after).bytes());
            text.extend(b"\"]");
            assert_eq!(skipped(&text), Err(Stop { offset: 2 + before, why: Utf8 }), "{before}+{after}");
            let valid = format!("[\"{}é{}\"]", plain(before), plain(after));
            assert_eq!(skipped(valid.as_bytes()), Ok(()), "{valid}");
        }
    }
}

#[test]
fn strings_end_at_the_first_bare_quote_at_any_distance() {
    for length in 0..40 {
        for hard in ["", "\\\"", "\\\\", "\\u0041", "!", "#", "[", "]", "\u{7f}", "\u{80}"] {
            let inside = format!("{}{hard}", "a".repeat(length));
            let text = format!("\"{inside}\"\"tail\"");
            let mut cursor = Cursor::new(text.as_bytes());
            let read = cursor.string().unwrap();
            assert_eq!((read.raw, read.offset), (inside.as_bytes(), 0), "{text}");
            assert_eq!(read.escaped, hard.starts_with('\\'), "{text}");
            assert_eq!(cursor.offset(), inside.len() + 2, "{text}");
        }
    }
}

#[test]
fn control_characters_are_refused_at_any_distance_and_the_blank_is_not() {
    for length in 0..20 {
        for control in 0..=0x20_u8 {
            let text = format!("\"{}{}\"", "a".repeat(length), char::from(control));
            let expected = match control {
                0x20 => Ok(()),
                _ => Err(Stop { offset: length + 1, why: ControlInString }),
            };
            assert_eq!(skipped(text.as_bytes()), expected, "{control:#x} behind {length}");
        }
    }
}

#[test]
fn nesting_is_bounded_alike_for_skipping_and_walking() {
    let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + "1" + &close.repeat(depth);
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let levels = open.matches(['[', '{']).count();
        let allowed = nested(open, close, MAX_DEPTH / levels);
        assert_eq!((skipped(allowed.as_bytes()), walked(allowed.as_bytes())), (Ok(()), Ok(())), "{open}");
        let beyond = nested(open, close, MAX_DEPTH / levels + 1);
        let stop = Err(Stop { offset: open.len() * (MAX_DEPTH / levels), why: TooDeep });
        assert_eq!((skipped(beyond.as_bytes()), walked(beyond.as_bytes())), (stop, stop), "{open}");
    }
}

#[test]
fn levels_around_a_cursor_count_against_the_bound() {
    let text = b"[[1]]";
    assert_eq!(Cursor::at(text, 0, MAX_DEPTH - 2).skip(), Ok(()));
    assert_eq!(Cursor::at(text, 0, MAX_DEPTH - 1).skip(), Err(Stop { offset: 1, why: TooDeep }));
    assert_eq!(Cursor::at(text, 0, MAX_DEPTH).open(b'['), Err(Stop { offset: 0, why: TooDeep }));
    assert_eq!(Cursor::at(text, 0, MAX_DEPTH - 1).open(b'['), Ok(()));
}

#[test]
fn brackets_are_matched_across_every_word_of_the_level_bits() {
    for depth in [1, 2, 63, 64, 65, 127, 128, 129, 200] {
        // Objects and arrays in a pattern that repeats with neither 64 nor 2.
        let object = |level: usize| level.is_multiple_of(3) || level.is_multiple_of(7);
        let mut text: String = (0..depth).map(|level| if object(level) { "{\"k\":" } else { "[" }).collect();
        text.push('0');
        text.extend((0..depth).rev().map(|level| if object(level) { '}' } else { ']' }));
        assert_eq!(skipped(text.as_bytes()), Ok(()), "{depth} levels");
        for level in 0..depth {
            let at = text.len() - 1 - level;
            let wrong = if object(level) { "]" } else { "}" };
            let broken = format!("{}{wrong}{}", &text[..at], &text[at + 1..]);
            assert_eq!(
                skipped(broken.as_bytes()),
                Err(Stop { offset: at, why: Unexpected }),
                "{level}/{depth}"
            );
        }
    }
}

#[test]
fn escapes_decode_to_what_they_name() {
    let cases = [
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""a\u0000b""#, "a\0b"),
        (r#""\u00e9\u00E9é""#, "ééé"),
        (r#""\ud83d\ude00!""#, "😀!"),
        (r#""\ud800\udc00""#, "\u{10000}"),
        (r#""\udbff\udfff""#, "\u{10ffff}"),
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ud83dx""#, "\u{fffd}x"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ude00""#, "\u{fffd}"),
        (r#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
        (r#""\ud7ff\ue000""#, "\u{d7ff}\u{e000}"),
    ];
    for (text, expected) in cases {
        let read = Cursor::new(text.as_bytes()).string().unwrap();
        assert_eq!(read.decode(), expected, "{text}");
        assert_eq!(*read.bytes(), *expected.as_bytes(), "{text}");
        assert_eq!(read.has_lone_surrogate(), expected.contains('\u{fffd}'), "{text}");
    }
}

#[test]
fn strings_without_escapes_are_borrowed_and_a_written_replacement_character_is_no_surrogate() {
    let read = Cursor::new("\"é\u{fffd}\"".as_bytes()).string().unwrap();
    assert!(matches!(read.decode(), Cow::Borrowed("é\u{fffd}")));
    assert!(matches!(read.bytes(), Cow::Borrowed(b"\xc3\xa9\xef\xbf\xbd")));
    assert!(!read.has_lone_surrogate());
}

#[test]
fn typed_readers_refuse_what_is_of_another_kind() {
    let unexpected = |offset| Err(Stop { offset, why: Unexpected });
    let cursor = || Cursor::new(b"{}");
    assert_eq!(cursor().string().map(drop), unexpected(0));
    assert_eq!(cursor().bool().map(drop), unexpected(0));
    assert_eq!(cursor().null(), unexpected(0));
    assert_eq!(cursor().number().map(drop), unexpected(0));
    assert_eq!(cursor().open(b'['), unexpected(0));
    assert_eq!(Cursor::new(b"true").bool(), Ok(true));
    assert_eq!(Cursor::new(b"false").bool(), Ok(false));
    assert_eq!(Cursor::new(b"-0.50E+07,").number(), Ok("-0.50E+07"));
}

#[test]
fn cursors_tell_where_they_are_and_what_they_passed() {
    let text = b" { \"a\" :\t\"v\" ,\r\n\"b\":[1, 2]}";
    let mut cursor = Cursor::new(text);
    assert_eq!((cursor.peek(), cursor.space_skipped()), (Some(b'{'), 1));
    cursor.open(b'{').unwrap();
    let mut first = true;
    let name = cursor.member(&mut first).unwrap().unwrap();
    assert_eq!((name.offset, cursor.offset(), cursor.space_skipped()), (3, 9, 4));
    assert_eq!(cursor.raw(), Ok(&b"\"v\""[..]));
    cursor.member(&mut first).unwrap().unwrap();
    let before = cursor.offset();
    let spaces = cursor.space_skipped();
    cursor.skip().unwrap();
    assert_eq!((cursor.since(before), cursor.space_skipped() - spaces), (&b"[1, 2]"[..], 1));
    assert_eq!(format!("{cursor:?}"), "Cursor(byte 26 of 27, depth 1)");
    assert_eq!(format!("{name:?}"), "Str(1 bytes at 3)");
    let mut again = cursor.restart(before);
    assert_eq!((again.offset(), again.depth(), again.kind()), (before, 1, Ok(Kind::Array)));
    assert!(cursor.member(&mut first).unwrap().is_none());
    assert_eq!((cursor.depth(), cursor.end()), (0, Ok(())));
}

#[test]
fn values_count_their_white_space_so_that_compact_ones_are_told() {
    let cases =
        [("[1,2]", 0), ("[1, 2]", 1), ("{\"a\":1}", 0), ("{\"a\": 1}", 1), ("{\"a\" : 1}", 2), ("[ ]", 1)];
    let more = [("[\"a  b\"]", 0), ("{\"a\":  1}", 2), ("[1,\n        2]", 9), ("{\"a\":\t1 }", 2)];
    for (text, expected) in cases.into_iter().chain(more) {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.skip().unwrap();
        assert_eq!(cursor.space_skipped(), expected, "{text}");
    }
}

#[test]
fn numbers_at_the_end_may_go_on_in_the_next_block() {
    for (text, expected) in [("12", true), ("1.", false), ("12 ", false), ("\"1\"", false), ("", false)] {
        let mut cursor = Cursor::new(text.as_bytes());
        let _stop = cursor.skip();
        assert_eq!(cursor.ends_in_number(), expected, "{text}");
    }
    assert!(!Cursor::new(b"12").ends_in_number(), "before the number is read");
}

/// Text with everything that JSON is made of, and most of it broken.
fn nearly_json() -> impl Strategy<Value = String> {
    let tokens = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\t",
        "        ",
        "\"a\"",
        "\"\"",
        "\"",
        "\\",
        "\\u00e9",
        "1",
        "-0",
        "2.5",
        "1e9",
        "0",
        ".",
        "true",
        "false",
        "null",
        "nul",
        "é",
        "\"a\":",
        "\"long enough for words\"",
        "[]",
        "{}",
        "\u{1}",
    ]);
    prop::collection::vec(tokens, 0..14).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn accepts_what_an_independent_parser_accepts(text in nearly_json()) {
        let accepted = serde_json::from_str::<Box<serde_json::value::RawValue>>(&text).is_ok();
        let way = skipped(text.as_bytes());
        prop_assert_eq!(way.is_ok(), accepted, "{}", &text);
        prop_assert_eq!(walked(text.as_bytes()), way);
        prop_assert_eq!(RawJson::parse_as_written(&text).map_err(|error| error.offset), match way {
            Ok(()) => Ok(RawJson::parse_as_written(&text).unwrap()),
            Err(stop) => Err(stop.offset),
        });
    }

    #[test]
    fn strings_decode_as_an_independent_parser_decodes_them(
        inside in "([a-zé😀 ]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-c][0-9a-fA-F]{3}|\\\\ud83d\\\\ude0[0-9a-f]){0,12}",
    ) {
        let text = format!("\"{inside}\"");
        let expected: String = serde_json::from_str(&text).unwrap();
        let read = Cursor::new(text.as_bytes()).string().unwrap();
        prop_assert_eq!(read.decode(), expected.as_str());
        prop_assert_eq!(read.bytes(), expected.as_bytes());
    }
}
