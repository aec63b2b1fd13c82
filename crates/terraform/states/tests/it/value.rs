//! Values and types: normalization, conformity, depth, the order of sets.

use std::collections::BTreeMap;

use groundstate_states::{MAX_VALUE_DEPTH, Number, ObjectType, OutputValue, Type, Value};

fn number(text: &str) -> Value {
    Value::Number(Number::parse(text).expect(text))
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn object_type(attributes: &[(&str, Type)]) -> Type {
    let attributes = attributes.iter().map(|(name, ty)| ((*name).into(), ty.clone())).collect();
    Type::Object(ObjectType { attributes, ..ObjectType::default() })
}

fn set_of(element: Type) -> Type {
    Type::Set(Box::new(element))
}

fn nested_lists(depth: usize) -> (Value, Type) {
    let mut pair = (Value::Bool(true), Type::Bool);
    for _ in 1..depth {
        pair = (Value::Sequence(vec![pair.0]), Type::List(Box::new(pair.1)));
    }
    pair
}

#[test]
fn strings_and_names_are_composed() {
    assert_eq!(text("e\u{301}"), Value::String("\u{e9}".into()));
    let members = Value::mapping([("e\u{301}", Value::Bool(false)), ("\u{e9}", Value::Bool(true))]);
    assert_eq!(members, Value::Mapping(BTreeMap::from([("\u{e9}".into(), Value::Bool(true))])));
}

#[test]
fn sets_of_primitives_are_sorted_by_value_with_null_last() {
    let cases = [
        (
            Type::Number,
            vec![number("10"), Value::Null, number("9"), number("1e1")],
            vec![number("9"), number("10"), Value::Null],
        ),
        (
            Type::String,
            vec![text("b"), text("B"), text("a"), text("a")],
            vec![text("B"), text("a"), text("b")],
        ),
        (
            Type::Bool,
            vec![Value::Bool(true), Value::Bool(false)],
            vec![Value::Bool(false), Value::Bool(true)],
        ),
    ];
    for (ty, elements, expected) in cases {
        assert_eq!(Value::set(elements, &ty), Value::Sequence(expected), "{ty:?}");
    }
}

#[test]
fn sets_of_composite_elements_are_sorted_by_their_text() {
    let ty = object_type(&[("a", Type::Number), ("b", Type::Bool)]);
    let object = |a: &str, b: Value| Value::mapping([("a", number(a)), ("b", b)]);
    let yes = Value::Bool(true);
    let set = Value::set(
        vec![Value::Null, object("9", yes.clone()), object("10", Value::Null), object("10", yes.clone())],
        &ty,
    );
    let expected = vec![object("10", yes.clone()), object("10", Value::Null), object("9", yes), Value::Null];
    assert_eq!(set, Value::Sequence(expected));

    let nested =
        |number: &[&str]| Value::Sequence(number.iter().map(|digits| self::number(digits)).collect());
    let set =
        Value::set(vec![nested(&["1", "3"]), nested(&["10"]), nested(&["1", "2"])], &set_of(Type::Number));
    assert_eq!(set, Value::Sequence(vec![nested(&["10"]), nested(&["1", "2"]), nested(&["1", "3"])]));

    let map = |names: &[&str]| Value::mapping(names.iter().map(|name| (name, Value::Bool(true))));
    let set = Value::set(vec![map(&["b"]), map(&["a"]), map(&["a", "b"])], &Type::Map(Box::new(Type::Bool)));
    assert_eq!(set, Value::Sequence(vec![map(&["a", "b"]), map(&["a"]), map(&["b"])]));
}

#[test]
fn strings_inside_composite_elements_are_compared_with_escapes() {
    // The order is the one that Terraform 1.11 gives these elements.
    let ordered = ["[", "\"", "\\", "\u{7}", "\n", "\u{a0}", "\u{200b}", "\u{b}", "a", "~", "é"];
    let list = |element: &str| Value::Sequence(vec![text(element)]);
    let set = Value::set(
        ordered.iter().rev().map(|string| list(string)).collect(),
        &Type::Tuple(vec![Type::String]),
    );
    assert_eq!(set, Value::Sequence(ordered.iter().map(|string| list(string)).collect()));
}

#[test]
fn numbers_inside_composite_elements_are_compared_with_ten_digits() {
    // The order is the one that Terraform 1.11 gives these elements.
    let ordered = [
        "-1",
        "0.0001",
        "0.5",
        "0",
        "12345678912",
        "12345678900.5",
        "1.5",
        "1000000000",
        "100",
        "10000000000",
        "99999999995.5",
        "0.00001",
    ];
    let tuple = |digits: &str| Value::Sequence(vec![number(digits)]);
    let ty = Type::Tuple(vec![Type::Number]);
    let set = Value::set(ordered.iter().rev().map(|digits| tuple(digits)).collect(), &ty);
    assert_eq!(set, Value::Sequence(ordered.iter().map(|digits| tuple(digits)).collect()));

    // Terraform leaves these in the order in which it read them.
    let rounding_alike = ["12345678901", "12345678900"];
    let elements = ["12345678901", "12345678900", "12345678901.0"];
    let set = Value::set(elements.iter().map(|digits| tuple(digits)).collect(), &ty);
    assert_eq!(set, Value::Sequence(rounding_alike.iter().map(|digits| tuple(digits)).collect()));
}

#[test]
fn conformity_is_checked_at_every_level() {
    let ty = object_type(&[
        ("list", Type::List(Box::new(Type::Number))),
        ("any", Type::Dynamic),
        ("pair", Type::Tuple(vec![Type::String, Type::Map(Box::new(Type::Bool))])),
    ]);
    let value =
        |list: Value, any: Value, pair: Value| Value::mapping([("list", list), ("any", any), ("pair", pair)]);
    let list = Value::Sequence(vec![number("1"), Value::Null]);
    let any = Value::Dynamic(Box::new((Type::String, text("x"))));
    let pair = Value::Sequence(vec![text("x"), Value::mapping([("k", Value::Bool(true))])]);
    assert!(value(list.clone(), any.clone(), pair.clone()).conforms_to(&ty));
    assert!(value(Value::Null, Value::Null, Value::Null).conforms_to(&ty));

    let wrong = [
        value(Value::Sequence(vec![text("1")]), any.clone(), pair.clone()),
        value(list.clone(), text("not wrapped"), pair.clone()),
        value(list.clone(), Value::Dynamic(Box::new((Type::Bool, text("x")))), pair.clone()),
        value(list.clone(), any.clone(), Value::Sequence(vec![text("x")])),
        value(
            list.clone(),
            any.clone(),
            Value::Sequence(vec![text("x"), Value::mapping([("k", text("y"))])]),
        ),
        Value::mapping([("list", list.clone()), ("any", any.clone())]),
        Value::mapping([("list", list), ("any", any), ("pair", pair), ("more", Value::Null)]),
    ];
    for (index, value) in wrong.iter().enumerate() {
        assert!(!value.conforms_to(&ty), "{index}");
    }
}

#[test]
fn optional_attributes_may_be_missing() {
    let attributes = BTreeMap::from([("a".into(), Type::Bool), ("b".into(), Type::Bool)]);
    let ty = Type::Object(ObjectType { attributes, optional: ["b".into()].into() });
    assert!(Value::mapping([("a", Value::Bool(true))]).conforms_to(&ty));
    assert!(!Value::mapping([("b", Value::Bool(true))]).conforms_to(&ty));
}

#[test]
fn depth_is_measured_without_recursion() {
    let (value, ty) = nested_lists(MAX_VALUE_DEPTH);
    assert!(value.is_within_depth() && ty.is_within_depth() && value.conforms_to(&ty));
    let (value, ty) = nested_lists(MAX_VALUE_DEPTH + 1);
    assert!(!value.is_within_depth() && !ty.is_within_depth());
    assert!(!Value::Dynamic(Box::new((ty, Value::Null))).is_within_depth());
}

#[test]
fn primitives_are_read_from_text() {
    let cases = [
        (Type::Bool, "1", Some(Value::Bool(true))),
        (Type::Bool, "false", Some(Value::Bool(false))),
        (Type::Bool, "True", None),
        (Type::Number, "1e2", Some(number("100"))),
        (Type::Number, "Inf", None),
        (Type::String, "e\u{301}", Some(text("\u{e9}"))),
        (Type::Dynamic, "x", None),
    ];
    for (ty, text, expected) in cases {
        assert_eq!(ty.parse_primitive(text), expected, "{ty:?} {text}");
    }
}

#[test]
fn debug_hides_sensitive_outputs() {
    let mut output = OutputValue::new(text("hunter2"), Type::String);
    assert!(format!("{output:?}").contains("hunter2"));
    output.sensitive = true;
    assert!(!format!("{output:?}").contains("hunter2"));
}
