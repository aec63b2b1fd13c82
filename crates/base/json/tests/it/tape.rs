//! The tape, and values that are carried: what is found in them, and what is put in its place.

use groundstate_json::{
    Escapes, Extra, Kind, Layout, RawJson, RawJsonError, Tape, Writer, compact, indented, push_json_string_as,
};
use proptest::prelude::*;
use serde_json::Value;

fn raw(text: &str) -> RawJson {
    RawJson::parse_as_written(text).unwrap()
}

/// The value at a token, built with the methods of the tape alone.
fn value_at(tape: &Tape<'_>, at: usize) -> Value {
    match tape.kind(at) {
        Kind::Array => tape.elements(at).map(|inner| value_at(tape, inner)).collect(),
        Kind::Object => {
            tape.members(at).map(|(name, inner)| (tape.string(name), value_at(tape, inner))).collect()
        }
        Kind::String => Value::from(tape.string(at)),
        Kind::Null | Kind::Bool | Kind::Number => serde_json::from_str(tape.text(at)).unwrap(),
    }
}

#[test]
fn texts_that_are_no_json_are_read_as_far_as_they_can_be_made_out() {
    let texts = |text| {
        let tape = Tape::new(text);
        let root = tape.root()?;
        Some((tape.kind(root), tape.text(root), tape.elements(root).count()))
    };
    assert_eq!(texts(""), None);
    assert_eq!(texts(",:?"), None);
    assert_eq!(texts("]1"), Some((Kind::Number, "1", 0)));
    assert_eq!(texts("nul"), Some((Kind::Null, "nul", 0)));
    assert_eq!(texts("\"open"), Some((Kind::String, "\"open", 0)));
    assert_eq!(texts("[1,2"), Some((Kind::Array, "[", 0)), "a container without its end is empty");
    assert_eq!(texts("[1,[2]]]"), Some((Kind::Array, "[1,[2]]", 2)));
}

#[test]
fn tokens_beyond_the_text_are_null_and_lead_nowhere() {
    let tape = Tape::new("[1]");
    assert_eq!((tape.kind(9), tape.text(9), tape.next(9)), (Kind::Null, "null", 9));
    assert_eq!((tape.elements(9).count(), tape.members(9).count()), (0, 0));
    assert_eq!((tape.next(0), tape.next(1)), (2, 2));
    assert_eq!(tape.elements(1).count(), 0, "a number has no elements");
}

#[test]
fn values_are_found_and_replaced_by_their_paths() {
    let value = raw(r#"{"a":{"b":[1.50,{"c d":"x"}]},"n":null}"#);
    let found = |path: &str| value.at(path).map(|found| found.as_str().to_owned());
    assert_eq!(found("a.b[1].\"c d\"").as_deref(), Some(r#""x""#));
    assert_eq!(found("n").as_deref(), Some("null"));
    assert_eq!(found("").as_deref(), Some(value.as_str()));
    assert_eq!(found("a.b[2]"), None);
    let put = |path: &str| value.replaced(path, &raw("[]")).map(|new| new.as_str().to_owned());
    assert_eq!(put("a.b[0]").as_deref(), Some(r#"{"a":{"b":[[],{"c d":"x"}]},"n":null}"#));
    assert_eq!(put("n").as_deref(), Some(r#"{"a":{"b":[1.50,{"c d":"x"}]},"n":[]}"#));
    assert_eq!(put("").as_deref(), Some("[]"));
    assert_eq!(put("a.x"), None, "a member that is not there is not made");
}

#[test]
fn only_strings_have_a_text() {
    for (json, expected) in [
        (r#""""#, Some("")),
        (r#""a\n\u00e9""#, Some("a\né")),
        (r#""\ud800""#, Some(r"\ud800")),
        ("1.50", None),
        ("null", None),
        (r#"["a"]"#, None),
        ("{}", None),
    ] {
        assert_eq!(raw(json).to_text().as_deref(), expected, "{json}");
    }
    assert_eq!(RawJson::empty_object(), raw("{ }"));
    assert_eq!("{ }".parse(), Ok(RawJson::empty_object()));
}

#[test]
fn a_refusal_says_what_was_expected_where() {
    let cases = [
        ("", 0, "the text ends too early"),
        ("[1", 2, "the text ends too early"),
        ("\"a", 2, "the text ends too early"),
        ("x", 0, "expected a value"),
        ("1 2", 2, "more text after the value"),
        ("[1 2]", 3, "expected `,` or `]`"),
        ("{\"a\":1]", 6, "expected `,` or `}`"),
        ("{1:2}", 1, "expected a member name in quotes"),
        ("{\"a\" 1}", 5, "expected `:`"),
        ("\"\t\"", 1, "a control character must be escaped"),
        ("\"\\x\"", 2, "expected an escape character"),
        ("\"\\u00x0\"", 5, "expected four hexadecimal digits"),
        ("-x", 1, "expected a digit"),
        ("truth", 3, "expected `true`, `false` or `null`"),
    ];
    for (text, offset, problem) in cases {
        for parse in [RawJson::parse, RawJson::parse_as_written] {
            let error: RawJsonError = parse(text).unwrap_err();
            assert_eq!((error.offset, error.problem), (offset, problem), "{text}");
            assert_eq!(error.to_string(), format!("not valid json at byte {offset}: {problem}"));
        }
    }
    let deep = "[".repeat(RawJson::MAX_DEPTH + 1);
    assert_eq!(RawJson::parse(&deep).unwrap_err().problem, "containers nest too deep");
}

#[test]
fn bytes_that_are_not_utf8_are_not_compacted() {
    assert_eq!(compact(b"[ \"\xff\" ]"), None);
    assert_eq!(compact(b"[ \"\xff<\" ]"), None);
    assert_eq!(compact(b"[ \"<\" ]"), Some(raw(r#"["\u003c"]"#)));
    assert_eq!(compact("[ \"\u{2028}\" ]".as_bytes()), Some(raw(r#"["\u2028"]"#)));
}

#[test]
fn separators_of_lines_are_escaped_in_plain_mode_and_html_is_not() {
    for (text, html, plain) in [
        ("a<b>&", r#""a\u003cb\u003e\u0026""#, r#""a<b>&""#),
        ("\u{2028}<", r#""\u2028\u003c""#, r#""\u2028<""#),
        ("\u{2029}é☃", r#""\u2029é☃""#, r#""\u2029é☃""#),
        ("\u{1}>", r#""\u0001\u003e""#, r#""\u0001>""#),
    ] {
        for (escapes, expected) in [(Escapes::Html, html), (Escapes::Plain, plain)] {
            let mut out = "kept ".to_owned();
            push_json_string_as(&mut out, text, escapes);
            assert_eq!(out, format!("kept {expected}"));
        }
    }
}

#[test]
fn members_gathered_one_by_one_are_those_gathered_at_once() {
    let mut one_by_one = Extra::new();
    one_by_one.push("b", raw("1"));
    one_by_one.push("a", raw("2"));
    let at_once: Extra = [("b", raw("1")), ("a", raw("2"))].into_iter().collect();
    assert_eq!(one_by_one, at_once);
    assert_eq!((at_once.is_empty(), at_once.len(), at_once.iter().len()), (false, 2, 2));
    assert_eq!((Extra::new().len(), Extra::new().iter().len(), Extra::new().get("a")), (0, 0, None));
}

/// A writer that takes so many bytes and then fails, as a full disk does.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| std::io::Error::other("the disk is full"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_fails_fails_the_document() {
    let mut writer = Writer::new(Full(100), Layout::COMPACT);
    writer.string(&"x".repeat(99));
    assert_eq!(writer.finish().map(drop).unwrap_err().to_string(), "the disk is full");
    let mut writer = Writer::new(Full(1 << 15), Layout::indented(2));
    let list = format!("[{}]", vec!["12345678"; 10_000].join(","));
    let error = writer.raw(&list).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the disk is full",
        "before the end, since long texts are handed on in blocks"
    );
}

#[test]
fn documents_longer_than_a_block_are_written_whole() {
    for indent in [0, 2] {
        let mut writer = Writer::new(Vec::new(), Layout::indented(indent));
        let texts: Vec<String> = (0..5_000).map(|number| format!("value {number:040}")).collect();
        writer.open('{');
        writer.name("one by one");
        writer.strings(texts.iter().map(String::as_str)).unwrap();
        writer.name("at once");
        writer.raw(&serde_json::to_string(&texts).unwrap()).unwrap();
        writer.bool_member("yes", true);
        writer.bool_member("no", false);
        writer.close('}').unwrap();
        let text = writer.finish().unwrap();
        let expected = serde_json::json!({"one by one": texts, "at once": texts, "yes": true, "no": false});
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected);
        assert!(text.ends_with(b"}\n"));
    }
}

#[test]
fn a_fragment_goes_on_at_its_depth() {
    let mut writer = Writer::fragment(Vec::new(), Layout::indented(2), 2);
    writer.open('{');
    writer.string_member("a", "b");
    writer.close('}').unwrap();
    writer.scalar("1");
    assert_eq!(format!("{writer:?}"), "Writer(Layout { indent: 2, escapes: Html }, depth 2)");
    assert_eq!(String::from_utf8(writer.end().unwrap()).unwrap(), "{\n      \"a\": \"b\"\n    },\n    1");
}

/// Trees with everything but numbers that another parser would round.
fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z\"\\\\{}\\[\\],:<é\u{2028} \n]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"\\\\{}:,é]{0,3}", inner, 0..5)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn tapes_hold_what_an_independent_parser_reads(value in tree()) {
        let text = value.to_string();
        let tape = Tape::new(&text);
        let root = tape.root().unwrap();
        prop_assert_eq!(tape.text(root), &text);
        prop_assert_eq!(value_at(&tape, root), value);
    }

    #[test]
    fn compact_and_indented_texts_are_those_of_an_independent_writer(value in tree()) {
        let (short, pretty) = (value.to_string(), serde_json::to_string_pretty(&value).unwrap());
        prop_assert_eq!(indented(&short, 2), pretty.as_str());
        let compacted = raw(&pretty);
        prop_assert_eq!(compacted.as_str(), short.as_str());
        prop_assert_eq!(compact(pretty.as_bytes()), RawJson::parse(&short).ok());
        let html = RawJson::parse(&pretty).unwrap();
        let unescaped = html.as_str().contains(['<', '>', '&', '\u{2028}']);
        prop_assert!(!unescaped);
        prop_assert_eq!(serde_json::from_str::<Value>(html.as_str()).unwrap(), value);
    }
}
