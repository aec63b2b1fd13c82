//! From one envelope to the other without a look inside.

use groundstate_pulumi_deployment::{EnvelopeKind, RawDeployment};

const BODY: &str =
    r#"{"manifest":{"later":1},"n":100000000000000000000000000000000000000000,"k":1,"k":2,"t":"<\u003c"}"#;

#[test]
fn bytes_survive_the_way_into_a_checkpoint_and_back() {
    let export = format!("{{\"version\": 3, \"deployment\": {}}}", BODY.replace(',', ", "));
    let raw = RawDeployment::read(export.as_bytes()).unwrap();
    let stored = raw.to_checkpoint("organization/p/s");
    let expected = format!(r#"{{"version":3,"checkpoint":{{"stack":"organization/p/s","latest":{BODY}}}}}"#);
    assert_eq!(str::from_utf8(&stored).unwrap(), expected);
    let back = RawDeployment::read(&stored).unwrap();
    assert_eq!((back.stack.as_deref(), back.envelope), (Some("organization/p/s"), EnvelopeKind::Checkpoint));
    assert_eq!(back.deployment, raw.deployment);
    let text = String::from_utf8(back.to_deployment()).unwrap();
    assert!(
        text.starts_with("{\n    \"version\": 3,\n    \"deployment\": {\n        \"manifest\": {"),
        "{text}"
    );
    assert!(text.ends_with("\n}\n") && text.contains("\"t\": \"<\\u003c\""), "{text}");
}

#[test]
fn versions_and_features_of_later_releases_pass_through() {
    let text = br#"{"version":7,"features":["later","taint"],"checkpoint":{"stack":"s","config":{"a":1},"latest":[]}}"#;
    let raw = RawDeployment::read(text).unwrap();
    assert_eq!((raw.version, raw.features.len()), (7, 2));
    assert_eq!(raw.to_checkpoint("s"), text);
}

#[test]
fn a_stack_without_a_deployment_has_none() {
    for text in [
        r#"{"version":3,"deployment":null}"#,
        r#"{"version":3,"checkpoint":{"stack":"s","latest":null}}"#,
        r#"{"stack":"s"}"#,
    ] {
        let raw = RawDeployment::read(text.as_bytes()).unwrap();
        assert_eq!(raw.deployment, None, "{text}");
        assert!(String::from_utf8(raw.to_deployment()).unwrap().contains("\"deployment\": null"));
    }
}

#[test]
fn what_is_no_deployment_is_refused() {
    for text in [
        "",
        "[]",
        "{",
        "{}",
        r#"{"deployment":1,"checkpoint":1}"#,
        r#"{"version":"3","deployment":1}"#,
        r#"{"version":3,"deployment":1} x"#,
    ] {
        assert!(RawDeployment::read(text.as_bytes()).is_err(), "{text}");
    }
}
