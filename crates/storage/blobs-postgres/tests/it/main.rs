//! The tests of blobs in PostgreSQL. Those that need a server say so where none is named.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

#[path = "../../../blobs/tests/it/harness.rs"]
mod harness;
mod memory;
mod rows;
mod server;
mod settings;
mod table;
mod tables;
mod together;

mod suite {
    groundstate_conformance::blob_suite!(optional crate::server::harness());
}
