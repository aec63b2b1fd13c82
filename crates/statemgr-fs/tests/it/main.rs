//! Tests of the file store: the contract, and what files add to it.

mod conformance;
mod support;
