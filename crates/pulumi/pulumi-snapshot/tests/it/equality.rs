//! What properties mean: equality beside `==`.

use groundstate_pulumi_snapshot::{
    Archive, Asset, Ciphertext, Number, Output, PropertyMap, PropertyValue as V, ResourceReference, Secret,
    Urn,
};

fn object<const N: usize>(entries: [(&str, V); N]) -> V {
    V::Object(PropertyMap::from_iter(entries))
}

fn sealed(text: &str) -> V {
    V::Secret(Secret::sealed(Ciphertext::new(text)))
}

fn asset(hash: Option<&str>, path: &str) -> V {
    V::Asset(Box::new(Asset { hash: hash.map(Into::into), path: Some(path.into()), ..Asset::default() }))
}

fn reference(urn: &str, id: Option<&str>, version: &str) -> V {
    let (urn, id) = (Urn::from(urn), id.map(Into::into));
    let extra = PropertyMap::new();
    V::ResourceReference(Box::new(ResourceReference { urn, id, package_version: version.into(), extra }))
}

fn output(element: V, known: bool, secret: bool, dependencies: &[&str]) -> V {
    let dependencies = dependencies.iter().map(|urn| Urn::from(*urn)).collect();
    V::Output(Box::new(Output { element, known, secret, dependencies }))
}

fn number(text: &str) -> V {
    V::Number(Number::parse(text).expect("it is a number"))
}

#[test]
fn values_are_compared_by_what_they_mean() {
    let nan = || V::Number(Number::new(f64::NAN));
    let computed = |sample: &str| V::Computed(Box::new(V::from(sample)));
    for (left, right, expected) in [
        (V::Null, V::Null, Some(true)),
        (V::from("a"), V::from("a"), Some(true)),
        (V::from("1"), number("1"), Some(false)),
        (number("1"), number("1.0"), Some(true)),
        (nan(), nan(), Some(false)),
        (V::Array(vec![]), V::Null, Some(false)),
        (V::Array(vec![V::Null]), V::Array(vec![]), Some(false)),
        (object([("a", V::Null)]), object([]), Some(true)),
        (object([("a", V::from("x"))]), object([("b", V::from("x"))]), Some(false)),
        (V::from("a").into_secret(), V::from("a"), Some(false)),
        (V::from("a").into_secret(), V::from("a").into_secret(), Some(true)),
        (V::from("a").into_secret(), V::from("b").into_secret(), Some(false)),
        (sealed("x"), sealed("x"), Some(true)),
        (sealed("x"), sealed("y"), None),
        (sealed("x"), V::from("a").into_secret(), None),
        (V::Array(vec![sealed("x"), V::Null]), V::Array(vec![sealed("y"), V::Null]), None),
        (V::Array(vec![sealed("x"), V::Null]), V::Array(vec![sealed("y"), V::from(true)]), Some(false)),
        (asset(Some("h"), "a"), asset(Some("h"), "b"), Some(true)),
        (asset(Some("h"), "a"), asset(Some("g"), "a"), Some(false)),
        (asset(None, "a"), asset(None, "a"), Some(false)),
        (V::Archive(Box::default()), V::Archive(Box::<Archive>::default()), Some(false)),
        (reference("u", Some("1"), "1.0.0"), reference("u", Some("1"), "2.0.0"), Some(true)),
        (reference("u", Some("1"), ""), reference("u", None, ""), Some(false)),
        (reference("u", Some(""), ""), reference("u", Some(""), ""), Some(true)),
        (computed(""), computed(""), Some(true)),
        (computed(""), computed("a"), Some(false)),
        (output(V::Null, true, false, &["u"]), output(V::Null, true, false, &["u"]), Some(true)),
        (output(V::Null, true, false, &["u", "v"]), output(V::Null, true, false, &["v", "u"]), Some(false)),
        (output(V::Null, true, false, &[]), output(V::Null, true, true, &[]), Some(false)),
    ] {
        assert_eq!(left.deep_equals(&right), expected, "{left:?} {right:?}");
        assert_eq!(right.deep_equals(&left), expected, "{right:?} {left:?}");
    }
}

#[test]
fn triggers_are_equal_when_both_are_unknown() {
    let computed = |sample: &str| V::Computed(Box::new(V::from(sample)));
    for (left, right, expected) in [
        (computed("a"), computed("b"), Some(true)),
        (V::Array(vec![computed("a")]), V::Array(vec![computed("b")]), Some(true)),
        (object([("k", computed("a"))]), object([("k", computed("b"))]), Some(true)),
        (object([("k", V::Null)]), object([]), Some(false)),
        (computed("a"), V::from("a"), Some(false)),
        (V::from("a").into_secret(), V::from("a"), Some(false)),
        (output(V::from("a"), false, false, &["u"]), output(V::from("b"), false, false, &["u"]), Some(true)),
        (output(V::from("a"), false, false, &["u"]), output(V::from("a"), false, false, &[]), Some(false)),
        (output(V::from("a"), true, false, &[]), output(V::from("b"), true, false, &[]), Some(false)),
        (number("1"), number("1.0"), Some(true)),
    ] {
        assert_eq!(left.trigger_equals(&right), expected, "{left:?} {right:?}");
        assert_eq!(right.trigger_equals(&left), expected, "{right:?} {left:?}");
    }
}

#[test]
fn questions_look_inside() {
    let bytes = V::bytes(b"\xff");
    assert_eq!(V::bytes(b"ok"), V::from("ok"));
    for (value, secret, unknown, has_bytes) in [
        (object([("a", V::Array(vec![bytes.clone().into_secret()]))]), true, false, true),
        (V::Array(vec![V::unknown()]), false, true, false),
        (output(bytes.clone(), false, true, &[]), true, true, true),
        (sealed("x"), true, false, false),
        (asset(None, "a"), false, false, false),
        (V::from("a"), false, false, false),
    ] {
        let found = (value.contains_secrets(), value.contains_unknowns(), value.contains_bytes());
        assert_eq!(found, (secret, unknown, has_bytes), "{value:?}");
    }
}
