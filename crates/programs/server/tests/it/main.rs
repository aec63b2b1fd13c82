//! Tests of the server through its service.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod api;
mod audit;
mod auth;
mod browser;
mod budgets;
mod config;
mod conformance;
mod description;
mod edge;
mod fuzzed;
mod listening;
mod lock_owners;
mod maintenance;
mod memory;
mod nodes;
mod notes;
mod page;
mod protocol;
mod pulumi;
mod routing;
mod sockets;
mod store_check;
mod support;
mod terraform;
