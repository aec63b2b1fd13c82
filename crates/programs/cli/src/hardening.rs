//! What keeps keys and states in the memory of this process away from others.

/// Lets no other process of the user read the memory, and writes none of it to disk when the process crashes.
///
/// A system that refuses is no reason to end: it is a second line of defence.
pub(crate) fn protect_memory() {
    #[cfg(target_os = "linux")]
    let _refused = nix::sys::prctl::set_dumpable(false);
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        // The hard limit stays, so that a command under `groundstate lock` may still ask for its own.
        let limits = getrlimit(Resource::RLIMIT_CORE);
        let _refused = limits.and_then(|(_, hard)| setrlimit(Resource::RLIMIT_CORE, 0, hard));
    }
}
