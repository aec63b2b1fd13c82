//! The properties of the fuzz target, for its corpus and for what remains of it when a file ends early.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/properties.rs"]
mod properties;

#[test]
fn the_corpus_has_all_properties_whole_and_cut_in_many_places() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/requests");
    let mut files = 0;
    for file in fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
        // What the fuzzer collects has no extension, and is no part of the corpus.
        if file.extension().is_none() {
            continue;
        }
        println!("{}", file.display());
        let input = fs::read(&file).unwrap();
        (0..input.len()).step_by(7).for_each(|end| properties::requests(&input[..end]));
        properties::requests(&input);
        files += 1;
    }
    assert!(files >= 5, "{}", folder.display());
}
