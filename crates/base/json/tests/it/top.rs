//! The scan of a document in pieces: what it accepts and what it finds, wherever the pieces are cut.

use groundstate_json::{Cursor, Kind, MAX_DEPTH, Stop, SyntaxError, Top, TopScan, TopValue};
use proptest::prelude::*;

const WANTED: &[&str] = &["version", "serial", "lineage", "resources", "outputs", "sealed"];

fn scan<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Result<Top, Stop> {
    let mut scan = TopScan::of(WANTED);
    for piece in pieces {
        scan.push(piece)?;
    }
    scan.finish()
}

fn skipped(text: &[u8]) -> Result<(), Stop> {
    let mut cursor = Cursor::new(text);
    cursor.skip()?;
    cursor.end()
}

fn found(text: &str) -> Vec<Option<TopValue>> {
    let whole = scan([text.as_bytes()]).unwrap();
    let bytes = scan(text.as_bytes().chunks(1)).unwrap();
    let values = |top: &Top| WANTED.iter().map(|name| top.get(name).cloned()).collect::<Vec<_>>();
    assert_eq!(values(&whole), values(&bytes), "{text}");
    values(&whole)
}

#[test]
fn members_at_the_top_are_found_with_their_kinds_and_counts() {
    let text = r#" { "version" : 4 , "serial":-1.5e+3, "lineage": "\u0061\n\"", "resources": [ 1, [2, 3], {"serial": 9} ],
        "outputs": {"a": {"x": [1, 2]}, "b": null}, "sealed": true, "other": {"version": 5} } "#;
    assert_eq!(
        found(text),
        [
            Some(TopValue::Number("4".to_owned())),
            Some(TopValue::Number("-1.5e+3".to_owned())),
            Some(TopValue::String("a\n\"".to_owned())),
            Some(TopValue::Array(3)),
            Some(TopValue::Object(2)),
            Some(TopValue::Bool(true)),
        ],
    );
}

#[test]
fn names_may_be_escaped_and_the_later_of_two_members_counts() {
    assert_eq!(found(r#"{"serial": 1, "seri\u0061l": null}"#)[1], Some(TopValue::Null));
    assert_eq!(
        found(r#"{"resources": [], "outputs": {}}"#)[3..5],
        [Some(TopValue::Array(0)), Some(TopValue::Object(0))]
    );
    assert_eq!(found(r#"{"sealed": false}"#)[5], Some(TopValue::Bool(false)));
    assert_eq!(found("[1, {\"serial\": 2}]"), vec![None; WANTED.len()]);
    assert_eq!(scan([&b"4"[..], b"2"]).unwrap().kind(), Kind::Number);
}

#[test]
fn a_long_text_is_not_kept() {
    let text = format!(
        r#"{{"lineage": "{}", "{}": 1, "serial": {}}}"#,
        "a".repeat(5000),
        "n".repeat(5000),
        "1".repeat(5000)
    );
    let values = found(&text);
    assert_eq!(values[2], Some(TopValue::Long(Kind::String)));
    assert_eq!(values[1], Some(TopValue::Long(Kind::Number)));
}

#[test]
fn an_error_has_its_offset_in_the_document() {
    let stop = |pieces: &[&str]| scan(pieces.iter().map(|piece| piece.as_bytes())).unwrap_err();
    assert_eq!(stop(&["{\"a\"", ": tru", "x}"]), Stop { offset: 9, why: SyntaxError::Unexpected });
    assert_eq!(stop(&["{\"a\"", ": \"b"]), Stop { offset: 8, why: SyntaxError::End });
    assert_eq!(stop(&["{} ", "{}"]), Stop { offset: 3, why: SyntaxError::Unexpected });
    assert_eq!(stop(&["[\"a\n\"]"]), Stop { offset: 3, why: SyntaxError::ControlInString });
    assert_eq!(stop(&[""]), Stop { offset: 0, why: SyntaxError::End });
    let cut = scan([&b"\"\xc3"[..], b"\""]).unwrap_err();
    assert_eq!(cut.why, SyntaxError::Utf8);
    let split = scan([&b"\"\xe2\x82"[..], b"\xac\""]);
    assert!(split.is_ok(), "{split:?}");
}

#[test]
fn nesting_is_bounded_as_the_cursor_bounds_it() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(scan([nested(MAX_DEPTH).as_bytes()]).is_ok());
    assert_eq!(scan([nested(MAX_DEPTH + 1).as_bytes()]).unwrap_err().why, SyntaxError::TooDeep);
}

/// Text that is JSON, or nearly.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        Just(b"{".to_vec()),
        Just(b"}".to_vec()),
        Just(b"[".to_vec()),
        Just(b"]".to_vec()),
        Just(b",".to_vec()),
        Just(b":".to_vec()),
        Just(b" ".to_vec()),
        Just(b"\"serial\":".to_vec()),
        Just(b"\"a\":".to_vec()),
        Just(b"\"\\u00e9\xc3\xa9\"".to_vec()),
        Just(b"1".to_vec()),
        Just(b"-0.5e1".to_vec()),
        Just(b"null".to_vec()),
        Just(b"true".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..3),
    ];
    proptest::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn any_pieces_are_judged_as_the_cursor_judges_the_whole(text in text(), size in 1usize..9) {
        let whole = skipped(&text);
        let pieces = scan(text.chunks(size));
        prop_assert_eq!(pieces.is_ok(), whole.is_ok(), "{:?} {:?}", whole, pieces);
    }

    #[test]
    fn documents_are_accepted_and_their_members_found(
        serial in any::<u64>(),
        lineage in any::<String>(),
        resources in proptest::collection::vec(any::<i32>(), 0..9),
        size in 1usize..9,
    ) {
        let document = serde_json::json!({
            "serial": serial, "lineage": lineage, "resources": resources, "x": {"resources": [1], "y": [[]]},
        });
        let text = document.to_string();
        let top = scan(text.as_bytes().chunks(size)).unwrap();
        prop_assert_eq!(top.get("serial"), Some(&TopValue::Number(serial.to_string())));
        prop_assert_eq!(top.get("lineage"), Some(&TopValue::String(lineage)));
        prop_assert_eq!(top.get("resources"), Some(&TopValue::Array(resources.len() as u64)));
    }
}
