//! Tests of the client: the contract, what goes over the wire, and what happens when answers get lost or lie.

mod conformance;
mod doubt;
mod fuzzed;
mod hostile;
mod locks;
mod options;
mod redirects;
mod requests;
mod retries;
mod support;
mod tls;
