//! Tests of states in object stores: the contract, Terraform's layouts and locks, and what happens when requests fail.

mod clouds;
mod conformance;
mod faulty;
mod history;
mod steps;
