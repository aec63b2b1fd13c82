//! The operations of stores, backends and managers, as errors name them.

use std::fmt;

macro_rules! ops {
    ($($(#[doc = $doc:literal])+ $name:ident = $words:literal;)+) => {
        /// What was attempted when an [`Error`](crate::Error) happened.
        ///
        /// Callers decide by the variant; `Display` gives the words that stand in front of the place: "cannot WORDS PLACE".
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Op {
            $($(#[doc = $doc])+ $name,)+
            /// What only one store or backend does, in words that a place can follow.
            Other(&'static str),
        }

        impl Op {
            #[cfg(test)]
            const NAMED: &[Self] = &[$(Self::$name),+];

            /// A verb, or one with its object, such as `find the holder of the lock of`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)+
                    Self::Other(words) => words,
                }
            }
        }
    };
}

ops! {
    /// Reading the snapshot.
    Read = "read";
    /// Reading single outputs of the snapshot.
    ReadOutputs = "read the outputs of";
    /// Writing a snapshot.
    Write = "write";
    /// Deleting the snapshot.
    Delete = "delete";
    /// Editing the snapshot in place.
    Change = "change";
    /// Bringing a snapshot of another place in.
    Import = "import into";
    /// Storing the outcome of a saved plan.
    ApplyPlan = "apply the plan to";
    /// Taking the lock.
    Lock = "lock";
    /// Releasing the lock with its id.
    Unlock = "unlock";
    /// Releasing a lock of another process.
    ForceUnlock = "unlock by force";
    /// Extending the time that the lock is held for.
    RenewLock = "renew the lock of";
    /// Looking up the process that holds the lock.
    FindHolder = "find the holder of the lock of";
    /// Checking that the lock is still held.
    CheckLock = "check the lock of";
    /// Listing the snapshots that were kept.
    ListHistory = "list the history in";
    /// Reading a snapshot that was kept.
    ReadHistory = "read from the history in";
    /// Storing an earlier snapshot again.
    RollBack = "roll back";
    /// Making the snapshot of a run that was interrupted whole.
    Recover = "recover";
    /// Giving up the log of a run that was interrupted.
    DiscardJournal = "discard the journal of";
    /// Listing the workspaces of a backend.
    ListWorkspaces = "list the workspaces in";
    /// Creating a workspace.
    CreateWorkspace = "create the workspace";
    /// Deleting a workspace.
    DeleteWorkspace = "delete the workspace";
}

impl Op {
    /// Whether it only looks: it needs no permission to write, and leaves nothing behind when its answer is lost.
    pub fn is_read(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::ReadOutputs
                | Self::FindHolder
                | Self::ListHistory
                | Self::ReadHistory
                | Self::ListWorkspaces
        )
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Op;

    #[test]
    fn no_two_operations_have_the_same_words() {
        let words: BTreeSet<&str> = Op::NAMED.iter().map(|op| op.as_str()).collect();
        assert_eq!(words.len(), Op::NAMED.len());
    }

    #[test]
    fn words_decide_nothing() {
        assert!(Op::FindHolder.is_read());
        assert!(!Op::Other(Op::FindHolder.as_str()).is_read());
        assert_ne!(Op::Other("read"), Op::Read);
    }
}
