//! What stands between a socket and the service, over real sockets.

mod health;
mod limits;
mod protocol;
mod shutdown;
mod slow;
mod store;
mod support;
mod tls;
