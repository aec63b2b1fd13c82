//! The tests of the contract's own stores.

mod harness;
mod memory;

mod suite {
    groundstate_conformance::blob_suite!(crate::memory::harness());
}
