//! References to providers.

use groundstate_pulumi_snapshot::{ProviderRef, ResourceId, UNKNOWN, Urn, is_default_provider};

const PROVIDER: &str = "urn:pulumi:s::p::pulumi:providers:aws::default";

#[test]
fn references_are_split_at_the_last_delimiter() {
    for (text, urn, id) in [
        (format!("{PROVIDER}::id"), PROVIDER.to_owned(), "id"),
        (format!("{PROVIDER}::a::b"), format!("{PROVIDER}::a"), "b"),
        (format!("{PROVIDER}::"), PROVIDER.to_owned(), ""),
        (format!("{PROVIDER}::{UNKNOWN}"), PROVIDER.to_owned(), UNKNOWN),
    ] {
        let split = ProviderRef::from(text.as_str()).split().unwrap();
        assert_eq!(split, (Urn::from(urn), ResourceId::from(id)), "{text}");
    }
}

#[test]
fn an_empty_identifier_is_built_as_the_unknown_one() {
    let built = ProviderRef::build(&Urn::from(PROVIDER), &ResourceId::default()).unwrap();
    assert_eq!(built.as_str(), format!("{PROVIDER}::{UNKNOWN}"));
}

#[test]
fn each_way_to_be_wrong_has_its_text() {
    let typed = |token: &str| format!("urn:pulumi:s::p::{token}::n::id");
    for (text, message) in [
        ("abc".to_owned(), "expected '::' in provider reference 'abc'"),
        (String::new(), "expected '::' in provider reference ''"),
        ("a::b".to_owned(), "a is not a valid URN"),
        (typed("a:b:c"), "invalid module in type: expected 'pulumi:providers', got 'a:b'"),
        (typed("abc"), "invalid module in type: expected 'pulumi:providers', got ''"),
        (typed("a:b"), "invalid module in type: expected 'pulumi:providers', got 'a:b'"),
        (
            typed("pulumi:providers"),
            "invalid module in type: expected 'pulumi:providers', got 'pulumi:providers'",
        ),
        // The delimiter takes the last colon of such a type.
        (
            typed("pulumi:providers:"),
            "invalid module in type: expected 'pulumi:providers', got 'pulumi:providers'",
        ),
    ] {
        let error = ProviderRef::from(text.as_str()).split().unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
    let error = ProviderRef::build(&Urn::from("x"), &ResourceId::from("1")).unwrap_err();
    assert_eq!(error.to_string(), "x is not a valid URN");
}

#[test]
fn all_readings_of_an_identifier_with_delimiters_are_offered() {
    let reference = ProviderRef::from(format!("{PROVIDER}::a::b"));
    let readings: Vec<(&str, &str)> = reference.splits().collect();
    let long = format!("{PROVIDER}::a");
    assert_eq!(readings, [(long.as_str(), "b"), (PROVIDER, "a::b")]);
    assert_eq!(ProviderRef::from("abc").splits().count(), 0);
}

#[test]
fn special_providers_are_told_apart() {
    assert!(ProviderRef::from(format!("{PROVIDER}::denydefaultprovider")).is_deny_default());
    assert!(!ProviderRef::from(format!("{PROVIDER}::x")).is_deny_default());
    assert!(is_default_provider(&Urn::from("urn:pulumi:s::p::pulumi:providers:aws::default_6_0")));
    assert!(!is_default_provider(&Urn::from("urn:pulumi:s::p::pulumi:providers:aws::mine")));
    assert!(!is_default_provider(&Urn::from("urn:pulumi:s::p::a:b:c::default")));
}
