//! Tests of the server through its service.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod api;
mod description;
mod protocol;
mod routing;
mod support;
