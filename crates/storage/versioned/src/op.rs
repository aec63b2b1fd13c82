//! The operations on documents, as errors name them.

groundstate_common::worded! {
    /// What was attempted when an [`Error`](crate::Error) happened.
    ///
    /// Callers decide by the variant; `Display` gives the words that stand in front of the place: "cannot WORDS PLACE".
    pub enum Op => as_str {
        /// Reading the head, a version or a content.
        Read = "read",
        /// Storing the parts of a content.
        Upload = "upload a content of",
        /// Taking a lock.
        Lock = "lock",
        /// Extending the lease of a lock.
        Renew = "renew the lock of",
        /// Releasing a lock.
        Unlock = "unlock",
        /// Ending a lock of another holder.
        Break = "break the lock of",
        /// Writing a version.
        Write = "write",
        /// Writing the version that says that the document is deleted.
        Delete = "delete",
        /// Writing an old version as a new one.
        Restore = "restore a version of",
        /// Protecting a version from retention, or not any longer.
        Pin = "pin a version of",
        /// A step that the caller decides.
        Step = "change",
        /// Listing the versions of a document.
        History = "list the versions of",
        /// Listing documents.
        List = "list",
        /// Removing versions that are not retained, and what crashes left.
        Sweep = "sweep",
        /// Comparing what is stored with its checksums.
        Check = "check",
        /// Making a head anew.
        Repair = "repair",
        /// Opening a store of documents.
        Open = "open",
        ..Other
    }
}
