//! The operations of this crate, as errors name them.

groundstate_common::worded! {
    /// What was attempted when an [`Error`](crate::Error) happened.
    ///
    /// Callers decide by the variant; `Display` gives the words in front of the place: "cannot WORDS PLACE".
    pub enum Op => as_str {
        /// Opening a bucket.
        Open = "open",
        /// Listing stacks, projects, updates or copies.
        List = "list",
        /// Reading a checkpoint, tags or an entry of the history.
        Read = "read",
        /// Storing a checkpoint.
        Save = "save",
        /// Copying the present checkpoint before it is replaced.
        BackUp = "back up",
        /// Removing an object or a stack.
        Remove = "remove",
        /// Storing tags.
        Tag = "tag",
        /// Writing an entry of the history.
        Record = "record the update of",
        /// Taking, renewing or releasing a lock.
        Lock = "lock",
        /// Reading a setting.
        Use = "use",
        /// Finishing what a process left unfinished.
        Recover = "recover",
        /// Replacing the state by an exported one.
        Import = "import into",
        /// Replacing the state by a copy.
        Restore = "restore",
        /// Moving a stack to another name, layout or bucket.
        Move = "move",
        /// Removing old copies.
        Prune = "prune",
        ..Other
    }
}
