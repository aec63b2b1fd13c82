//! The tests of the contract's own stores.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod harness;
mod memory;
mod model;
mod retry;
mod values;

mod suite {
    groundstate_conformance::blob_suite!(crate::memory::harness());
}
