//! The properties of the fuzz targets, for the inputs of their corpus and for every beginning of them.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../fuzz/properties.rs"]
mod properties;

/// The inputs of a target, with their paths.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = fs::read_dir(folder).expect("every target has a corpus");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the corpus can be listed").path()).collect();
    // What the fuzzer collects has no ending, and is no part of the corpus.
    paths.retain(|path| path.extension().is_some());
    paths.sort();
    assert!(!paths.is_empty(), "the corpus of {target} is empty");
    let read = |path: PathBuf| (path.clone(), fs::read(path).expect("the corpus can be read"));
    paths.into_iter().map(read).collect()
}

#[expect(clippy::print_stdout, reason = "the name is shown when the property fails")]
fn replay(target: &str, property: fn(&[u8])) {
    for (path, input) in corpus(target) {
        println!("{}", path.display());
        property(&input);
        for end in 0..input.len() {
            property(&input[..end]);
        }
    }
}

#[test]
fn addresses_of_the_corpus_print_as_what_they_are() {
    replay("address_parse", properties::address_parse);
}

#[test]
fn json_of_the_corpus_is_canonical_after_one_step() {
    replay("json_parse", properties::json_parse);
}
