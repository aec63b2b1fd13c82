//! The properties of the fuzz targets, for the inputs of their corpus and for every beginning of them.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn deltas_of_the_corpus_have_all_properties_wherever_they_are_cut() {
    replay(PACKAGE, "fuzz/corpus/delta_apply", 1, properties::delta_apply);
}

#[test]
fn paths_of_the_corpus_have_all_properties_wherever_they_are_cut() {
    replay(PACKAGE, "fuzz/corpus/route_parse", 1, properties::route_parse);
}
