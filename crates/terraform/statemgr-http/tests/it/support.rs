//! Clients for the tests.

use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{OsIds, SystemClock, Timestamp};
use groundstate_statemgr::{LockId, LockInfo, TokioSleeper};
use groundstate_statemgr_http::{HttpBackend, HttpConfig, HttpStore};
use groundstate_testkit::Server;

/// The path of the states in the tests.
pub(crate) const PATH: &str = "/team/app";

/// A valid state of this serial.
pub(crate) fn state(serial: u64) -> Vec<u8> {
    format!(
        "{{\n  \"version\": 4,\n  \"serial\": {serial},\n  \"lineage\": \"l\",\n  \"outputs\": {{}},\n  \"resources\": []\n}}\n"
    )
    .into_bytes()
}

/// Options for a locked state at the server, with waits that a test can afford.
pub(crate) fn config(server: &Server) -> HttpConfig {
    quick(HttpConfig::locked(format!("{}{PATH}", server.endpoint())))
}

/// The options with waits that a test can afford.
pub(crate) fn quick(mut config: HttpConfig) -> HttpConfig {
    config.retry_wait_min = Duration::from_millis(5);
    config.retry_wait_max = Duration::from_millis(20);
    config
}

pub(crate) fn open(config: &HttpConfig) -> HttpStore {
    backend(config).state()
}

pub(crate) fn backend(config: &HttpConfig) -> HttpBackend {
    HttpBackend::open(config, Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds))
        .expect("the options can be used")
}

/// A client of the state at the server.
pub(crate) fn client(server: &Server) -> HttpStore {
    open(&config(server))
}

/// A document with this id.
pub(crate) fn info(id: &str) -> LockInfo {
    LockInfo {
        id: LockId::new(id),
        operation: "OperationTypeApply".to_owned(),
        who: "ana@build-7".to_owned(),
        version: "1.11.4".to_owned(),
        created: Timestamp::parse("2026-11-21T01:02:07.782867924Z").expect("it is a time"),
        ..LockInfo::default()
    }
}

/// Methods and queries of the requests so far.
pub(crate) fn sent(server: &Server) -> Vec<String> {
    let line = |request: &groundstate_testkit::Recorded| match request.query.as_str() {
        "" => request.method.clone(),
        query => format!("{}?{query}", request.method),
    };
    server.requests().iter().map(line).collect()
}
