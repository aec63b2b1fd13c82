//! What is attempted with a server, as errors name it.

groundstate_common::worded! {
    /// What was attempted.
    pub enum Op => as_str {
        /// Making sense of a setting.
        Use = "use",
        /// Preparing connections.
        Open = "open",
        /// Connecting.
        Connect = "connect to",
        /// Carrying out a statement.
        Query = "query",
    }
}
