//! The properties of the fuzz targets, for the inputs of their corpus and for every beginning of them.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn heads_of_the_corpus_keep_the_property() {
    replay(PACKAGE, "fuzz/corpus/head_read", 1, properties::head_read);
}

#[test]
fn records_of_the_corpus_keep_the_property() {
    replay(PACKAGE, "fuzz/corpus/record_read", 1, properties::record_read);
}

#[test]
fn keys_of_the_corpus_keep_the_property() {
    replay(PACKAGE, "fuzz/corpus/key_read", 1, properties::key_read);
}
