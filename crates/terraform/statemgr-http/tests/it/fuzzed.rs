//! The property of the fuzz target, for the inputs of its corpus and for every beginning of them.

use self::replay::replay;

#[path = "../../fuzz/properties.rs"]
mod properties;
#[path = "../../../../../tests/replay.rs"]
mod replay;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_corpus_has_the_property_wherever_it_is_cut() {
    replay(PACKAGE, "fuzz/corpus/lock_body", 1, properties::lock_body);
}

#[test]
fn what_follows_a_cut_has_the_property() {
    replay(PACKAGE, "fuzz/corpus/lock_body", usize::MAX, |body| {
        (0..body.len()).for_each(|start| properties::lock_body(&body[start..]));
    });
}
