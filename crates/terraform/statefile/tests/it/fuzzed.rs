//! The properties of the fuzz targets, for the inputs of their corpus, for other fixtures, and for what remains of them
//! when a file ends early.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

fn all(input: &[u8]) {
    properties::decode_any(input);
    properties::document_edit(input);
    properties::list_scan(input);
}

#[test]
fn the_corpus_has_all_properties_wherever_it_is_cut() {
    for target in ["decode_any", "document_edit", "list_scan"] {
        replay(PACKAGE, &format!("fuzz/corpus/{target}"), 1, all);
    }
}

#[test]
fn fixtures_have_all_properties_wherever_they_are_cut() {
    replay(PACKAGE, "../../../tests/fixtures/upgrade", 29, all);
    replay(PACKAGE, "../../../tests/fixtures/reject", 29, all);
    replay(PACKAGE, "../../../tests/fixtures/states", 2999, all);
}
