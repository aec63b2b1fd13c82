//! The property of the fuzz target, for the inputs of its corpus and for every beginning of them.

use std::path::Path;

#[path = "../../fuzz/properties.rs"]
mod properties;

#[test]
fn lines_of_the_corpus_keep_the_property() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/line_parse");
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // What the fuzzer collects has no ending, and is no part of the corpus.
        if path.extension().is_none() {
            continue;
        }
        inputs += 1;
        let data = std::fs::read(&path).unwrap();
        (0..=data.len()).for_each(|end| properties::line_parse(&data[..end]));
    }
    assert!(inputs > 2, "{inputs} inputs");
}
