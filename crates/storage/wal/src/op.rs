//! The operations of journals, as errors name them.

groundstate_common::worded! {
    /// What was attempted when an [`Error`](crate::Error) happened.
    ///
    /// Callers decide by the variant; `Display` gives the words that stand in front of the journal: "cannot WORDS JOURNAL".
    pub enum Op => as_str {
        /// Reading the head or a page.
        Read = "read",
        /// Opening a writer.
        Open = "open",
        /// Beginning an epoch with its base.
        Begin = "begin an epoch of",
        /// Appending a batch.
        Append = "append to",
        /// Removing all epochs.
        Clear = "clear",
        /// Closing a writer.
        Close = "close",
        /// Using a store or a name as the place of a journal.
        Use = "use",
        ..Other
    }
}
