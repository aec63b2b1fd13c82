//! Programs and servers of others: where they are, and what happens when they are not there.

use std::process::Command;
use std::sync::OnceLock;

/// Whether a peer must take part.
fn is_required(peer: &str) -> bool {
    let required = std::env::var("GROUNDSTATE_REQUIRE").unwrap_or_default();
    required.split(',').any(|name| name == peer)
}

/// Whether terraform takes part.
pub(super) fn terraform() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| Command::new("terraform").arg("version").output().is_ok());
    assert!(found || !is_required("terraform"), "terraform has to be on the PATH");
    if !found {
        eprintln!("not run: terraform is not on the PATH");
    }
    found
}

/// What a variable says about a server, as `cargo xtask services env` prints it.
pub(super) fn server(peer: &str, variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok().filter(|value| !value.is_empty());
    assert!(found.is_some() || !is_required(peer), "{variable} has to say where {peer} is");
    if found.is_none() {
        eprintln!("not run with {peer}: {variable} does not say where it is; see `cargo xtask services`");
    }
    found
}
