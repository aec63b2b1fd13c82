//! The tests of blob stores.

mod memory;
