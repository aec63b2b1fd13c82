//! Files written by real binaries, which are not part of this repository.

use std::env;
use std::path::{Path, PathBuf};

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
