//! The `secrets_providers` object.

use groundstate_pulumi_secrets::{SecretsProviders, SecretsProvidersError};

#[test]
fn an_object_is_kept_byte_for_byte() {
    for (text, kind, state) in [
        (r#"{"type":"passphrase","state":{"salt":"v1:a:b"}}"#, "passphrase", Some(r#"{"salt":"v1:a:b"}"#)),
        (
            " { \"state\" : [ 1.0e5 ] ,\n \"later\": {\"a\":1,\"a\":2}, \"type\" : \"x\" }\n",
            "x",
            Some("[ 1.0e5 ]"),
        ),
        (r#"{"type":"cloud"}"#, "cloud", None),
        (r#"{"type":"","state":null}"#, "", Some("null")),
        (r#"{"type":null}"#, "", None),
        ("{}", "", None),
        (r#"{"\u0074ype":"p\u0061ss"}"#, "pass", None),
        // The last of equal names counts, as in the original.
        (r#"{"type":"a","state":1,"type":"b","state":2}"#, "b", Some("2")),
        // Names match exactly.
        (r#"{"Type":"a"}"#, "", None),
    ] {
        let providers = SecretsProviders::parse(text).unwrap();
        assert_eq!((providers.kind(), providers.state()), (kind, state), "{text}");
        assert_eq!(providers.is_none(), kind.is_empty(), "{text}");
        assert_eq!(providers.as_json(), text);
        assert_eq!(providers.clone().as_json(), text);
    }
}

#[test]
fn what_is_no_object_is_refused_with_its_place() {
    for (text, expected) in [
        ("", SecretsProvidersError::Syntax { line: 1, column: 0 }),
        ("null", SecretsProvidersError::Syntax { line: 1, column: 4 }),
        ("\"hunter2\"", SecretsProvidersError::Syntax { line: 1, column: 9 }),
        ("[]", SecretsProvidersError::Syntax { line: 1, column: 0 }),
        ("{\n\"type\":}", SecretsProvidersError::Syntax { line: 2, column: 8 }),
        ("{} x", SecretsProvidersError::Syntax { line: 1, column: 4 }),
        (r#"{"type":7}"#, SecretsProvidersError::Type),
        (r#"{"type":{}}"#, SecretsProvidersError::Type),
    ] {
        let error = SecretsProviders::parse(text).unwrap_err();
        assert_eq!(error, expected, "{text}");
        assert!(!error.to_string().contains("hunter2"));
    }
}

#[test]
fn deep_states_do_no_harm() {
    for depth in [1_000, 100_000] {
        let state = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let providers = SecretsProviders::new("x", Some(&state)).unwrap();
        assert_eq!(providers.state(), Some(&*state));
    }
}

#[test]
fn a_new_object_is_written_as_the_original_writes_it() {
    for (kind, state, expected) in [
        ("passphrase", Some(r#"{"salt":"v1:a:b"}"#), r#"{"type":"passphrase","state":{"salt":"v1:a:b"}}"#),
        ("b64", None, r#"{"type":"b64"}"#),
        ("a\"b", Some("null"), r#"{"type":"a\"b","state":null}"#),
    ] {
        let providers = SecretsProviders::new(kind, state).unwrap();
        assert_eq!(providers.as_json(), expected);
        assert_eq!((providers.kind(), providers.state()), (kind, state));
    }
}

#[test]
fn a_state_that_would_say_more_than_a_state_is_refused() {
    for (state, expected) in [
        (r#"1,"type":"nop""#, SecretsProvidersError::State),
        (r#"1,"state":2"#, SecretsProvidersError::State),
        ("", SecretsProvidersError::State),
        ("{", SecretsProvidersError::State),
        ("1}, {", SecretsProvidersError::State),
    ] {
        assert_eq!(SecretsProviders::new("passphrase", Some(state)).unwrap_err(), expected, "{state}");
    }
}

#[test]
fn managers_are_compatible_if_type_and_state_are_the_same_bytes() {
    let parse = |text: &str| SecretsProviders::parse(text).unwrap();
    let base = parse(r#"{"type":"a","state":{"x":1}}"#);
    for (other, compatible) in [
        (r#"{"state":{"x":1}, "type":"a", "later":1}"#, true),
        (r#"{"type":"b","state":{"x":1}}"#, false),
        (r#"{"type":"a","state":{"x": 1}}"#, false),
        (r#"{"type":"a"}"#, false),
    ] {
        assert_eq!(base.is_compatible(&parse(other)), compatible, "{other}");
    }
}
