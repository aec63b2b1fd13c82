//! The tests of the crate, in one binary.

mod conflicts;
mod lock_info;
mod lossless;
mod memory;
mod meta;
mod sequence;
mod support;
