//! Where the value of an option comes from.

/// Where the value of an option comes from, the least trusted first.
///
/// A directory may have been written by a stranger: what its options decide about addresses and credentials depends on this.
///
/// ```
/// use groundstate_common::Origin;
///
/// assert!(Origin::Directory < Origin::Block);
/// assert!(Origin::Environment.is_user() && !Origin::Block.is_user());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// Only what `init` recorded in the data directory has it.
    Directory,
    /// The `backend` block of the configuration has it.
    Block,
    /// A variable of the environment.
    Environment,
    /// The command line, a URL in it, or the program itself.
    CommandLine,
}

impl Origin {
    /// Whether the user of the program decided it, rather than the files of a directory.
    pub fn is_user(self) -> bool {
        self >= Self::Environment
    }
}
