//! The tests of blobs in directories.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod bucket;
mod files;
#[path = "../../../blobs/tests/it/harness.rs"]
mod harness;
mod lists;
mod messages;

mod suite {
    groundstate_conformance::blob_suite!(crate::files::harness());
}
