//! Tests of journals in object stores: the contract, requests, and faults.

mod conformance;
mod faults;
mod reading;
mod schedules;
