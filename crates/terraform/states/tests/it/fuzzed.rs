//! The properties of the fuzz targets, for the inputs of their corpus and for every beginning of them.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn addresses_of_the_corpus_print_as_what_they_are() {
    replay(PACKAGE, "fuzz/corpus/address_parse", 1, properties::address_parse);
}

#[test]
fn json_of_the_corpus_is_canonical_after_one_step() {
    replay(PACKAGE, "fuzz/corpus/json_parse", 1, properties::json_parse);
}
