//! Tests of the JSON machinery, through its public interface.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod cursor;
mod messages;
mod positions;
mod raw;
mod tape;
mod top;
mod write;
