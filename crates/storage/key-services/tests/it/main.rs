//! The tests of key services.

mod aws;
mod azure;
mod context;
mod gcp;
mod transit;
mod vectors;
