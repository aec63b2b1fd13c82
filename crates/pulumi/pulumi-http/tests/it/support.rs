//! Clients for the tests.

use std::sync::Arc;
use std::time::Duration;

use groundstate_pulumi_http::common::{FixedClock, Timestamp};
use groundstate_pulumi_http::protocol::StackPath;
use groundstate_pulumi_http::{AccessToken, Service, ServiceAddress, ServiceOptions, ServiceStack};
use groundstate_testkit::Server;

pub(crate) const TOKEN: &str = "hush-token";

pub(crate) fn options() -> ServiceOptions {
    ServiceOptions::new().first_wait(Duration::from_millis(1))
}

pub(crate) fn service_with(endpoint: &str, options: ServiceOptions) -> Service {
    let address = ServiceAddress::parse(endpoint).unwrap();
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    Service::new(address, Some(AccessToken::new(TOKEN).unwrap()), options, clock).unwrap()
}

pub(crate) fn service(server: &Server) -> Service {
    service_with(&server.endpoint(), options())
}

pub(crate) fn stack(server: &Server) -> ServiceStack {
    service(server).stack(StackPath::new("acme", "shop", "prod"))
}

/// Methods, paths and queries of the requests so far.
pub(crate) fn sent(server: &Server) -> Vec<String> {
    let line = |request: &groundstate_testkit::Recorded| match request.query.as_str() {
        "" => format!("{} {}", request.method, request.path),
        query => format!("{} {}?{query}", request.method, request.path),
    };
    server.requests().iter().map(line).collect()
}
