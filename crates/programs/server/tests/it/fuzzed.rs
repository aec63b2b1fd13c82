//! The property of the fuzz target, for the inputs of its corpus and for many beginnings of them.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_corpus_has_all_properties_whole_and_cut_in_many_places() {
    replay(PACKAGE, "fuzz/corpus/requests", 7, properties::requests);
}
