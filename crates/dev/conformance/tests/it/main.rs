//! The suite on the stores in memory, and on stores that are wrong.

mod broken;
mod http;
mod journals;
mod memory;
mod report;
