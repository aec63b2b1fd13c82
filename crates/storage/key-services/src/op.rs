//! What is asked of a key service.

groundstate_common::worded! {
    /// What is asked of a key service.
    pub enum Op => verb {
        /// Wrapping a key.
        Wrap = "wrap a key with",
        /// Unwrapping a key.
        Unwrap = "unwrap a key with",
        /// Making a key, wrapped and plain.
        Generate = "make a data key with",
        /// Wrapping a wrapped key with the newest version.
        Rewrap = "rewrap a key with",
        /// Looking for the versions of a key.
        Look = "look at",
        /// Reading settings.
        Use = "use",
    }
}
