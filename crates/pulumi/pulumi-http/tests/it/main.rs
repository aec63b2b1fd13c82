//! Tests of the client of services: what goes over the wire, what is repeated, and what happens when answers get lost or lie.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod calls;
mod hostile;
mod imports;
mod repeated;
mod support;
