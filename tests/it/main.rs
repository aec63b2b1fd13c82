//! Tests of the crates together.
