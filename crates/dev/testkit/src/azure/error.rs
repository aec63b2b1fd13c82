//! Refusals in the words of Azure.

use crate::http::{Answer, Request};
use crate::xml::element;

/// A request that is refused.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    code: String,
    message: String,
}

pub(super) type Result<T> = std::result::Result<T, Refused>;

impl Refused {
    pub(super) fn new(status: u16, code: &str, message: &str) -> Self {
        Self { status, code: code.to_owned(), message: message.to_owned() }
    }

    pub(super) fn no_container() -> Self {
        Self::new(404, "ContainerNotFound", "The specified container does not exist.")
    }

    pub(super) fn no_blob() -> Self {
        Self::new(404, "BlobNotFound", "The specified blob does not exist.")
    }

    pub(super) fn condition() -> Self {
        let message = "The condition specified using HTTP conditional header(s) is not met.";
        Self::new(412, "ConditionNotMet", message)
    }

    pub(super) fn exists() -> Self {
        Self::new(409, "BlobAlreadyExists", "The specified blob already exists.")
    }

    pub(super) fn header(name: &str) -> Self {
        let message = format!("The value for one of the HTTP headers is not in the correct format: {name}");
        Self::new(400, "InvalidHeaderValue", &message)
    }

    pub(super) fn parameter(name: &str) -> Self {
        let message =
            format!("Value for one of the query parameters specified in the request URI is invalid: {name}");
        Self::new(400, "InvalidQueryParameterValue", &message)
    }

    pub(super) fn into_answer(self, request: &Request) -> Answer {
        let answer = Answer::new(self.status).header("x-ms-error-code", &self.code);
        if request.method == "HEAD" || self.status == 304 {
            return answer;
        }
        let (code, message) = (element("Code", &self.code), element("Message", &self.message));
        answer.xml(&format!("<Error>{code}{message}</Error>"))
    }
}
