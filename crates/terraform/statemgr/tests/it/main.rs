//! The tests of the crate, in one binary.

mod backend;
mod conflicts;
mod full;
mod guard;
mod histories;
mod intermediate;
mod lock_info;
mod lock_wait;
mod lossless;
mod memory;
mod meta;
mod operate;
mod races;
mod renewal;
mod sequence;
mod support;
mod transfer;
mod wrap;
