//! Edits of checkpoints: golden texts, rules, random edits.

use groundstate_pulumi_protocol::{
    CheckpointDelta, CheckpointVerbatim, DeltaError, Edit, apply_delta, decode, encode, sha256, verify_sha256,
};
use proptest::prelude::*;

const LIMIT: usize = 1 << 20;

const A: &str = r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-02T03:04:05Z","magic":"","version":""},"metadata":{},"resources":[{"urn":"urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev","custom":false,"type":"pulumi:pulumi:Stack"}]}}"#;
const HASH_A: &str = "b586feece9e19488d7ddf10ad07390685b97c3179df03483090469deb6417509";
const TO_B: &str = r#"[{"Span":{"uri":"","start":{"line":1,"column":1,"offset":121},"end":{"line":1,"column":1,"offset":220}},"NewText":"{\"urn\":\"urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev\",\"custom\":false,\"type\":\"pulumi:pulumi:Stack\"},{\"urn\":\"urn:pulumi:dev::p::pulumi:index:Stash::café\",\"custom\":true,\"id\":\"1\",\"type\":\"pulumi:index:Stash\"}"}]"#;
const HASH_B: &str = "4698a58827237e80cde8588632c09d65f393265bb70e0ca6f931fd260a590e69";
const TO_C: &str = r#"[{"Span":{"uri":"","start":{"line":1,"column":1,"offset":0},"end":{"line":1,"column":1,"offset":221}},"NewText":"{\"version\":3,\"deployment\":{\"manifest\":{\"time\":\"2026-01-02T03:04:06Z\",\"magic\":\"\",\"version\":\"\"},\"metadata\":{},\"resources\":["}]"#;
const HASH_C: &str = "92ea281d58ec439eb3baa5b4178bf24d66f9002227bbce6809643c5f9580485a";
const HEADER: &str = r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-02T03:04:06Z","magic":"","version":""},"metadata":{},"resources":["#;
const INSERTED: &str = r#",{"urn":"urn:pulumi:dev::p::pulumi:index:Stash::café","custom":true,"id":"1","type":"pulumi:index:Stash"}"#;
const HASH_D: &str = "ae9ba4c899077aa991856b8e9cb357badc385856feba1d8178b0995cd414136d";

/// The body that a CLI uploads.
fn body(sequence: u64, hash: &str, edits: &str) -> CheckpointDelta {
    let text = format!(
        r#"{{"version":3,"checkpointHash":"{hash}","sequenceNumber":{sequence},"deploymentDelta":{edits}}}"#
    );
    let delta: CheckpointDelta = decode(text.as_bytes()).unwrap();
    assert_eq!((delta.version, delta.sequence_number), (3, sequence));
    assert_eq!(encode(&delta).unwrap(), text.as_bytes(), "it is written as it was read");
    delta
}

#[test]
fn golden_edits_make_the_golden_texts() {
    assert_eq!((A.len(), &*sha256(A.as_bytes())), (223, HASH_A));
    let b = body(2, HASH_B, TO_B).apply(A.as_bytes(), LIMIT).unwrap();
    assert_eq!(b.len(), 329);
    let c = body(3, HASH_C, TO_C).apply(&b, LIMIT).unwrap();
    assert_eq!(c.len(), 229);
    let mut two = body(2, HASH_D, "[]");
    two.deployment_delta = vec![Edit::new(0..121, HEADER), Edit::new(220..220, INSERTED)];
    assert_eq!(two.apply(A.as_bytes(), LIMIT).unwrap().len(), 329);
}

#[test]
fn no_edits_leave_the_text_as_it_was() {
    for edits in ["[]", "null"] {
        let text = format!(r#"{{"checkpointHash":"{HASH_A}","deploymentDelta":{edits}}}"#);
        let delta: CheckpointDelta = decode(text.as_bytes()).unwrap();
        assert_eq!(delta.apply(A.as_bytes(), A.len()).unwrap(), A.as_bytes());
    }
}

#[test]
fn a_result_with_another_hash_is_refused() {
    let error = body(2, HASH_C, TO_B).apply(A.as_bytes(), LIMIT).unwrap_err();
    assert_eq!(error, DeltaError::Hash { expected: HASH_C.to_owned(), found: HASH_B.to_owned() });
    assert!(verify_sha256(A.as_bytes(), &HASH_A.to_uppercase()).is_err(), "digits are lower case");
    let long = verify_sha256(b"", &"a".repeat(1000)).unwrap_err().to_string();
    assert!(long.len() < 250, "what the client sent is not repeated at length: {long}");
}

#[test]
fn the_hash_of_a_whole_upload_is_that_of_its_exact_text() {
    let upload = format!(r#"{{"version":3,"untypedDeployment":  {A} ,"sequenceNumber":1}}"#);
    let upload: CheckpointVerbatim = decode(upload.as_bytes()).unwrap();
    assert_eq!(upload.untyped_deployment.as_str(), A);
    assert_eq!(upload.hash(), HASH_A);
    let spaced = r#"{ "version": 3.0e0, "x": "\u003c" }"#;
    let upload = format!(r#"{{"untypedDeployment":{spaced}}}"#);
    let upload: CheckpointVerbatim = decode(upload.as_bytes()).unwrap();
    assert_eq!(upload.hash(), sha256(spaced.as_bytes()));
}

#[test]
fn edits_that_break_a_rule_are_refused() {
    let old = "añb"; // ñ is bytes 1 and 2
    let edit = |start, end| Edit { start, end, text: String::new() };
    for (edits, expected) in [
        (vec![edit(3, 1)], DeltaError::Reversed { edit: 0, start: 3, end: 1 }),
        (vec![edit(1, 3), edit(0, 0)], DeltaError::Overlap { edit: 1, start: 0, previous_end: 3 }),
        (vec![edit(0, 3), edit(1, 4)], DeltaError::Overlap { edit: 1, start: 1, previous_end: 3 }),
        (vec![edit(0, 5)], DeltaError::OutOfRange { edit: 0, end: 5, length: 4 }),
        (vec![edit(5, 5)], DeltaError::OutOfRange { edit: 0, end: 5, length: 4 }),
        (vec![edit(0, u64::MAX)], DeltaError::OutOfRange { edit: 0, end: u64::MAX, length: 4 }),
        (vec![edit(0, 1), edit(2, 3)], DeltaError::SplitCharacter { edit: 1, offset: 2 }),
        (vec![edit(0, 2)], DeltaError::SplitCharacter { edit: 0, offset: 2 }),
        (vec![edit(2, 2)], DeltaError::SplitCharacter { edit: 0, offset: 2 }),
    ] {
        assert_eq!(apply_delta(old.as_bytes(), &edits, LIMIT), Err(expected), "{edits:?}");
    }
}

#[test]
fn insertions_may_meet_and_may_be_at_both_ends() {
    let edits = [
        Edit::new(0..0, "<"),
        Edit::new(0..1, "A"),
        Edit::new(1..1, "é"),
        Edit::new(1..1, "-"),
        Edit::new(3..3, ">"),
    ];
    assert_eq!(apply_delta(b"abc", &edits, LIMIT).unwrap(), "<Aé-bc>".as_bytes());
}

#[test]
fn a_text_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let edits = [Edit::new(1..1, "12345")];
    assert_eq!(apply_delta(b"ab", &edits, 7).unwrap(), b"a12345b");
    assert_eq!(apply_delta(b"ab", &edits, 6), Err(DeltaError::TooLong { limit: 6 }));
    assert_eq!(apply_delta(b"ab", &[Edit::new(0..2, "")], 0).unwrap(), b"");
}

#[test]
fn offsets_below_zero_and_edits_of_another_shape_are_no_document() {
    for edits in [
        r#"[{"Span":{"start":{"offset":-1},"end":{"offset":0}},"NewText":""}]"#,
        r#"[{"Span":{"start":{"offset":0.5},"end":{"offset":1}},"NewText":""}]"#,
        r#"[{"Span":{"start":{"offset":0},"end":{"offset":0}},"NewText":7}]"#,
        r#"{}"#,
    ] {
        let text = format!(r#"{{"deploymentDelta":{edits}}}"#);
        assert!(decode::<CheckpointDelta>(text.as_bytes()).is_err(), "{edits}");
    }
}

#[test]
fn texts_of_edits_are_not_shown() {
    let shown = format!("{:?}", Edit::new(1..2, "hunter2"));
    assert_eq!(shown, "Edit(1..2, 7 bytes)");
}

/// Text, and edits of it between characters: ascending, some of them insertions.
fn edited() -> impl Strategy<Value = (String, Vec<Edit>)> {
    let part = || "[a-c{}\"é漢𝄞]{0,6}";
    prop::collection::vec((part(), part(), part()), 0..12).prop_map(|parts| {
        let mut old = String::new();
        let mut edits = Vec::new();
        for (same, removed, added) in parts {
            old += &same;
            let start = old.len() as u64;
            old += &removed;
            edits.push(Edit::new(start..old.len() as u64, added));
        }
        (old, edits)
    })
}

proptest! {
    #[test]
    fn random_edits_give_what_replacing_from_the_end_gives((old, edits) in edited()) {
        let mut expected = old.clone();
        for edit in edits.iter().rev() {
            expected.replace_range(edit.start as usize..edit.end as usize, &edit.text);
        }
        let hash = sha256(expected.as_bytes());
        let delta = CheckpointDelta { checkpoint_hash: hash, deployment_delta: edits, ..CheckpointDelta::default() };
        let sent: CheckpointDelta = decode(&encode(&delta).unwrap()).unwrap();
        prop_assert_eq!(&sent, &delta);
        prop_assert_eq!(sent.apply(old.as_bytes(), expected.len()).unwrap(), expected.as_bytes());
        if !expected.is_empty() {
            let limit = expected.len() - 1;
            prop_assert_eq!(sent.apply(old.as_bytes(), limit), Err(DeltaError::TooLong { limit }));
        }
    }

    #[test]
    fn edits_anywhere_are_applied_or_refused_and_never_make_text_that_is_not_utf_8(
        old in "[a-cé漢𝄞]{0,12}",
        edits in prop::collection::vec((0_u64..40, 0_u64..40, "[a-c漢]{0,4}"), 0..5),
    ) {
        let edits: Vec<Edit> = edits.into_iter().map(|(start, end, text)| Edit { start, end, text }).collect();
        let boundary = |at: u64| old.is_char_boundary(at as usize);
        let is_valid = edits.iter().all(|edit| edit.start <= edit.end && boundary(edit.start) && boundary(edit.end))
            && edits.windows(2).all(|pair| pair[0].end <= pair[1].start);
        let applied = apply_delta(old.as_bytes(), &edits, LIMIT);
        prop_assert_eq!(applied.is_ok(), is_valid);
        if let Ok(new) = applied {
            prop_assert!(String::from_utf8(new).is_ok());
        }
    }
}
