//! The property of the fuzz target, for the inputs of its corpus and for every beginning of them.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn lines_of_the_corpus_keep_the_property() {
    replay(PACKAGE, "fuzz/corpus/line_parse", 1, properties::line_parse);
}
