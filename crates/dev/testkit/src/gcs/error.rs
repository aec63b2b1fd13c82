//! Refusals in the words of the interface that was asked.

use serde_json::json;

use super::json::Target;
use crate::http::{Answer, Request};
use crate::xml::element;

/// A request that is refused.
#[derive(Debug)]
pub(super) struct Refused {
    status: u16,
    /// The code in XML.
    code: String,
    message: String,
}

pub(super) type Result<T> = std::result::Result<T, Refused>;

impl Refused {
    pub(super) fn new(status: u16, code: &str, message: &str) -> Self {
        Self { status, code: code.to_owned(), message: message.to_owned() }
    }

    pub(super) fn no_bucket() -> Self {
        Self::new(404, "NoSuchBucket", "The specified bucket does not exist.")
    }

    pub(super) fn no_object(bucket: &str, key: &str) -> Self {
        Self::new(404, "NoSuchKey", &format!("No such object: {bucket}/{key}"))
    }

    pub(super) fn precondition() -> Self {
        let message = "At least one of the pre-conditions you specified did not hold.";
        Self::new(412, "PreconditionFailed", message)
    }

    pub(super) fn not_modified() -> Self {
        Self::new(304, "NotModified", "Not Modified")
    }

    pub(super) fn invalid(message: &str) -> Self {
        Self::new(400, "InvalidArgument", message)
    }

    /// The reason in JSON, which says less than the code in XML.
    fn reason(&self) -> &str {
        match self.status {
            304 => "notModified",
            401 => "authError",
            403 => "forbidden",
            404 => "notFound",
            412 => "conditionNotMet",
            416 => "requestedRangeNotSatisfiable",
            429 => "rateLimitExceeded",
            500..=599 => "backendError",
            _ if self.code == "InvalidArgument" => "invalid",
            _ => &self.code,
        }
    }

    pub(super) fn into_answer(self, request: &Request) -> Answer {
        let answer = Answer::new(self.status);
        if self.status == 304 || request.method == "HEAD" {
            return answer;
        }
        if Target::of(request).is_some() {
            let reason = json!({ "message": self.message, "domain": "global", "reason": self.reason() });
            let error = json!({ "code": self.status, "message": self.message, "errors": [reason] });
            return answer.json(&json!({ "error": error }));
        }
        let (code, message) = (element("Code", &self.code), element("Message", &self.message));
        answer.xml(&format!("<Error>{code}{message}</Error>"))
    }
}
