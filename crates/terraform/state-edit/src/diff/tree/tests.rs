//! Differences of JSON values.

use groundstate_states::RawJson;
use proptest::prelude::*;
use serde_json::Value as Json;

use super::compare;

/// Paths at which two values differ.
fn paths(a: &str, b: &str) -> Vec<String> {
    let raw = |text| RawJson::parse(text).unwrap();
    let mut out = Vec::new();
    compare(&raw(a), &raw(b), "", &[], &mut out);
    out.into_iter().map(|change| change.path).collect()
}

#[test]
fn values_are_compared_by_meaning() {
    let same = [
        (r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1e0}"#),
        (r#""é\/""#, r#""\u00e9/""#),
        ("-0", "0.0"),
        ("12345678901234567890123456789012345678901e0", "12345678901234567890123456789012345678901"),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"[{"x":[1.50]}]"#, r#"[{"x":[15e-1]}]"#),
    ];
    for (a, b) in same {
        assert_eq!(paths(a, b), [""; 0], "{a} {b}");
    }
    let different: [(&str, &str, &[&str]); 12] = [
        ("1", "2", &[""]),
        ("12345678901234567890", "12345678901234567891", &[""]),
        ("1", "\"1\"", &[""]),
        ("null", "false", &[""]),
        ("[]", "{}", &[""]),
        (r#"{"a":{"b c":1}}"#, r#"{"a":{"b c":2,"d":3}}"#, &["a.\"b c\"", "a.d"]),
        ("[1,2,3]", "[1,3]", &["[1]"]),
        ("[1,2,3]", "[0,1,2,3]", &["[0]"]),
        ("[1,2,3]", "[1,4,5,3]", &["[1]", "[2]"]),
        (r#"[0,{"a":1,"b":2}]"#, r#"[{"b":2.0,"a":1.0}]"#, &["[0]"]),
        ("[0,[1,2]]", "[[1.0,2.0]]", &["[0]"]),
        (r#"[{"a":1}]"#, r#"[{"b":1}]"#, &["[0].a", "[0].b"]),
    ];
    for (a, b, expected) in different {
        assert_eq!(paths(a, b), expected, "{a} {b}");
        assert_eq!(paths(b, a).len(), expected.len());
    }
}

#[test]
fn deep_values_are_compared_as_text() {
    let nested = |inner: &str, depth: usize| format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(paths(&nested("1", 100), &nested("1.0", 100)), [""; 0]);
    assert_eq!(paths(&nested("1", 100), &nested("2", 100)), ["[0]".repeat(100)]);
    assert_eq!(paths(&nested("[1]", 128), &nested("[1.0]", 128)), ["[0]".repeat(128)]);
    assert_eq!(paths(&nested("1", 9_999), &nested("2", 9_999)), ["[0]".repeat(128)]);
    let nested =
        |inner: &str, depth: usize| format!("{}{inner}{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert_eq!(paths(&nested("1", 100), &nested("2", 100)), [vec!["a"; 100].join(".")]);
    assert_eq!(paths(&nested("1", 9_999), &nested("2", 9_999)), [vec!["a"; 128].join(".")]);
}

#[test]
fn many_differences_below_a_long_name_are_one() {
    let value = |name: usize, elements: usize, element: u8| {
        let list = vec![element.to_string(); elements].join(",");
        format!("{{\"{}\":[{list}]}}", "n".repeat(name))
    };
    let differing = |name, elements| paths(&value(name, elements, 1), &value(name, elements, 2));
    assert_eq!(differing(10_000, 1000), [""]);
    assert_eq!(differing(4, 1000).len(), 1000);
    // Few are told one by one even where their paths are longer than the values.
    assert_eq!(differing(1000, 10).len(), 10);
    // Of these the paths alone would take ten gigabytes.
    assert_eq!(differing(100_000, 100_000), [""]);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (0..4_i64).prop_map(Json::from),
        "[a-c]{0,2}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[a-c]{0,2}", inner, 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// The same value in another spelling: members reversed, numbers with a fraction, strings escaped.
fn respelled(value: &Json) -> String {
    match value {
        Json::Number(number) => format!("{number}.0"),
        Json::String(text) => {
            let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{units}\"")
        }
        Json::Array(elements) => {
            format!("[{}]", elements.iter().map(respelled).collect::<Vec<_>>().join(" , "))
        }
        Json::Object(members) => {
            let members =
                members.iter().rev().map(|(name, value)| format!("{name:?} : {}", respelled(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn only_what_differs_in_meaning_differs(a in any_json(), b in any_json()) {
        prop_assert_eq!(paths(&a.to_string(), &b.to_string()).is_empty(), a == b);
        prop_assert_eq!(paths(&a.to_string(), &respelled(&a)), [""; 0]);
        let (forth, back) = (paths(&a.to_string(), &b.to_string()), paths(&b.to_string(), &a.to_string()));
        prop_assert_eq!(forth, back);
    }
}
