//! One fixture for each thing that reading does, and one for each thing it refuses.
//!
//! A new case is a new file; its name says the version and the one thing it shows.

use std::fs;

use groundstate_pulumi_deployment::{DecodeOptions, EncodeOptions, decode, encode};

use crate::render;

#[test]
fn every_fixture_has_the_model_file_and_notes_of_its_snapshots() {
    insta::glob!("../../../../../tests/fixtures/pulumi/upgrade", "*.json", |path| {
        let text = fs::read(path).unwrap();
        let file = decode(&text, &DecodeOptions::default()).unwrap();
        insta::assert_json_snapshot!("model", render::model(&file));
        let encoded = encode(&file, &EncodeOptions::default().allow_loss(true)).unwrap();
        insta::assert_snapshot!("encoded", str::from_utf8(&encoded).unwrap());
        insta::assert_snapshot!("notes", render::notes(&file.notes, &text));
    });
}

#[test]
fn what_is_written_is_canonical_and_means_the_same() {
    insta::glob!("../../../../../tests/fixtures/pulumi/upgrade", "*.json", |path| {
        let text = fs::read(path).unwrap();
        let file = decode(&text, &DecodeOptions::default()).unwrap();
        let encoded = encode(&file, &EncodeOptions::default().allow_loss(true)).unwrap();
        let again = decode(&encoded, &DecodeOptions::default()).unwrap();
        let written = encode(&again, &EncodeOptions::default()).unwrap();
        assert_eq!(String::from_utf8(written), String::from_utf8(encoded), "{}", path.display());
        let (old, new) = (render::model(&file), render::model(&again));
        assert_eq!(old["snapshot"]["manifest"], new["snapshot"]["manifest"], "{}", path.display());
    });
}

#[test]
fn every_rejected_fixture_fails_with_the_text_of_its_snapshot() {
    insta::glob!("../../../../../tests/fixtures/pulumi/reject", "*.json", |path| {
        let text = fs::read(path).unwrap();
        let error = decode(&text, &DecodeOptions::default()).unwrap_err();
        let codes: Vec<String> = error.problems().iter().map(|problem| problem.code.id()).collect();
        let place = error.place().map_or_else(String::new, ToString::to_string);
        insta::assert_snapshot!("reject", format!("{} at {place}\n{error}", codes.join(" ")));
    });
}
