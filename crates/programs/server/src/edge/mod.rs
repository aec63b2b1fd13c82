//! Between sockets and the [`router`](crate::router): listeners, TLS, limits, health, metrics, and the end of a server.
//!
//! Nothing here prints; what happens is told by `tracing`, without bodies, queries and credentials.

mod activity;
mod answer;
mod body;
mod client;
mod connection;
mod control;
mod directory;
mod guarded;
mod health;
mod limits;
mod listener;
mod mark;
mod measured;
mod metrics;
mod note;
mod open;
mod principals;
mod rate;
mod server;
mod service;
mod stream;
mod systemd;
mod tls;

pub use control::{Control, Stage};
pub use limits::EdgeLimits;
pub use listener::{ListenError, listen};
pub(crate) use mark::LAYOUT;
pub use mark::StoreId;
pub(crate) use mark::{mark_encrypted, says_encrypted};
pub use measured::Measured;
pub use metrics::Metrics;
pub use note::StoreNote;
pub use open::{OpenError, OpenedStore, Opening};
pub use server::{Ended, Reloader, Server, ServerParts, StartError};
pub use service::{Service, ServiceError};
pub use systemd::notify;
pub use tls::{TlsError, key_note};
