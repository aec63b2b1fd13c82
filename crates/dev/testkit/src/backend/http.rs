//! Places at servers of Terraform's type `http`.

use serde_json::{Value, json};

use super::{Store, TestBackend, fresh};
use crate::HttpStateServer;

/// A state at a server.
#[derive(Debug)]
pub(super) struct HttpState {
    pub(super) server: HttpStateServer,
    pub(super) path: String,
}

impl TestBackend {
    /// A place at a server of this crate, which counts requests and does wrong what it is told to.
    pub fn http_here() -> Self {
        let server = HttpStateServer::start_blocking();
        let path = format!("/{}/app", fresh("interop"));
        let address = format!("{}{path}", server.endpoint());
        let settings = json!({ "address": address, "lock_address": address, "unlock_address": address });
        let Value::Object(settings) = settings else { unreachable!("it is written as an object above") };
        let store = Store::Http(HttpState { server, path });
        Self { kind: "http", settings, environment: Vec::new(), store }
    }
}
