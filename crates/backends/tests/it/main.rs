//! The tests of the crate, in one binary.

mod registry;
mod support;
mod workdir;
