//! Tests of journals in object stores: the contract, requests, and faults.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod conformance;
mod faults;
mod schedules;
mod trouble;
