//! Hand-made and damaged files: our verdict and our output beside those of Terraform 1.11.4.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use groundstate_statefile::{DecodeOptions, EncodeError, EncodeOptions, WriterVersion, decode, encode};
use serde_json::Value;

use crate::shared::fixtures;
use crate::support::verdict;

struct Case {
    name: String,
    input: Vec<u8>,
    accepted: bool,
    /// What the release makes of it, if it was recorded.
    output: Option<Vec<u8>>,
}

fn cases() -> Vec<Case> {
    let Some(folder) = fixtures().map(|folder| folder.join("terraform-1.11/odd-files")) else {
        return Vec::new();
    };
    let listed: Value = serde_json::from_slice(&fs::read(folder.join("cases.json")).unwrap()).unwrap();
    let file = |name: &str, end: &str| -> PathBuf { folder.join(format!("{name}.{end}")) };
    let case = |listed: &Value| {
        let name = listed["case"].as_str().unwrap().to_owned();
        let accepted = listed["pull_exit"] == 0;
        let output = fs::read(file(&name, "out")).ok();
        // One input is too large to be kept; `read_hostile` nests as deep.
        let input = fs::read(file(&name, "in")).ok()?;
        Some(Case { name, input, accepted, output })
    };
    listed.as_array().unwrap().iter().filter_map(case).collect()
}

/// Files that Terraform 1.11.4 accepts and we refuse, and why; `docs/differences.md` tells it at length.
const REFUSED: [(&str, &str); 7] = [
    ("bad-provider", "Terraform drops the resource without a word"),
    ("empty-file", "there is no state, which callers can tell from a damaged one"),
    ("index-float", "Terraform cuts the key 1.5 to 1, which may name another instance"),
    ("index-negative", "no address can name the instance"),
    ("invalid-utf8", "the bytes would be lost; an option accepts them"),
    ("opentofu-provider-key", "Terraform drops the resource without a word"),
    ("provider-module-key", "Terraform drops the resource without a word"),
];

/// Files that both accept and write differently, and why.
const WRITTEN_DIFFERENTLY: [(&str, &str); 12] = [
    ("case-different-keys", "names match exactly, so these are unknown members and survive"),
    ("depends-on-legacy", "OpenTofu's precise dependencies are kept"),
    ("identity", "members of newer releases are kept"),
    ("index-2-53", "keys do not pass through a 64-bit float"),
    ("opentofu-provider-per-instance", "OpenTofu's form of providers is read"),
    ("output-dynamic", "the type of an output is written as it was read"),
    ("unknown-check-kind", "results of unknown kinds are kept"),
    ("unknown-check-status", "an unknown status keeps its spelling"),
    ("unknown-instance-field", "unknown members survive"),
    ("unknown-resource-field", "unknown members survive"),
    ("unknown-top-field", "unknown members survive"),
    ("v1-tainted-only", "tainted objects are kept as deposed ones; an option drops them"),
];

/// Files that are only written when the loss is allowed.
const NOT_WRITTEN_UNASKED: [&str; 3] = ["attributes-both", "duplicate-keys", "lone-surrogate"];

/// Reads a case as the release does: as if 1.11.4 had written it, indented, with what it loses lost.
fn pull(input: &[u8], options: &DecodeOptions) -> Option<Vec<u8>> {
    let mut file = decode(input, options).ok()?;
    file.terraform_version = WriterVersion::parse("1.11.4").ok();
    // The release writes its registry out.
    file.state.write_out_providers();
    Some(encode(&file, &EncodeOptions::default().allow_loss(true).indented(true)).unwrap())
}

#[test]
fn verdicts_are_those_of_the_release_but_for_listed_ones() {
    let cases = cases();
    let mut refused = BTreeSet::new();
    for case in &cases {
        let accepted = decode(&case.input, &DecodeOptions::default()).is_ok();
        assert!(case.accepted || !accepted, "{} is accepted by us alone", case.name);
        if case.accepted && !accepted {
            refused.insert(case.name.as_str());
        }
        // Older formats are upgraded as a whole, so there is nothing to index.
        if !["v1-", "v2-", "v3-"].iter().any(|old| case.name.starts_with(old)) {
            assert_eq!(verdict(&case.input), accepted, "{}", case.name);
        }
    }
    assert!(cases.is_empty() || refused == REFUSED.iter().map(|(name, _)| *name).collect());
}

#[test]
fn output_is_that_of_the_release_but_for_listed_files() {
    let cases = cases();
    let mut different = BTreeSet::new();
    for case in &cases {
        let Some(ours) = pull(&case.input, &DecodeOptions::default()) else { continue };
        if case.output.as_ref().is_some_and(|theirs| *theirs != ours) {
            different.insert(case.name.as_str());
        }
        assert_eq!(pull(&ours, &DecodeOptions::default()), Some(ours), "{} is stable", case.name);
    }
    assert!(cases.is_empty() || different == WRITTEN_DIFFERENTLY.iter().map(|(name, _)| *name).collect());
}

#[test]
fn options_give_the_verdict_of_the_release() {
    for case in cases() {
        let options = match case.name.as_str() {
            "invalid-utf8" => DecodeOptions::default().replace_invalid_utf8(true),
            "v1-tainted-only" => DecodeOptions::default().drop_v1_tainted(true),
            _ => continue,
        };
        assert_eq!(pull(&case.input, &options), case.output, "{}", case.name);
    }
}

#[test]
fn what_reading_loses_is_not_written_unasked() {
    let cases = cases();
    let strict = EncodeOptions::default();
    let lossy = cases.iter().filter(|case| {
        let file = decode(&case.input, &DecodeOptions::default());
        file.is_ok_and(
            |file| matches!(encode(&file, &strict), Err(EncodeError::Loss(losses)) if !losses.is_empty()),
        )
    });
    let lossy: Vec<&str> = lossy.map(|case| case.name.as_str()).collect();
    assert!(cases.is_empty() || lossy == NOT_WRITTEN_UNASKED, "{lossy:?}");
}

#[test]
fn the_documented_differences_name_every_file() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/differences.md");
    let Ok(text) = fs::read_to_string(docs) else {
        return println!("not run: docs/differences.md not present");
    };
    let listed = REFUSED.iter().chain(&WRITTEN_DIFFERENTLY).map(|(name, _)| *name).chain(NOT_WRITTEN_UNASKED);
    let missing: Vec<&str> = listed.filter(|name| !text.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
