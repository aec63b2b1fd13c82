//! The operations of stores, backends and managers, as errors name them.

groundstate_common::worded! {
    /// What was attempted when an [`Error`](crate::Error) happened.
    ///
    /// Callers decide by the variant; `Display` gives the words that stand in front of the place: "cannot WORDS PLACE".
    pub enum Op => as_str {
        /// Reading the snapshot.
        Read = "read",
        /// Reading single outputs of the snapshot.
        ReadOutputs = "read the outputs of",
        /// Writing a snapshot.
        Write = "write",
        /// Deleting the snapshot.
        Delete = "delete",
        /// Editing the snapshot in place.
        Change = "change",
        /// Bringing a snapshot of another place in.
        Import = "import into",
        /// Storing the outcome of a saved plan.
        ApplyPlan = "apply the plan to",
        /// Taking the lock.
        Lock = "lock",
        /// Releasing the lock with its id.
        Unlock = "unlock",
        /// Releasing a lock of another process.
        ForceUnlock = "unlock by force",
        /// Extending the time that the lock is held for.
        RenewLock = "renew the lock of",
        /// Looking up the process that holds the lock.
        FindHolder = "find the holder of the lock of",
        /// Checking that the lock is still held.
        CheckLock = "check the lock of",
        /// Listing the snapshots that were kept.
        ListHistory = "list the history in",
        /// Reading a snapshot that was kept.
        ReadHistory = "read from the history in",
        /// Storing an earlier snapshot again.
        RollBack = "roll back",
        /// Making the snapshot of a run that was interrupted whole.
        Recover = "recover",
        /// Giving up the log of a run that was interrupted.
        DiscardJournal = "discard the journal of",
        /// Listing the workspaces of a backend.
        ListWorkspaces = "list the workspaces in",
        /// Creating a workspace.
        CreateWorkspace = "create the workspace",
        /// Deleting a workspace.
        DeleteWorkspace = "delete the workspace",
        ..Other
    }
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

#[cfg(test)]
mod tests {
    use super::Op;

    #[test]
    fn words_decide_nothing() {
        assert!(Op::FindHolder.is_read());
        assert!(!Op::Other(Op::FindHolder.as_str()).is_read());
        assert_ne!(Op::Other("read"), Op::Read);
    }
}
