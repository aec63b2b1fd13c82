//! Flat maps: each rule for each kind of type, and bounds for hostile counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_states::{
    Decoded, FlatmapError, MAX_VALUE_DEPTH, Number, ObjectType, Type, Value, decode_flatmap,
};

const UNKNOWN: &str = "74D93920-ED26-11E3-AC10-0800200C9A66";

fn decode(ty: Type, entries: &[(&str, &str)]) -> Result<Decoded, FlatmapError> {
    let flat: BTreeMap<Arc<str>, Arc<str>> =
        entries.iter().map(|(key, text)| (Arc::from(*key), Arc::from(*text))).collect();
    decode_flatmap(&flat, &object_type("a", ty))
}

/// The value of the one attribute `a`.
#[track_caller]
fn value(ty: Type, entries: &[(&str, &str)]) -> Value {
    let object = decode(ty, entries).expect("the entries fit").value;
    let Value::Mapping(members) = object else { return Value::Null };
    members["a"].clone()
}

fn object_type(name: &str, ty: Type) -> ObjectType {
    ObjectType { attributes: [(name.into(), ty)].into(), ..ObjectType::default() }
}

fn list(element: Type) -> Type {
    Type::List(Box::new(element))
}

fn set(element: Type) -> Type {
    Type::Set(Box::new(element))
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn sequence(elements: impl IntoIterator<Item = Value>) -> Value {
    Value::Sequence(elements.into_iter().collect())
}

#[test]
fn primitives_are_converted_or_null() {
    let number = Value::Number(Number::parse("1.5").unwrap());
    assert_eq!(value(Type::String, &[("a", "x")]), text("x"));
    assert_eq!(value(Type::Number, &[("a", "1.50")]), number);
    assert_eq!(value(Type::Bool, &[("a", "1")]), Value::Bool(true));
    assert_eq!(value(Type::Bool, &[]), Value::Null);
    let error = decode(Type::Bool, &[("a", "secret")]).unwrap_err();
    assert_eq!(error, FlatmapError::NotPrimitive { key: "a".into(), expected: "bool" });
    assert!(!error.to_string().contains("secret"));
}

#[test]
fn objects_are_never_null() {
    let nested = Type::Object(object_type("b", Type::Object(object_type("c", Type::String))));
    let expected = |inner| Value::mapping([("b", Value::mapping([("c", inner)]))]);
    assert_eq!(value(nested.clone(), &[("a.b.c", "x")]), expected(text("x")));
    assert_eq!(value(nested, &[]), expected(Value::Null));
}

#[test]
fn lists_follow_their_count() {
    let entries = [("a.#", "2"), ("a.0", "x"), ("a.1", "y"), ("a.2", "beyond")];
    assert_eq!(value(list(Type::String), &entries), sequence([text("x"), text("y")]));
    assert_eq!(value(list(Type::String), &[("a.#", "2"), ("a.1", "y")]), sequence([Value::Null, text("y")]));
    assert_eq!(value(list(Type::String), &[("a.#", "0")]), sequence([]));
    assert_eq!(value(list(Type::String), &[("a.0", "x")]), Value::Null);
    let nested = [("a.#", "1"), ("a.0.#", "1"), ("a.0.0", "x")];
    assert_eq!(value(list(list(Type::String)), &nested), sequence([sequence([text("x")])]));
}

#[test]
fn bad_counts_are_errors() {
    for count in ["-1", "1.5", "many", "", "99999999999999999999999"] {
        let expected = Err(FlatmapError::BadCount { key: "a.#".into() });
        assert_eq!(decode(list(Type::String), &[("a.#", count)]), expected, "{count}");
        assert_eq!(decode(set(Type::String), &[("a.#", count)]), expected, "{count}");
    }
    let hostile = decode(list(Type::String), &[("a.#", "18446744073709551615")]);
    assert_eq!(hostile, Err(FlatmapError::TooMany { key: "a.#".into() }));
}

#[test]
fn tuples_have_exactly_their_length() {
    let pair = Type::Tuple(vec![Type::String, Type::Bool]);
    let entries = [("a.#", "2"), ("a.0", "x"), ("a.1", "true")];
    assert_eq!(value(pair.clone(), &entries), sequence([text("x"), Value::Bool(true)]));
    assert_eq!(value(pair.clone(), &[]), Value::Null);
    let wrong = decode(pair, &[("a.#", "3")]);
    assert_eq!(wrong, Err(FlatmapError::WrongLength { key: "a.#".into(), found: 3, expected: 2 }));
}

#[test]
fn maps_ignore_their_count_and_keep_dots_in_keys() {
    let ty = Type::Map(Box::new(Type::String));
    let entries = [("a.%", "7"), ("a.k", "x"), ("a.k.with.dots", "y"), ("ab", "other")];
    assert_eq!(value(ty.clone(), &entries), Value::mapping([("k", text("x")), ("k.with.dots", text("y"))]));
    assert_eq!(value(ty.clone(), &[("a.%", "nonsense")]), Value::Mapping(BTreeMap::new()));
    assert_eq!(value(ty, &[("a.k", "x")]), Value::Null);
}

#[test]
fn sets_collapse_duplicates_and_sort() {
    let entries = [("a.#", "3"), ("a.11", "y"), ("a.22", "x"), ("a.33", "y")];
    assert_eq!(value(set(Type::String), &entries), sequence([text("x"), text("y")]));
    let objects = Type::Object(object_type("b", Type::String));
    let entries = [("a.#", "1"), ("a.77.b", "x"), ("a.77.ignored", "y")];
    assert_eq!(value(set(objects), &entries), sequence([Value::mapping([("b", text("x"))])]));
    assert_eq!(value(set(Type::String), &[]), Value::Null);
    assert_eq!(value(set(Type::String), &[("a.#", "2")]), sequence([]));
}

#[test]
fn a_set_of_one_without_entries_has_one_empty_element() {
    let objects = Type::Object(object_type("b", Type::String));
    let cases = [
        (Type::String, Value::Null),
        (list(Type::String), sequence([])),
        (set(Type::String), sequence([])),
        (Type::Map(Box::new(Type::String)), Value::Mapping(BTreeMap::new())),
        (objects, Value::mapping([("b", Value::Null)])),
    ];
    for (element, expected) in cases {
        assert_eq!(value(set(element), &[("a.#", "1")]), sequence([expected]));
    }
}

#[test]
fn unknown_values_are_null_and_named() {
    let map = || Type::Map(Box::new(Type::String));
    let cases = [
        (Type::String, vec![("a", UNKNOWN)], "a"),
        (list(Type::String), vec![("a", UNKNOWN), ("a.#", "1")], "a"),
        (list(Type::String), vec![("a.#", UNKNOWN)], "a.#"),
        (set(Type::String), vec![("a.#", UNKNOWN)], "a.#"),
        (map(), vec![("a", UNKNOWN)], "a"),
        (map(), vec![("a.%", UNKNOWN)], "a.%"),
        (Type::Tuple(vec![]), vec![("a.#", UNKNOWN)], "a.#"),
    ];
    for (ty, entries, key) in cases {
        let decoded = decode(ty, &entries).unwrap();
        assert_eq!(decoded.value, Value::mapping([("a", Value::Null)]), "{key}");
        assert_eq!(decoded.unknown, [key]);
    }
}

#[test]
fn dynamic_and_bottomless_types_are_errors() {
    let unsupported = Err(FlatmapError::Unsupported { key: "a".into() });
    assert_eq!(decode(Type::Dynamic, &[]), unsupported);
    let mut ty = Type::String;
    for _ in 0..1000 {
        ty = list(ty);
    }
    assert_eq!(decode(ty, &[]), unsupported);
}

#[test]
fn the_deepest_types_are_decoded() {
    let (mut ty, mut expected) = (Type::String, text("x"));
    let (mut key, mut entries) = ("a".to_owned(), BTreeMap::new());
    for _ in 1..MAX_VALUE_DEPTH {
        (ty, expected) = (set(ty), sequence([expected]));
        entries.insert(Arc::from(format!("{key}.#")), Arc::from("1"));
        key.push_str(".0");
    }
    entries.insert(Arc::from(key), Arc::from("x"));
    let decoded = decode_flatmap(&entries, &object_type("a", ty)).unwrap();
    assert_eq!(decoded.value, Value::mapping([("a", expected)]));
}

#[test]
fn debug_hides_the_value() {
    assert!(!format!("{:?}", decode(Type::String, &[("a", "hunter2")])).contains("hunter2"));
}
