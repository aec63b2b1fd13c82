//! Programs and servers of others: where they are, and what happens when they are not there.

use std::process::Command;
use std::sync::OnceLock;

/// Whether `GROUNDSTATE_REQUIRE` names a peer, so that tests have to fail without it.
pub fn is_required(peer: &str) -> bool {
    let required = std::env::var("GROUNDSTATE_REQUIRE").unwrap_or_default();
    required.split(',').any(|name| name == peer)
}

/// Whether there is a terraform on the path. If not, it says that the test does not run.
///
/// # Panics
///
/// If it is required and not there.
#[expect(clippy::print_stderr, reason = "who runs the tests has to know what was not compared")]
pub fn terraform_takes_part() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| Command::new("terraform").arg("version").output().is_ok());
    assert!(found || !is_required("terraform"), "terraform has to be on the PATH");
    if !found {
        eprintln!("not run: terraform is not on the PATH");
    }
    found
}

/// Where a server of others is, as a variable says. If there is none, it says so.
///
/// # Panics
///
/// If it is required and not there.
#[expect(clippy::print_stderr, reason = "who runs the tests has to know what was not compared")]
pub fn server_of_peer(peer: &str, variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok().filter(|value| !value.is_empty());
    assert!(found.is_some() || !is_required(peer), "{variable} has to say where {peer} is");
    if found.is_none() {
        eprintln!("not run with {peer}: {variable} does not say where it is; see `cargo xtask services`");
    }
    found
}
