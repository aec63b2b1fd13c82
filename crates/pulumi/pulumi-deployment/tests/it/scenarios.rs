//! Model and JSON: order, omissions, numbers, escapes, layouts.

use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, EncodeOptions, Envelope, EnvelopeKind, Escapes, Layout, NoteKind, decode,
    encode,
};
use groundstate_pulumi_snapshot::{PropertyPath, PropertyPathStep, Resource, Snapshot};

use crate::support::{export, export_with, read, resource, round_trip, written};

/// All members of a resource with a value, in the order of the original.
const ALL: &str = r#""urn":"urn:pulumi:s::p::t:t:T::n","custom":true,"delete":true,"id":"i","type":"t:t:T","inputs":{"a":1},"outputs":{"b":2},"parent":"p","protect":true,"taint":true,"external":true,"dependencies":["d"],"initErrors":["e"],"provider":"pr","propertyDependencies":{"a":["d"],"b":[],"c":null},"pendingReplacement":true,"additionalSecretOutputs":["b"],"aliases":["al"],"customTimeouts":{"create":1.5,"update":2,"delete":3,"read":4},"importID":"im","retainOnDelete":true,"deletedWith":"dw","replaceWith":["rw"],"created":"2024-01-01T00:00:00Z","modified":"2024-01-01T00:00:00.5Z","sourcePosition":"sp","stackTrace":[{"sourcePosition":"st"},{}],"ignoreChanges":["ic"],"hideDiff":["a.b[0]"],"replaceOnChanges":["rc"],"replacementTrigger":[],"refreshBeforeUpdate":true,"viewOf":"vo","resourceHooks":{"AfterCreate":["h"],"OnError":[]},"extensionRef":"er","snippetID":"si""#;

#[test]
fn an_empty_deployment_has_its_manifest_and_metadata() {
    let file = DeploymentFile::new(Envelope::Deployment, Some(Snapshot::default()));
    let options = EncodeOptions::default().layout(Layout::COMPACT).line_break(false);
    let text = String::from_utf8(encode(&file, &options).unwrap()).unwrap();
    let body = r#"{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""},"metadata":{}}"#;
    assert_eq!(text, format!(r#"{{"version":3,"deployment":{body}}}"#));
}

#[test]
fn a_resource_without_anything_has_three_members() {
    let file = DeploymentFile::new(
        Envelope::checkpoint("organization/p/s"),
        Some(Snapshot::new([Resource::new("u", "t")])),
    );
    let text = written(&file);
    assert!(text.contains(r#""resources":[{"urn":"u","custom":false,"type":"t"}]"#), "{text}");
    assert!(
        text.starts_with(r#"{"version":3,"checkpoint":{"stack":"organization/p/s","latest":{"#),
        "{text}"
    );
    assert!(!text.ends_with('\n'));
}

#[test]
fn all_members_are_written_in_their_order() {
    let features = r#"["extensionParameterization","hooks","refreshBeforeUpdate","replaceWith","snippets-prototype","taint","views"]"#;
    round_trip(&export_with(features, &format!("{{{ALL}}}")));
}

#[test]
fn what_is_empty_is_left_out_and_what_is_not_is_kept() {
    for (members, kept) in [
        (r#""replacementTrigger":false"#, true),
        (r#""replacementTrigger":0"#, true),
        (r#""replacementTrigger":"""#, true),
        (r#""replacementTrigger":null"#, false),
        (r#""customTimeouts":{"create":0,"read":0.0}"#, false),
        (r#""customTimeouts":{"create":1.5}"#, true),
        (r#""propertyDependencies":{"p":[]}"#, true),
        (r#""propertyDependencies":{"p":null}"#, true),
        (r#""propertyDependencies":{}"#, false),
        (r#""delete":false,"id":"","inputs":{},"outputs":null,"parent":"","dependencies":[]"#, false),
        (r#""created":"0001-01-01T00:00:00Z""#, true),
    ] {
        let text = export(&resource(members));
        let expected = if kept { text.clone() } else { export(&resource("")) };
        assert_eq!(written(&read(&text)), expected, "{members}");
    }
}

#[test]
fn paths_of_hidden_differences_are_written_as_lists_name_them() {
    let steps = vec![
        PropertyPathStep::Name("a".into()),
        PropertyPathStep::Name("b".into()),
        PropertyPathStep::Index(0),
    ];
    let mut changed = Resource::new("u", "t");
    changed.hide_diff.push(PropertyPath::new(steps).to_string().into());
    let text = written(&DeploymentFile::new(Envelope::checkpoint("s"), Some(Snapshot::new([changed]))));
    assert!(text.contains(r#""hideDiff":["a.b[0]"]"#), "{text}");
}

#[test]
fn the_file_of_a_new_stack_loads_and_stays_as_it_is() {
    let text = r#"{"version":0,"checkpoint":{"stack":"organization/p/s"}}"#;
    let mut file = read(text);
    assert_eq!((file.stack(), file.snapshot.is_none()), (Some("organization/p/s"), true));
    assert_eq!(written(&file), text);
    file.snapshot = Some(Snapshot::default());
    assert!(written(&file).starts_with(r#"{"version":3,"checkpoint":"#));
}

#[test]
fn features_of_version_3_are_ignored_with_a_note() {
    let text = r#"{"version":3,"features":["zzz"],"checkpoint":{"latest":{"manifest":{},"metadata":{}}}}"#;
    let file = read(text);
    assert!(file.features.is_empty() && file.snapshot.is_some());
    assert_eq!(file.notes[0].kind, NoteKind::Dropped);
}

#[test]
fn escapes_and_white_space_are_those_of_the_file() {
    let compact = export(&resource(r#""outputs":{"k":"<\u003c>"},"importID":"<&>""#));
    round_trip(&compact);
    // A secret holds escapes of its own, whatever the file does.
    round_trip(&export(&resource(r#""outputs":{"k":"\\u003c"},"sourcePosition":"a>b""#)));
    let html = export(&resource(r#""outputs":{"k":"\u003c"},"importID":"\u003c\u0026\u003e\u2028""#));
    round_trip(&html);
    let options = EncodeOptions::default().layout(Layout::COMPACT.with_escapes(Escapes::Plain));
    let plain = String::from_utf8(encode(&read(&html), &options).unwrap()).unwrap();
    assert!(plain.contains(r#""importID":"<&>\u2028""#), "{plain}");
    round_trip(&format!("{compact}\n"));
}

#[test]
fn control_characters_have_the_escapes_of_the_original() {
    round_trip(&export(&resource(r#""importID":"\b\f\n\r\t\u0000\u001f\"\\/é""#)));
    round_trip(&export(&resource("\"importID\":\"\u{7f}\"")));
}

#[test]
fn unchanged_digits_are_kept() {
    let numbers =
        r#"{"a":9007199254740993,"b":1.0,"c":1E5,"d":-0,"e":100000000000000000000000000000000000000000}"#;
    round_trip(&export(&resource(&format!(r#""inputs":{numbers},"customTimeouts":{{"create":600.0}}"#))));
}

#[test]
fn integrity_metadata_keeps_its_variables() {
    let error =
        r#"{"version":"3","command":"up","error":"e","env_vars":{"PULUMI_A":"\"1\"","PULUMI_B":"[secret]"}}"#;
    let metadata = format!(r#""metadata":{{"integrity_error":{error}}}"#);
    round_trip(&export("").replace(r#","resources":[],"metadata":{}"#, &format!(",{metadata}")));
}

#[test]
fn an_export_of_a_stack_without_updates_says_null() {
    let text = r#"{"version":3,"deployment":null}"#;
    assert!(read(text).snapshot.is_none());
    round_trip(text);
    let version_alone = DecodeOptions::default().envelope(EnvelopeKind::Deployment);
    assert!(decode(br#"{"version":3}"#, &version_alone).unwrap().snapshot.is_none());
}

#[test]
fn files_of_other_programs_are_no_checkpoints() {
    let options = DecodeOptions::default().envelope(EnvelopeKind::Checkpoint);
    for text in [
        "{}",
        r#"{"version":0}"#,
        r#"{"version":3}"#,
        r#"{"version":3,"deployment":{}}"#,
        r#"{"version":3,"latest":{}}"#,
        r#"{"version":4,"terraform_version":"1.9.0","serial":1,"resources":[]}"#,
        r#"{"name":"left-pad","version":null}"#,
    ] {
        let error = decode(text.as_bytes(), &options).unwrap_err();
        assert!(error.to_string().contains("there is no `checkpoint`"), "{text}: {error}");
    }
    for text in [r#"{"version":3,"checkpoint":null}"#, r#"{"stack":"s"}"#, r#"{"latest":null}"#] {
        assert!(decode(text.as_bytes(), &options).unwrap().snapshot.is_none(), "{text}");
    }
}

#[test]
fn the_envelope_can_be_chosen() {
    let both = br#"{"version":3,"deployment":null,"checkpoint":{"stack":"s"}}"#;
    let as_kind = |kind| decode(both, &DecodeOptions::default().envelope(kind)).unwrap();
    let export = as_kind(EnvelopeKind::Deployment);
    assert_eq!(export.envelope, Envelope::Deployment);
    assert_eq!(written(&export).as_bytes(), both, "the other one is an unknown member");
    assert_eq!(as_kind(EnvelopeKind::Checkpoint).stack(), Some("s"));
}

#[test]
fn a_file_changes_its_envelope_and_nothing_else() {
    let mut file = read(&export(&resource(r#""id":"<""#)));
    file.envelope = Envelope::checkpoint("organization/p/s");
    let text = written(&file);
    let moved = read(&text);
    assert_eq!((moved.stack(), &moved.snapshot), (Some("organization/p/s"), &file.snapshot));
}

#[test]
fn names_that_repeat_share_their_memory() {
    let parent = r#""parent":"urn:pulumi:s::p::t:t:T::parent""#;
    let file = read(&export(&[resource(parent), resource(parent)].join(",")));
    let resources = &file.snapshot.as_ref().unwrap().resources;
    let text = |at: usize| resources[at].parent.as_ref().unwrap().as_str();
    assert!(std::ptr::eq(text(0), text(1)));
}

#[test]
fn debug_texts_show_no_configuration_inputs_or_provider_state() {
    let text = r#"{"version":3,"checkpoint":{"stack":"s","config":{"k":"swordfish"},"latest":{"manifest":{},"secrets_providers":{"type":"x","state":{"s":"swordfish"}},"resources":[{"inputs":{"k":"swordfish"},"x":"swordfish"}]}}}"#;
    let shown = format!("{:?}", read(text));
    assert!(!shown.contains("swordfish"), "{shown}");
}
