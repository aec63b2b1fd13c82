//! The properties of the fuzz targets, for the inputs of their corpora and for beginnings of them.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/properties.rs"]
mod properties;

/// The inputs of a corpus: what the fuzzer collects has no ending, and is no part of it.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inputs: Vec<_> =
        paths.filter(|path| path.extension().is_some()).map(|path| fs::read(path).unwrap()).collect();
    assert!(inputs.len() >= 4, "{name}");
    inputs
}

#[test]
fn envelopes_have_all_properties_wherever_they_are_cut() {
    for input in corpus("envelope_open") {
        (0..=input.len()).for_each(|end| properties::envelope_open(&input[..end]));
    }
}

#[test]
fn metadata_have_all_properties_wherever_they_are_cut() {
    for input in corpus("metadata_open") {
        (0..=input.len()).for_each(|end| properties::metadata_open(&input[..end]));
    }
}

#[test]
fn configurations_have_all_properties_wherever_they_are_cut() {
    for input in corpus("configuration_read") {
        (0..=input.len()).for_each(|end| properties::configuration_read(&input[..end]));
    }
}
