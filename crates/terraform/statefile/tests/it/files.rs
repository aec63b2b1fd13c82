//! Finds the files that a test goes through.

use std::fs;
use std::path::{Path, PathBuf};

/// All files below `dir` whose name the predicate picks, sorted.
pub(crate) fn files(dir: &Path, pick: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            found.extend(files(&path, pick));
        } else if path.file_name().and_then(|name| name.to_str()).is_some_and(pick) {
            found.push(path);
        }
    }
    found.sort();
    found
}
