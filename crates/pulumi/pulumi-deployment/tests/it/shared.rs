//! Files written by real binaries, which are not part of this repository.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folder of shared fixtures: named by the environment, or beside the checkout.
pub(crate) fn fixtures() -> Option<PathBuf> {
    let named = env::var_os("GROUNDSTATE_FIXTURES").map(PathBuf::from);
    let beside = || {
        let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        above.find_map(|dir| Some(dir.join("shared/fixtures")).filter(|dir| dir.is_dir()))
    };
    let found = named.or_else(beside);
    if found.is_none() {
        println!("not run: shared fixtures not present");
    }
    found
}

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
