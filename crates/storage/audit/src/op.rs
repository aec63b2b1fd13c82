//! The operations of audit logs, as errors name them.

groundstate_common::worded! {
    /// What was attempted when an [`Error`](crate::Error) happened.
    ///
    /// `Display` gives the words that stand in front of the log: "cannot WORDS LOG".
    pub enum Op => as_str {
        /// Using a store and a prefix as the place of a log.
        Use = "use",
        /// Recording an entry.
        Record = "record into",
        /// Moving batches into the chain.
        Chain = "chain the entries of",
        /// Reading entries.
        Read = "read",
        /// Verifying the chain.
        Verify = "verify",
        /// Removing old segments.
        Retain = "remove old segments of",
    }
}
