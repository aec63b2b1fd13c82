//! States in documents: exports, imports, checkpoints and entries of journals keep their text.

use groundstate_pulumi_protocol::{
    Checkpoint, CreateStack, DeploymentError, ImportedStack, JournalEntries, JsonText, UntypedDeployment,
    decode, encode,
};

#[test]
fn the_inner_deployment_keeps_its_text() {
    let inner = r#"{ "manifest":{},  "unknown":1.500, "resources":[] }"#;
    let body = format!(r#"{{"version":4,"features":["hooks"],"deployment":{inner},"other":true}}"#);
    let import: UntypedDeployment = decode(body.as_bytes()).unwrap();
    assert_eq!(import.checked().unwrap().as_str(), inner);
    let written = String::from_utf8(encode(&import).unwrap()).unwrap();
    assert_eq!(written, format!(r#"{{"version":4,"features":["hooks"],"deployment":{inner}}}"#));
}

#[test]
fn deployments_that_cannot_be_stored_are_refused() {
    for (body, expected) in [
        (r#"{"version":3,"deployment":{}}"#, None),
        (r#"{"version":1,"deployment": {} }"#, None),
        (r#"{"deployment":{}}"#, Some(DeploymentError::Version(0))),
        (r#"{"version":5,"deployment":{}}"#, Some(DeploymentError::Version(5))),
        (r#"{"version":3}"#, Some(DeploymentError::NoObject)),
        (r#"{"version":3,"deployment":null}"#, Some(DeploymentError::NoObject)),
        (r#"{"version":3,"deployment":[]}"#, Some(DeploymentError::NoObject)),
        (r#"{"version":3,"deployment":"{}"}"#, Some(DeploymentError::NoObject)),
    ] {
        let read: UntypedDeployment = decode(body.as_bytes()).unwrap();
        assert_eq!(read.checked().err(), expected, "{body}");
    }
}

#[test]
fn a_stack_without_state_exports_an_empty_deployment() {
    let deployment = JsonText::parse(UntypedDeployment::EMPTY).unwrap();
    let export = UntypedDeployment { version: 3, features: Vec::new(), deployment: Some(deployment) };
    let expected = r#"{"version":3,"deployment":{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""},"metadata":{}}}"#;
    assert_eq!(encode(&export).unwrap(), expected.as_bytes());
}

#[test]
fn a_checkpoint_may_say_that_there_is_no_valid_state() {
    let invalid: Checkpoint = decode(br#"{"isInvalid":true,"version":3,"deployment":null}"#).unwrap();
    assert!(invalid.is_invalid && invalid.deployment.is_none());
    let valid: Checkpoint =
        decode(br#"{"isInvalid":false,"version":4,"features":["taint"],"deployment":{"a": 1}}"#).unwrap();
    assert_eq!((valid.version, valid.features.len(), valid.is_invalid), (4, 1, false));
    assert_eq!(valid.deployment.unwrap().as_str(), r#"{"a": 1}"#);
}

#[test]
fn a_new_stack_brings_its_first_state() {
    let body = br#"{"stackName":"dev","tags":{"pulumi:project":"p"},"state":{"version":3,"deployment":{"manifest":{}}}}"#;
    let create: CreateStack = decode(body).unwrap();
    assert_eq!(create.stack_name, "dev");
    assert_eq!(create.tags["pulumi:project"], "p");
    assert_eq!(create.state.as_ref().unwrap().checked().unwrap().as_str(), r#"{"manifest":{}}"#);
    assert!(create.config.is_none() && create.teams.is_empty());
    assert_eq!(encode(&create).unwrap(), body);
}

#[test]
fn entries_of_journals_keep_their_text() {
    let entry = r#"{"version":1, "kind":0,"sequenceID":2,"operationID":1,"removeOld":null,"removeNew":null}"#;
    let body = format!(r#"{{"entries":[{entry},{entry}]}}"#);
    let journal: JournalEntries = decode(body.as_bytes()).unwrap();
    assert_eq!(journal.entries.iter().map(JsonText::as_str).collect::<Vec<_>>(), [entry, entry]);
    assert_eq!(decode::<JournalEntries>(br#"{"entries":null}"#).unwrap().entries, []);
}

#[test]
fn an_import_is_answered_with_its_update() {
    let answer = ImportedStack { update_id: "u-1".to_owned(), sha256: None };
    assert_eq!(encode(&answer).unwrap(), br#"{"updateId":"u-1"}"#);
}

#[test]
fn values_of_states_are_not_shown() {
    let body = r#"{"version":3,"deployment":{"password":"hunter2"}}"#;
    let read: UntypedDeployment = decode(body.as_bytes()).unwrap();
    let shown = format!("{read:?}");
    assert!(shown.contains("JsonText(22 bytes)") && !shown.contains("hunter2"), "{shown}");
}
