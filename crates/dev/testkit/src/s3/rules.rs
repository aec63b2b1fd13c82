//! Who may do what on a server, as a test sets it.

/// What is refused for reasons other than the state of objects.
#[derive(Clone, Default)]
pub(super) struct Rules {
    /// The access key and the secret key.
    pub(super) key: Option<(String, String)>,
    pub(super) region: Option<String>,
    pub(super) redirect: Option<String>,
    pub(super) skewed: bool,
    /// Methods and patterns of paths.
    pub(super) denied: Vec<(String, String)>,
    pub(super) unconditional: bool,
}
