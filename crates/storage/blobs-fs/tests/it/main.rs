//! The tests of blobs in directories.

mod files;
#[path = "../../../blobs/tests/it/harness.rs"]
mod harness;

mod suite {
    groundstate_conformance::blob_suite!(crate::files::harness());
}
