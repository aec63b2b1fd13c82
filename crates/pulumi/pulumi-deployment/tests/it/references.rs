//! Names inside of properties, changed where they stand.

use groundstate_pulumi_deployment::rewrite_references;
use groundstate_pulumi_snapshot::{RawJson, Urn};

const SIG: &str = "\"4dabf18193072939515e22adb298388d\"";

fn reference(urn: &str) -> String {
    format!(r#"{{{SIG}:"5cf8f73096256a8f31e491e813e4eb8e","id":"{urn}","urn":"{urn}"}}"#)
}

fn secret(member: &str, inside: &str) -> String {
    format!(
        r#"{{{SIG}:"1b47061264138c4ac30d75fd1eb44270","{member}":{}}}"#,
        serde_json::to_string(inside).unwrap()
    )
}

/// Renames `old`, and tells what became of the text.
fn renamed(text: &str) -> Option<String> {
    let raw = RawJson::parse_as_written(text).unwrap();
    let mut rename = |urn: &Urn| (urn.as_str() == "old").then(|| Urn::from("new<"));
    rewrite_references(&raw, &mut rename).unwrap().map(|raw| raw.as_str().to_owned())
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(renamed(text).as_deref(), Some(expected));
}

#[test]
fn names_in_references_change_and_all_else_stays() {
    let new =
        r#"{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e","id":"old","urn":"new<"}"#;
    check(&reference("old"), new);
    let around = |inner: &str| format!(r#"{{"z":1.0,"a":[{inner},"old"],"a":{{"urn":"old"}},"t":"\u003c"}}"#);
    check(&around(&reference("old")), &around(new));
}

#[test]
fn nothing_changes_where_nothing_is_named() {
    for text in [
        reference("other"),
        "{}".into(),
        r#"{"urn":"old"}"#.into(),
        "\"old\"".into(),
        format!("{{{SIG}:5,\"urn\":\"old\"}}"),
    ] {
        assert_eq!(renamed(&text), None, "{text}");
    }
}

#[test]
fn secrets_change_if_they_can_be_read() {
    for member in ["plaintext", "ciphertext"] {
        let inside = format!("[{}]", reference("old"));
        let changed = inside.replace(r#""urn":"old""#, r#""urn":"new\u003c""#);
        check(&secret(member, &inside), &secret(member, &changed));
        assert_eq!(renamed(&secret(member, "not-json 4dabf18193072939515e22adb298388d")), None);
        assert_eq!(renamed(&secret(member, "v1:abc:def")), None);
    }
}

#[test]
fn outputs_change_in_value_and_dependencies() {
    let output = |urn: &str, inner: &str| {
        format!(
            r#"{{"dependencies":["{urn}",5,"x"],"value":{inner},{SIG}:"d0e6a833031e9bbcd3f4e8bde6ca49a4"}}"#
        )
    };
    let new = reference("old").replace(r#""urn":"old""#, r#""urn":"new<""#);
    check(&output("old", &reference("old")), &output("new<", &new));
}

#[test]
fn nesting_is_bounded() {
    let text = format!("{}{}{}", "[".repeat(300), reference("old"), "]".repeat(300));
    let raw = RawJson::parse_as_written(&text).unwrap();
    assert!(rewrite_references(&raw, &mut |_| None).is_err());
}
