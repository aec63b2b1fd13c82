//! The properties of the fuzz targets, for the inputs of their corpus, for other fixtures, and for what remains of them
//! when a file ends early.

use std::fs;
use std::path::Path;

use crate::files::files;

#[path = "../../fuzz/properties.rs"]
mod properties;

type Property = fn(&[u8]);

const PROPERTIES: [(&str, Property); 3] = [
    ("decode_any", properties::decode_any),
    ("document_edit", properties::document_edit),
    ("list_scan", properties::list_scan),
];

/// All files below a folder of this repository must have all properties, whole and cut off after every so many bytes.
fn replay(folder: &str, cut_every: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let paths = files(&folder, &has_name);
    assert!(!paths.is_empty(), "there is nothing in {}", folder.display());
    for path in paths {
        let input = fs::read(&path).expect("fixtures can be read");
        for (name, property) in PROPERTIES {
            // The names are shown when the property fails.
            println!("{name}: {}", path.display());
            property(&input);
            (0..input.len()).step_by(cut_every).for_each(|end| property(&input[..end]));
        }
    }
}

/// Whether the file has a given name; what the fuzzer collects has none, and is no part of the corpus.
fn has_name(file: &str) -> bool {
    file.contains('.')
}

#[test]
fn every_target_has_a_corpus() {
    for (name, _) in PROPERTIES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        assert!(!files(&folder, &has_name).is_empty(), "{name}");
    }
}

#[test]
fn the_corpus_has_all_properties_wherever_it_is_cut() {
    replay("fuzz/corpus", 1);
}

#[test]
fn fixtures_have_all_properties_wherever_they_are_cut() {
    replay("../../../tests/fixtures/upgrade", 29);
    replay("../../../tests/fixtures/reject", 29);
    replay("../../../tests/fixtures/states", 2999);
}
