//! The properties of the fuzz targets, for the inputs of their corpus and for every beginning of them.

use std::path::Path;

#[path = "../../fuzz/properties.rs"]
mod properties;

fn replay(target: &str, property: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // What the fuzzer collects has no ending, and is no part of the corpus.
        if path.extension().is_none() {
            continue;
        }
        inputs += 1;
        let data = std::fs::read(&path).unwrap();
        (0..=data.len()).for_each(|end| property(&data[..end]));
    }
    assert!(inputs > 2, "{inputs} inputs for {target}");
}

#[test]
fn heads_of_the_corpus_keep_the_property() {
    replay("head_read", properties::head_read);
}

#[test]
fn records_of_the_corpus_keep_the_property() {
    replay("record_read", properties::record_read);
}

#[test]
fn keys_of_the_corpus_keep_the_property() {
    replay("key_read", properties::key_read);
}
