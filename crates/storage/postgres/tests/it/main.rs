//! The tests of connections to PostgreSQL. Those that need a server say so where none is named.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod encryption;
mod guarded;
mod server;
mod settings;
