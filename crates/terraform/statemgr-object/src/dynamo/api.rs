//! How DynamoDB is called: one signed request for each action, over whatever makes it.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::Result;
use groundstate_blobs_cloud::S3Blobs;

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
#[non_exhaustive]
pub struct DynamoReply {
    /// The status, such as 200.
    pub status: u16,
    /// The JSON.
    pub body: Bytes,
    /// How long the service asks to wait before the next request.
    pub retry_after: Option<Duration>,
}

impl fmt::Debug for DynamoReply {
    /// Shows the status and the size only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamoReply")
            .field("status", &self.status)
            .field("body", &self.body.len())
            .field("retry_after", &self.retry_after)
            .finish()
    }
}

impl DynamoReply {
    /// A reply of this status.
    pub fn new(status: u16, body: Bytes) -> Self {
        Self { status, body, retry_after: None }
    }

    /// Says how long to wait before the next request.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }
}

#[async_trait]
impl DynamoApi for S3Blobs {
    async fn call(&self, action: &'static str, body: Bytes) -> Result<DynamoReply> {
        let reply = self.dynamodb(action, body).await?;
        let wait = reply.retry_after();
        Ok(DynamoReply::new(reply.status, reply.body).retry_after(wait))
    }
}
