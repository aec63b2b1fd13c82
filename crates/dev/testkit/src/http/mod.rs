//! HTTP as the faces see it: whole requests in, whole answers out, and the server that carries both.

mod answer;
mod body;
mod connection;
mod listen;
mod request;
mod server;

pub use answer::Answer;
pub(crate) use answer::Flow;
pub use request::Request;
pub use server::Server;

pub(crate) use listen::serve;
pub(crate) use request::decode;

use async_trait::async_trait;

/// What answers the requests of a server.
#[async_trait]
pub(crate) trait Service: Send + Sync + 'static {
    /// Carries a request out. Without an answer the connection is closed.
    async fn answer(&self, request: &Request) -> Option<Answer>;

    /// How this service words an error that a fault asks for.
    fn refusal(&self, _request: &Request, status: u16, code: &str) -> Answer {
        Answer::new(status).text(code)
    }
}
