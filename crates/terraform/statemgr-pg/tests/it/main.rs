//! The tests of states in PostgreSQL. Those that need a server or a program say so where it is not there.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod changes;
mod conformance;
mod locks;
mod lost;
mod schema;
mod support;
mod terraform;
