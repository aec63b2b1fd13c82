//! Refusals in the words of S3.

use crate::http::{Answer, Request};
use crate::xml::element;

/// A request that is refused.
#[derive(Debug)]
pub(super) struct Refused {
    status: u16,
    code: String,
    message: String,
    /// Further elements of the document.
    details: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, String)>,
}

pub(super) type Result<T> = std::result::Result<T, Refused>;

impl Refused {
    pub(super) fn new(status: u16, code: &str, message: &str) -> Self {
        let (code, message) = (code.to_owned(), message.to_owned());
        Self { status, code, message, details: Vec::new(), headers: Vec::new() }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.details.push((name, value.to_owned()));
        self
    }

    pub(super) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn no_bucket(bucket: &str) -> Self {
        Self::new(404, "NoSuchBucket", "The specified bucket does not exist").with("BucketName", bucket)
    }

    pub(super) fn no_key(key: &str) -> Self {
        Self::new(404, "NoSuchKey", "The specified key does not exist.").with("Key", key)
    }

    pub(super) fn no_upload(id: &str) -> Self {
        Self::new(404, "NoSuchUpload", "The specified upload does not exist.").with("UploadId", id)
    }

    pub(super) fn precondition(condition: &str) -> Self {
        Self::new(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
            .with("Condition", condition)
    }

    pub(super) fn denied() -> Self {
        Self::new(403, "AccessDenied", "Access Denied")
    }

    pub(super) fn invalid(message: &str) -> Self {
        Self::new(400, "InvalidRequest", message)
    }

    pub(super) fn argument(name: &str, message: &str) -> Self {
        Self::new(400, "InvalidArgument", message).with("ArgumentName", name)
    }

    pub(super) fn unsupported(header: &str) -> Self {
        Self::new(
            501,
            "NotImplemented",
            "A header you provided implies functionality that is not implemented",
        )
        .with("Header", header)
    }

    pub(super) fn malformed() -> Self {
        Self::new(400, "MalformedXML", "The XML you provided was not well-formed")
    }

    pub(super) fn into_answer(self, request: &Request) -> Answer {
        let mut answer = Answer::new(self.status).header("x-amz-request-id", "TESTKIT");
        for (name, value) in self.headers {
            answer = answer.header(name, value);
        }
        if request.method == "HEAD" {
            return answer;
        }
        let details: String = self.details.iter().map(|(name, value)| element(name, value)).collect();
        answer.xml(&format!(
            "<Error>{}{}{details}<RequestId>TESTKIT</RequestId><HostId>testkit</HostId></Error>",
            element("Code", &self.code),
            element("Message", &self.message),
        ))
    }
}
