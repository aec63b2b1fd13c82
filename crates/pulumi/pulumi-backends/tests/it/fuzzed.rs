//! The property of the fuzz target, for the inputs of its corpus and for every beginning of them.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_corpus_has_all_properties_wherever_it_is_cut() {
    replay(PACKAGE, "fuzz/corpus/key_urls", 1, properties::key_urls);
}
