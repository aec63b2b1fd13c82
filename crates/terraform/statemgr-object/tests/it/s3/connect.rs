//! A bucket opened with what a person has: settings and a key.

use bytes::Bytes;
use groundstate_statemgr::{Backend, WorkspaceName, WriteOptions};
use groundstate_statemgr_object::{S3Backend, S3Options};
use groundstate_testkit::S3Server;

use crate::s3::conformance::RUNTIME;
use crate::s3::support::{info, settings, state};

#[test]
fn settings_and_a_key_suffice() {
    let server = S3Server::start_blocking();
    server.create_bucket("states");
    let locks = S3Options::new().use_lockfile(true);
    let settings = settings(&server.endpoint(), "states");
    assert!(S3Backend::connect(&settings, "", locks.clone()).is_err(), "an empty key names no state");
    let backend = S3Backend::connect(&settings, "network/prod.tfstate", locks).unwrap();
    RUNTIME.block_on(async {
        let store = backend.store(&WorkspaceName::default_name()).unwrap();
        let grant = store.lock(&info("a")).await.unwrap();
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        store.unlock(&grant.id).await.unwrap();
        assert_eq!(store.read().await.unwrap().unwrap().bytes, state(1));
        assert_eq!(store.to_string(), "s3://states/network/prod.tfstate");
    });
}
