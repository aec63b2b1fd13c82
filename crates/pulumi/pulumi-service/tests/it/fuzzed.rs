//! The properties of the fuzz targets, for the inputs of their corpus and for many beginnings of them.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn entries_of_the_corpus_have_all_properties_wherever_they_are_cut() {
    replay(PACKAGE, "fuzz/corpus/service_entries", 97, properties::service_entries);
}

#[test]
fn checkpoints_of_the_corpus_have_all_properties_wherever_they_are_cut() {
    replay(PACKAGE, "fuzz/corpus/service_checkpoints", 97, properties::service_checkpoints);
}
