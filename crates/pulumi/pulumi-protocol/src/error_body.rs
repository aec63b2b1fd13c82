//! The body of every answer from status 400 on.

use serde::{Deserialize, Serialize};

use crate::JsonText;
use crate::lenient::or_default;

/// The body of an error. The CLI looks at `code`, not at the status of the answer, once the body is a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// The status of the answer.
    #[serde(default, deserialize_with = "or_default")]
    pub code: u16,
    /// What the CLI prints behind the code.
    #[serde(default, deserialize_with = "or_default")]
    pub message: String,
    /// Where more is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// More on single values of the request.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<JsonText>,
}

impl ErrorBody {
    /// What the CLI compares the message with, byte for byte, when a stack that has resources is to be removed.
    pub const STILL_HAS_RESOURCES: &str = "Bad Request: Stack still contains resources.";
    /// The message of a 409 when an update starts while another holds the lease.
    pub const UPDATE_IN_PROGRESS: &str = "Conflict: Another update is currently in progress.";

    /// An error of this status.
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), ..Self::default() }
    }
}

impl std::fmt::Display for ErrorBody {
    /// As the CLI prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)
    }
}
