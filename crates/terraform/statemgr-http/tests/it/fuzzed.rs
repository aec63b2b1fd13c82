//! The properties of the fuzz target, for the inputs of its corpus and for what remains of them when they are cut.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/properties.rs"]
mod properties;

#[test]
fn the_corpus_has_the_properties_wherever_it_is_cut() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/lock_body");
    let mut count = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let body = fs::read(entry.unwrap().path()).unwrap();
        for end in 0..=body.len() {
            properties::lock_body(&body[..end]);
            properties::lock_body(&body[end..]);
        }
        count += 1;
    }
    assert!(count >= 10, "{count}");
}
