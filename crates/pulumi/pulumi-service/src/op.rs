//! The operations on stacks, as errors name them.

groundstate_common::worded! {
    /// What was attempted when an [`Error`](crate::Error) happened.
    ///
    /// Callers decide by the variant; `Display` gives the words that stand in front of the stack: "cannot WORDS STACK".
    pub enum Op => as_str {
        /// Opening the stacks of a store.
        Open = "open",
        /// Listing stacks.
        List = "list",
        /// Reading a stack, its versions or its updates.
        Read = "read",
        /// Making a stack.
        Create = "create",
        /// Removing a stack.
        Remove = "remove",
        /// Giving a stack another name.
        Rename = "rename",
        /// Changing the tags of a stack.
        Tag = "tag",
        /// Replacing the state of a stack by another.
        Import = "import into",
        /// Appending a version of another history.
        Append = "append a version to",
        /// Beginning an update.
        Update = "update",
        /// Renewing the lease of an update.
        Renew = "renew the lease of an update of",
        /// Storing what an update did.
        Save = "save an update of",
        /// Ending an update.
        Complete = "complete an update of",
        /// Ending an update that another client runs.
        Cancel = "cancel an update of",
        /// Taking the lock of a stack without an update.
        Lock = "lock",
        /// Renewing such a lock.
        RenewLock = "renew the lock of",
        /// Releasing such a lock.
        Unlock = "unlock",
        /// Storing or reading the events of an update.
        Events = "store events of",
        /// Removing what old updates left.
        Prune = "remove what old updates left of",
        /// Comparing what is stored with its checksums.
        Check = "check the updates of",
        /// Encrypting a secret.
        Encrypt = "encrypt a secret of",
        /// Decrypting a secret.
        Decrypt = "decrypt a secret of",
        ..Other
    }
}
