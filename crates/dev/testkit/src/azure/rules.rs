//! Who may do what on a server, as a test sets it.

use super::error::{Refused, Result};
use super::shared_key;
use crate::http::Request;
use crate::pattern::fits_request;

/// What is refused for reasons other than the state of blobs.
#[derive(Default)]
pub(super) struct Rules {
    /// The account and its key in base64.
    pub(super) key: Option<(String, String)>,
    pub(super) skewed: bool,
    /// Methods and patterns of paths.
    pub(super) denied: Vec<(String, String)>,
}

impl Rules {
    pub(super) fn check(&self, request: &Request) -> Result<()> {
        let failed = |why: &str| {
            let message = format!(
                "Server failed to authenticate the request. \
                 Make sure the value of Authorization header is formed correctly including the signature. {why}"
            );
            Refused::new(403, "AuthenticationFailed", &message)
        };
        if self.skewed {
            return Err(failed("Request date header too old"));
        }
        if let Some((account, key)) = &self.key {
            match request.header("authorization") {
                Some(given) if given == shared_key::authorization(account, key, request) => {}
                Some(_) => return Err(failed("The signature is another one.")),
                None if request.has_parameter("sig") => {}
                None => {
                    let message =
                        "Server failed to authenticate the request: there is no Authorization header.";
                    return Err(Refused::new(401, "NoAuthenticationInformation", message));
                }
            }
        }
        let path = request.path();
        let fits = |(method, pattern): &(String, String)| {
            fits_request(method, pattern, (&request.method, &path, request.raw_query()))
        };
        if self.denied.iter().any(fits) {
            let message = "This request is not authorized to perform this operation using this permission.";
            return Err(Refused::new(403, "AuthorizationPermissionMismatch", message));
        }
        Ok(())
    }
}
