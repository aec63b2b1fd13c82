//! The operations of this crate, as errors name them.

groundstate_common::worded! {
    /// What was attempted when an [`Error`](crate::Error) happened.
    ///
    /// Callers decide by the variant; `Display` gives the words in front of the place: "cannot WORDS PLACE".
    pub enum Op => as_str {
        /// Making a client for an address.
        Use = "use",
        /// Asking who the user is.
        LogIn = "log in to",
        /// Asking what a service can do.
        Ask = "ask what it can do",
        /// Listing stacks.
        List = "list the stacks of",
        /// Reading what is known of a stack.
        Read = "read",
        /// Reading a state.
        Export = "export",
        /// Replacing a state.
        Import = "import into",
        /// Making a stack.
        Create = "create",
        /// Removing a stack.
        Remove = "remove",
        /// Giving a stack another name.
        Rename = "rename",
        /// Storing tags.
        Tag = "tag",
        /// Reading a history.
        History = "read the history of",
        /// Adding an old version to a history.
        Append = "add a version to",
        /// Cancelling an update.
        Cancel = "cancel the update of",
        /// Taking the lock of a stack without an update.
        Lock = "lock",
        /// Renewing such a lock.
        RenewLock = "renew the lock of",
        /// Releasing such a lock.
        Unlock = "unlock",
        /// Reading the events of an update.
        Events = "read the events of",
        /// Encrypting values.
        Encrypt = "encrypt for",
        /// Decrypting values.
        Decrypt = "decrypt for",
        ..Other
    }
}
