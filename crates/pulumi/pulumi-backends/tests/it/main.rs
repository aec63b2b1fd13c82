//! From URLs and directories to stores, with files that strangers may have made; and in these stores stacks whose writers are
//! killed, and stacks that the real pulumi shares.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]
#![expect(clippy::print_stdout, reason = "campaigns report on the terminal")]

mod directories;
mod fuzzed;
mod interrupted;
mod kills;
mod real;
mod rows;
mod secrets;
mod services;
mod stores;
mod support;
