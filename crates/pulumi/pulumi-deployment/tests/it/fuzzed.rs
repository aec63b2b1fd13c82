//! The properties of the fuzz targets, for the inputs of their corpus, for other fixtures, and for what remains of them
//! when a file ends early.

use self::replay::replay;
use crate::support::FIXTURES;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

fn all(input: &[u8]) {
    properties::decode_any(input);
    properties::properties(input);
}

#[test]
fn the_corpus_has_all_properties_wherever_it_is_cut() {
    for target in ["deployment_decode_any", "deployment_properties"] {
        replay(PACKAGE, &format!("fuzz/corpus/{target}"), 1, all);
    }
}

#[test]
fn fixtures_have_all_properties_wherever_they_are_cut() {
    replay(PACKAGE, &format!("{FIXTURES}/upgrade"), 7, all);
    replay(PACKAGE, &format!("{FIXTURES}/reject"), 7, all);
    replay(PACKAGE, &format!("{FIXTURES}/states"), 97, all);
}
