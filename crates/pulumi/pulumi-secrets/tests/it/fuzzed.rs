//! The property of the fuzz target, for the inputs of its corpus and for every beginning of them.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/properties.rs"]
mod properties;

#[test]
fn the_corpus_has_all_properties_wherever_it_is_cut() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/secrets_read");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // What the fuzzer collects has no ending, and is no part of the corpus.
    let named: Vec<_> = paths.filter(|path| path.extension().is_some()).collect();
    assert!(named.len() >= 7);
    for path in named {
        let input = fs::read(&path).unwrap();
        for end in 0..=input.len() {
            properties::secrets_read(&input[..end]);
        }
    }
}
