//! How DynamoDB is called: one signed request for each action, over whatever makes it.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{Result, S3Blobs};

/// Sends actions to DynamoDB, each once.
#[async_trait]
pub trait DynamoApi: fmt::Debug + Send + Sync + 'static {
    /// Carries out an action such as `GetItem` with its JSON, and gives the reply of whatever status.
    ///
    /// # Errors
    ///
    /// `Unavailable` when nothing was sent, `Ambiguous` when no reply came to a change, `Unauthenticated`.
    async fn call(&self, action: &'static str, body: Bytes) -> Result<DynamoReply>;
}

/// What DynamoDB replied.
#[derive(Debug)]
#[non_exhaustive]
pub struct DynamoReply {
    /// The status, such as 200.
    pub status: u16,
    /// The JSON.
    pub body: Bytes,
}

impl DynamoReply {
    /// A reply of this status.
    pub fn new(status: u16, body: Bytes) -> Self {
        Self { status, body }
    }
}

#[async_trait]
impl DynamoApi for S3Blobs {
    async fn call(&self, action: &'static str, body: Bytes) -> Result<DynamoReply> {
        let reply = self.dynamodb(action, body).await?;
        Ok(DynamoReply::new(reply.status, reply.body))
    }
}
