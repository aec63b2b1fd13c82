//! Tests of states in object stores: the contract, Terraform's layouts and locks, and what happens when requests fail.

mod azure;
mod clouds;
mod conformance;
mod google;
mod history;
mod overtaken;
mod ranged;
mod rollback;
#[cfg(feature = "dynamodb")]
mod s3;
mod servers;
mod steps;
mod support;
