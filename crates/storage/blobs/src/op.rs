//! The operations of blob stores, as errors name them.

groundstate_common::worded! {
    /// What was attempted when an [`Error`](crate::Error) happened.
    ///
    /// Callers decide by the variant; `Display` gives the words that stand in front of the place: "cannot WORDS PLACE".
    pub enum Op => as_str {
        /// Reading a blob.
        Read = "read",
        /// Reading what a store knows of a blob without its bytes.
        LookAt = "look at",
        /// Writing a blob.
        Write = "write",
        /// Deleting a blob.
        Delete = "delete",
        /// Listing the names of blobs.
        List = "list",
        /// Taking a lease.
        Lease = "lease",
        /// Extending the time of a lease.
        RenewLease = "renew the lease of",
        /// Giving a lease back.
        Release = "release",
        /// Ending a lease of another client.
        BreakLease = "break the lease of",
        /// Replacing the metadata of a blob.
        Describe = "describe",
        /// Keeping the present content of a blob under a name of its own.
        Snapshot = "take a snapshot of",
        /// Creating a container.
        Create = "create",
        /// Opening a store.
        Open = "open",
        /// Using a setting, a key or an address.
        Use = "use",
        /// Getting a token from an identity service.
        GetToken = "get a token from",
        /// Getting the keys of a signature.
        Get = "get",
        /// Making a signature.
        Sign = "sign",
        /// Sending a request that cannot be one.
        Send = "send",
        /// Calling a service that keeps no blobs.
        Call = "call",
        ..Other
    }
}
