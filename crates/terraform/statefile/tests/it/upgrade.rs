//! One fixture for each thing an upgrade does, and one for each thing it refuses.
//!
//! A new case is a new file; its name says the format version and the one thing it shows.

use std::fs;

use groundstate_statefile::{DecodeOptions, EncodeOptions, decode, encode};

use crate::render;

#[test]
fn every_fixture_upgrades_to_the_model_file_and_notes_of_its_snapshots() {
    insta::glob!("../../../../../tests/fixtures/upgrade", "*.json", |path| {
        let text = fs::read(path).unwrap();
        let file = decode(&text, &DecodeOptions::default()).unwrap();
        insta::assert_json_snapshot!("model", render::model(&file));
        let encoded = encode(&file, &EncodeOptions::default().allow_loss(true)).unwrap();
        insta::assert_snapshot!("encoded", str::from_utf8(&encoded).unwrap());
        insta::assert_snapshot!("notes", render::notes(&file.notes, &text));
    });
}

#[test]
fn what_an_upgrade_writes_is_canonical_and_means_the_same() {
    insta::glob!("../../../../../tests/fixtures/upgrade", "*.json", |path| {
        let text = fs::read(path).unwrap();
        let file = decode(&text, &DecodeOptions::default()).unwrap();
        let encoded = encode(&file, &EncodeOptions::default().allow_loss(true)).unwrap();
        let again = decode(&encoded, &DecodeOptions::default()).unwrap();
        if path.ends_with("v3-empty-attributes.json") {
            // Terraform writes an empty flat map as nothing at all, which reads back as an empty object.
            return assert_ne!(file.state, again.state);
        }
        let written = encode(&again, &EncodeOptions::default()).unwrap();
        assert_eq!(String::from_utf8(written), String::from_utf8(encoded), "{}", path.display());
        assert!(groundstate_statefile::encode_equally(&file.state, &again.state), "{}", path.display());
    });
}

#[test]
fn every_rejected_fixture_fails_with_the_text_of_its_snapshot() {
    insta::glob!("../../../../../tests/fixtures/reject", "*.json", |path| {
        let text = fs::read(path).unwrap();
        let error = decode(&text, &DecodeOptions::default()).unwrap_err();
        let codes: Vec<String> = error.problems().iter().map(|problem| problem.code.id()).collect();
        insta::assert_snapshot!("reject", format!("{}\n{error}", codes.join(" ")));
    });
}
