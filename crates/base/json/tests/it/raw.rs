//! Raw JSON: what is accepted, what compacting changes, what it keeps.

use groundstate_json::{Extra, RawJson};
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(RawJson::parse(text).map(|raw| raw.as_str().to_owned()), Ok(expected.to_owned()), "{text}");
}

#[track_caller]
fn refuse(text: &str, offset: usize) {
    assert_eq!(RawJson::parse(text).map_err(|error| error.offset), Err(offset), "{text}");
}

#[test]
fn drops_white_space_outside_strings_only() {
    check(" { \"a b\" :\t[ 1 ,\r\n 2 ] , \"c\":{ } } ", r#"{"a b":[1,2],"c":{}}"#);
    check("\n\"  \" ", "\"  \"");
    check("[ ]", "[]");
    check("null ", "null");
}

#[test]
fn keeps_spellings_order_and_duplicates() {
    let number = "1234567890123456789012345678901234567890";
    let text = format!(r#"{{"z":{number},"a":1.0,"a":1e3,"e":"\u00e9\/","t":[true,false,null,-0.0E+7]}}"#);
    check(&text, &text);
}

#[test]
fn escapes_what_writers_of_state_files_escape() {
    check("\"a<b>&c\"", r#""a\u003cb\u003e\u0026c""#);
    check("\"x\u{2028}y\u{2029}\"", r#""x\u2028y\u2029""#);
    check("{\"<\":1}", r#"{"\u003c":1}"#);
    check("\"\u{2027}\u{e9}\u{202a}\"", "\"\u{2027}\u{e9}\u{202a}\"");
}

#[test]
fn names_the_byte_that_is_wrong() {
    let cases = [
        ("", 0),
        (" ", 1),
        ("{", 1),
        ("[1,]", 3),
        ("{\"a\"}", 4),
        ("{\"a\":1,}", 7),
        ("{a:1}", 1),
        ("[1 2]", 3),
        ("{\"a\":1 \"b\":2}", 7),
        ("tru", 3),
        ("trie", 2),
        ("01", 1),
        ("-", 1),
        ("1.", 2),
        ("1e", 2),
        ("+1", 0),
        (".5", 0),
        ("NaN", 0),
        ("\"a", 2),
        ("\"a\nb\"", 2),
        ("\"\\x\"", 2),
        ("\"\\u12g4\"", 5),
        ("{\"version\":4} x", 14),
        ("[}", 1),
        ("{]", 1),
        ("[1}", 2),
        ("'a'", 0),
        ("\u{feff}{}", 0),
        ("[1]\0", 3),
    ];
    for (text, offset) in cases {
        refuse(text, offset);
    }
}

#[test]
fn every_cut_of_a_document_is_refused() {
    let text = r#"{"a":[1.5e3,"\u00e9",true],"b":{"c":null}}"#;
    for cut in 0..text.len() {
        refuse(&text[..cut], cut);
    }
}

#[test]
fn bounds_how_deep_containers_nest() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    check(&nested(RawJson::MAX_DEPTH), &nested(RawJson::MAX_DEPTH));
    refuse(&nested(RawJson::MAX_DEPTH + 1), RawJson::MAX_DEPTH);
    refuse(&"[".repeat(1_000_000), RawJson::MAX_DEPTH);
    refuse(&"{\"a\":".repeat(1_000_000), RawJson::MAX_DEPTH * 5);
}

#[test]
fn debug_hides_the_content() {
    let raw = RawJson::parse(r#"{"password":"hunter2"}"#).unwrap();
    assert_eq!(format!("{raw:?}"), "RawJson(22 bytes)");
    let extra: Extra = [("secret", raw)].into_iter().collect();
    assert!(!format!("{extra:?}").contains("hunter2"));
}

#[test]
fn extra_members_keep_their_order_and_the_last_of_a_name_wins() {
    let raw = |text: &str| RawJson::parse(text).unwrap();
    let mut extra = Extra::new();
    assert!(extra.is_empty());
    extra.push("b", raw("1"));
    extra.push("a", raw("2"));
    extra.push("b", raw("3"));
    let names: Vec<&str> = extra.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "a", "b"]);
    assert_eq!((extra.len(), extra.get("b"), extra.get("c")), (3, Some(&raw("3")), None));
    assert_eq!(std::iter::empty::<(&str, RawJson)>().collect::<Extra>(), Extra::new());
}

fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
        "\"([a-z <>&\u{2028}\u{e9}/]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4}){0,8}\"",
    ];
    scalar.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|all| format!("[ {}\n]", all.join(" ,\t"))),
            prop::collection::vec(inner, 0..4).prop_map(|all| {
                let members: Vec<_> =
                    all.iter().enumerate().map(|(i, v)| format!("\"k{i}\" : {v}")).collect();
                format!("{{ {} }}", members.join(", "))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn compacting_twice_changes_nothing(text in json()) {
        let once = RawJson::parse(&text).unwrap();
        prop_assert_eq!(RawJson::parse(once.as_str()).unwrap(), once);
    }

    #[test]
    fn no_text_makes_the_scan_panic(text in "[\\[\\]{}:,\"0-9eE.+\\- a-z\\\\\u{2028}<\u{1}]{0,40}") {
        if let Err(error) = RawJson::parse(&text) {
            prop_assert!(error.offset <= text.len());
        }
    }
}
