//! Signed calls of other services of AWS, with the credentials of the bucket.

use bytes::Bytes;
use groundstate_blobs::{Error, Op, Result};
use http::Method;

use super::S3Blobs;
use super::error::classify;
use crate::cloud::{Effect, Failure, Reply, Request};

impl S3Blobs {
    /// Calls DynamoDB: `target` is an action such as `GetItem`, `body` its JSON. The reply may have any status; what went
    /// wrong with a condition stands in its body.
    ///
    /// # Errors
    ///
    /// `Unauthenticated`, `Unavailable` when nothing was sent, and `Ambiguous` when no reply came to an action that changes
    /// something.
    pub async fn dynamodb(&self, target: &str, body: Bytes) -> Result<Reply> {
        let reads = ["Get", "Describe", "Query", "Scan", "List", "BatchGet"];
        let effect =
            if reads.iter().any(|read| target.starts_with(read)) { Effect::Read } else { Effect::Change };
        let request = Request::new(Method::POST, self.place.dynamodb())
            .header("content-type", "application/x-amz-json-1.0")?
            .header("x-amz-target", &format!("DynamoDB_20120810.{target}"))?
            .body(body);
        let request = self.sign(Op::Call, "DynamoDB", "dynamodb", request).await?;
        self.dynamodb.send(Op::Call, "DynamoDB", request, effect).await
    }

    /// Sends any request to any service of AWS, signed with the credentials and the region of the bucket.
    ///
    /// # Errors
    ///
    /// Those of [`dynamodb`](Self::dynamodb), and `Invalid` for a request that cannot be sent.
    pub async fn signed(&self, service: &str, request: http::Request<Bytes>) -> Result<Reply> {
        let (parts, body) = request.into_parts();
        let effect = if parts.method.is_safe() { Effect::Read } else { Effect::Change };
        let mut signed = Request::new(parts.method, parts.uri.to_string()).body(body);
        signed.headers = parts.headers;
        let request = self.sign(Op::Call, service, service, signed).await?;
        self.wire.send(Op::Call, service, request, effect).await
    }

    /// The error that a refusal in a reply of [`dynamodb`](Self::dynamodb) or [`signed`](Self::signed) stands for, with what
    /// to change; `op` is a verb and `place` names what was called.
    pub fn error_of(&self, op: Op, place: &str, reply: &Reply) -> Error {
        let failure = Failure::of(reply);
        let meaning = classify(&failure, op, &self.place, Effect::Change);
        failure.into_error(op, place, meaning)
    }
}
