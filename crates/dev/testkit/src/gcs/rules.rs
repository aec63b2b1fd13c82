//! Who may do what on a server, as a test sets it.

use super::error::{Refused, Result};
use crate::http::Request;
use crate::pattern::fits_request;

/// What is refused for reasons other than the state of objects.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) token: Option<String>,
    /// Methods and patterns of paths.
    pub(super) denied: Vec<(String, String)>,
}

impl Rules {
    pub(super) fn check(&self, request: &Request) -> Result<()> {
        if let Some(token) = &self.token {
            let given = request.header("authorization").and_then(|header| header.strip_prefix("Bearer "));
            if given != Some(token) {
                return Err(Refused::new(401, "AuthenticationRequired", "Invalid Credentials"));
            }
        }
        let path = request.path();
        let fits = |(method, pattern): &(String, String)| {
            fits_request(method, pattern, (&request.method, &path, request.raw_query()))
        };
        if self.denied.iter().any(fits) {
            let message = "The caller does not have permission, storage.objects access is denied.";
            return Err(Refused::new(403, "AccessDenied", message));
        }
        Ok(())
    }
}
