//! Positions and paths: from a byte to the line, column and path that messages show, and back.

use groundstate_json::{
    Coded, Cursor, Kind, PathStep, Problems, SourcePos, follow_paths, lexeme_end, path_steps, places,
    push_name, value_span,
};
use proptest::prelude::*;

const STATE: &str = r#"{
  "version": 4,
  "outputs": {"a.b": {"value": "é"}},
  "resources": [
    {"name": "web", "instances": [{"id": "i-1"}, {"id": "i-2"}]},
    {"name": "db"}
  ]
}"#;

/// Where `part` begins in the state.
fn offset(part: &str) -> usize {
    STATE.find(part).unwrap()
}

#[test]
fn places_are_shown_with_line_column_and_path() {
    let cases = [
        ("{\n", "line 1, column 1"),
        ("\"version\"", "line 2, column 3 (version)"),
        (" \"version\"", "line 2, column 2"),
        ("version", "line 2, column 4 (version)"),
        ("4,", "line 2, column 14 (version)"),
        ("\"é\"", "line 3, column 32 (outputs.\"a.b\".value)"),
        ("}},", "line 3, column 35 (outputs.\"a.b\")"),
        ("\"i-2\"", "line 5, column 57 (resources[0].instances[1].id)"),
        ("\"db\"", "line 6, column 14 (resources[1].name)"),
        ("]\n}", "line 7, column 3 (resources)"),
    ];
    for (part, expected) in cases {
        assert_eq!(SourcePos::of(STATE.as_bytes(), offset(part)).to_string(), expected, "{part}");
    }
}

#[test]
fn columns_count_characters_and_an_offset_beyond_the_end_is_the_end() {
    let text = "[\"é😀\", x";
    let place = SourcePos::of(text.as_bytes(), text.len() - 1);
    assert_eq!((place.line, place.column, place.path.as_str()), (1, 8, "[1]"));
    let behind = SourcePos::of(text.as_bytes(), 1000);
    assert_eq!((behind.offset, behind.line, behind.column), (1000, 1, 9));
    assert_eq!(places(text.as_bytes(), &[1000]), [behind]);
}

#[test]
fn paths_stop_growing_after_64_steps() {
    let steps = |depth: usize| {
        let text = "[".repeat(depth) + "1";
        SourcePos::of(text.as_bytes(), depth).path
    };
    assert_eq!(steps(3), "[0][0][0]");
    assert_eq!(steps(64), "[0]".repeat(64));
    assert_eq!(steps(300), "[0]".repeat(64));
}

#[test]
fn member_paths_leave_out_positions_in_lists_and_keep_brackets_in_names() {
    let cases = [
        ("resources[3].instances[0].schema_version", "resources.instances.schema_version"),
        ("[0][12]", ""),
        ("a.\"b[0].c\"[1].d", "a.\"b[0].c\".d"),
        ("", ""),
    ];
    for (path, expected) in cases {
        let mut place = SourcePos::of(b"1", 0);
        place.path = path.to_owned();
        assert_eq!(place.member_path(), expected);
    }
}

#[test]
fn names_that_are_not_plain_words_stand_in_quotes() {
    let cases = [
        ("", "\"\""),
        ("plain_1-x", "plain_1-x"),
        ("über", "über"),
        ("a.b", "\"a.b\""),
        ("a b", "\"a b\""),
        ("a[0]", "\"a[0]\""),
        ("say \"hi\"", "\"say \\\"hi\\\"\""),
        ("back\\slash", "\"back\\\\slash\""),
        ("two\nlines\t\r\0", "\"two\\nlines\\t\\r\\0\""),
        ("zero\u{200b}width", "\"zero\\u{200b}width\""),
    ];
    for (name, expected) in cases {
        let mut path = String::new();
        push_name(&mut path, name);
        assert_eq!(path, expected);
        push_name(&mut path, "x");
        assert_eq!(path, format!("{expected}.x"));
        assert_eq!(path_steps(&path), [PathStep::Name(name.to_owned()), PathStep::Name("x".to_owned())]);
    }
}

#[test]
fn damaged_paths_are_read_as_far_as_they_make_sense() {
    let name = |name: &str| PathStep::Name(name.to_owned());
    let cases = [
        ("", vec![]),
        (".", vec![]),
        ("a..b", vec![name("a"), name("b")]),
        ("a[1", vec![name("a"), PathStep::Index(1)]),
        ("a[x].b", vec![name("a"), name("b")]),
        ("a[]", vec![name("a")]),
        ("a[-1]", vec![name("a")]),
        ("[18446744073709551616]", vec![]),
        ("\"open", vec![name("open")]),
        ("\"a\\\\b\"[2]", vec![name("a\\b"), PathStep::Index(2)]),
        ("\"a\\u\".b", vec![name("au"), name("b")]),
        ("\"a\\u{110000}\"", vec![name("au{110000}")]),
        ("\"open\\", vec![name("open")]),
    ];
    for (path, expected) in cases {
        assert_eq!(path_steps(path), expected, "{path}");
    }
}

#[test]
fn the_last_member_of_a_name_counts() {
    let text = br#"{"a": {"x": 1}, "b": 0, "a": {"y": 2, "y": 3}}"#;
    let found = |path: &str| value_span(text, 0, &path_steps(path)).map(|span| &text[span]);
    assert_eq!(found("a"), Some(&br#"{"y": 2, "y": 3}"#[..]));
    assert_eq!(found("a.y"), Some(&b"3"[..]));
    assert_eq!(found("a.x"), None);
    let steps = path_steps("a.y");
    assert_eq!(follow_paths(text, 0, std::iter::once(&*steps)), [text.len() - 3]);
}

#[test]
fn paths_lead_nowhere_through_values_of_another_kind() {
    let text = br#"{"list": [1, 2], "map": {"0": 3}, "text": "x"}"#;
    for path in ["list.0", "map[0]", "text.x", "text[0]", "list[2]", "list[99]", "nothing", "map.1"] {
        assert_eq!(value_span(text, 0, &path_steps(path)), None, "{path}");
    }
    for (path, expected) in [("", &text[..]), ("list[1]", b"2"), ("map.0", b"3")] {
        assert_eq!(value_span(text, 0, &path_steps(path)).map(|span| &text[span]), Some(expected), "{path}");
    }
}

#[test]
fn spans_are_those_of_the_value_alone_and_start_where_they_are_told() {
    let text = br#"{"a":   [ 1 ,  {"b" :  2 } ] }"#;
    let span = value_span(text, 0, &path_steps("a[1]")).unwrap();
    assert_eq!(&text[span.clone()], br#"{"b" :  2 }"#);
    let inside = value_span(text, span.start, &path_steps("b")).unwrap();
    assert_eq!(&text[inside], b"2");
    assert_eq!(value_span(b"[1, 2", 0, &path_steps("[1]")), Some(4..5), "what follows is not looked at");
    assert_eq!(value_span(b"[1, [2", 0, &path_steps("[1]")), None);
    assert_eq!(value_span(b"{\"a\": 1, x", 0, &path_steps("a")), None, "a later member might have counted");
}

#[test]
fn many_paths_are_followed_in_one_pass_and_each_as_far_as_it_leads() {
    let text = br#"{"a": [{"b": 1}, {"b": 2}], "c": {"d": [true]}}"#;
    let at = |part: &str| std::str::from_utf8(text).unwrap().find(part).unwrap();
    let cases = [
        ("a[1].b", at("2}")),
        ("c.d[0]", at("true")),
        ("", 0),
        ("a[0]", at("{\"b\": 1")),
        ("a", at("[{")),
        ("c.x.y", at("{\"d\"")),
        ("a[1].b.c", at("2}")),
        ("z[0]", 0),
        ("a[1].b", at("2}")),
    ];
    let paths: Vec<_> = cases.iter().map(|(path, _)| path_steps(path)).collect();
    let found = follow_paths(text, 0, paths.iter().map(Vec::as_slice));
    for ((path, expected), found) in cases.iter().zip(found) {
        assert_eq!(found, *expected, "{path}");
    }
}

#[test]
fn paths_into_a_broken_text_are_followed_up_to_the_break() {
    let text = br#"{"a": {"b": [1, 2, x]}, "c": 1}"#;
    let paths = ["a.b[1]", "a.b[2]", "c"].map(path_steps);
    assert_eq!(follow_paths(text, 0, paths.iter().map(Vec::as_slice)), [16, 12, 0]);
}

#[test]
fn tokens_of_damaged_text_end_where_the_next_begins() {
    let tokens = |text: &str| {
        let mut at = 0;
        let mut out = Vec::new();
        while at < text.len() {
            let end = lexeme_end(text.as_bytes(), at);
            out.push(text[at..end].to_owned());
            at = end;
        }
        out
    };
    let cases: [(&str, &[&str]); 8] = [
        ("{}[]", &["{", "}", "[", "]"]),
        ("a,b:c", &["a", ",", "b", ":", "c"]),
        (" \t\r\n1", &[" \t\r\n", "1"]),
        ("\"a\\\"b\"c", &["\"a\\\"b\"", "c"]),
        ("\"open \\", &["\"open \\"]),
        ("\"", &["\""]),
        ("tru\"x\"", &["tru", "\"x\""]),
        ("-1.5e3]", &["-1.5e3", "]"]),
    ];
    for (text, expected) in cases {
        assert_eq!(tokens(text), expected, "{text}");
    }
    assert_eq!(lexeme_end(b"", 0), 1, "always behind its start, so that loops end");
    assert_eq!(lexeme_end(b"ab", 5), 6);
}

/// A problem with a code, as the readers of both families have them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Numbered(u8);

impl Coded for Numbered {
    type Code = u8;

    fn code(&self) -> u8 {
        self.0
    }
}

impl std::fmt::Display for Numbered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "problem {}", self.0)
    }
}

#[test]
fn a_single_problem_is_shown_alone_and_several_as_a_list() {
    assert_eq!(Problems::<Numbered>::new(Vec::new()), None);
    let one = Problems::one(Numbered(7));
    assert_eq!(Problems::new(vec![Numbered(7)]).as_ref(), Some(&one));
    assert_eq!(one.to_string(), "problem 7");
    let two = Problems::new(vec![Numbered(7), Numbered(2)]).unwrap();
    assert_eq!(two.to_string(), "2 problems:\n\n- problem 7\n- problem 2");
    assert_eq!((two.has(2), two.has(7), two.has(3)), (true, true, false));
    assert_eq!(two.as_slice(), [Numbered(7), Numbered(2)]);
    assert_eq!((&two).into_iter().collect::<Vec<_>>(), two.iter().collect::<Vec<_>>());
}

/// Where each value of a document begins, with its path, by a plain walk over all of them.
fn every_value(cursor: &mut Cursor<'_>, path: &str, out: &mut Vec<(usize, String)>) {
    let kind = cursor.kind().unwrap();
    out.push((cursor.offset(), path.to_owned()));
    let mut first = true;
    match kind {
        Kind::Object => {
            cursor.open(b'{').unwrap();
            while let Some(name) = cursor.member(&mut first).unwrap() {
                let mut inner = path.to_owned();
                push_name(&mut inner, &name.decode());
                every_value(cursor, &inner, out);
            }
        }
        Kind::Array => {
            cursor.open(b'[').unwrap();
            for index in 0.. {
                if !cursor.element(&mut first).unwrap() {
                    break;
                }
                every_value(cursor, &format!("{path}[{index}]"), out);
            }
        }
        _ => cursor.skip().unwrap(),
    }
}

/// Documents without repeated names, with names that need quotes.
fn document() -> impl Strategy<Value = serde_json::Value> {
    let leaf =
        prop_oneof![Just(serde_json::Value::Null), "[a-zé\"\n]{0,4}".prop_map(serde_json::Value::from)];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let names = prop::sample::select(vec![
            "a", "b", "a.b", "", "x y", "[0]", "q\"", "back\\", "ü", "\n", "e\u{301}",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(names, inner, 0..4)
                .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn paths_of_places_lead_back_to_their_values(value in document()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let mut values = Vec::new();
        every_value(&mut Cursor::new(text.as_bytes()), "", &mut values);
        let paths: Vec<_> = values.iter().map(|(_, path)| path_steps(path)).collect();
        let followed = follow_paths(text.as_bytes(), 0, paths.iter().map(Vec::as_slice));
        for ((at, path), (steps, followed)) in values.iter().zip(paths.iter().zip(followed)) {
            prop_assert_eq!(followed, *at, "{} in {}", path, &text);
            let span = value_span(text.as_bytes(), 0, steps).unwrap();
            prop_assert_eq!(span.start, *at);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text[span]).is_ok());
        }
        // A byte behind its start belongs to the value, unless it begins another one there.
        let scalars: Vec<_> = values.iter().filter(|(at, _)| !matches!(text.as_bytes()[*at], b'{' | b'[')).collect();
        let offsets: Vec<usize> = scalars.iter().map(|(at, _)| at + 1).collect();
        for ((_, path), place) in scalars.iter().zip(places(text.as_bytes(), &offsets)) {
            prop_assert_eq!(&place.path, path);
            prop_assert_eq!(&place, &SourcePos::of(text.as_bytes(), place.offset));
            let lines: Vec<&str> = text[..place.offset].split('\n').collect();
            let column = lines.last().unwrap().chars().count() + 1;
            prop_assert_eq!((place.line, place.column), (lines.len(), column));
        }
    }
}
