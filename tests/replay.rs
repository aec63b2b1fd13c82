//! Inputs of fuzz targets, given to the properties of those targets in plain tests. The tests of each crate that has such
//! targets include this file.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The property must hold for every file below `folder` of the package at `package`, whole and cut after each `step` bytes.
pub(crate) fn replay(package: &str, folder: &str, step: usize, property: impl Fn(&[u8])) {
    let folder = Path::new(package).join(folder);
    let mut found = named(&folder);
    found.sort();
    assert!(!found.is_empty(), "there is nothing in {}", folder.display());
    for path in found {
        let input = fs::read(&path).expect("inputs can be read");
        let ends = (0..input.len()).step_by(step).chain([input.len()]);
        let all = AssertUnwindSafe(|| ends.for_each(|end| property(&input[..end])));
        assert!(catch_unwind(all).is_ok(), "the property does not hold for {}", path.display());
    }
}

/// The files whose names have an ending; what the fuzzer collects has none, and is no part of the corpus.
fn named(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("every target has a corpus");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    paths
        .flat_map(|path| if path.is_dir() { named(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some())
        .collect()
}
