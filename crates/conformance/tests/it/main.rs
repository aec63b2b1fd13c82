//! The suite on the stores in memory, and on stores that are wrong.

mod broken;
mod memory;
mod report;
