//! Pulumi's service protocol.

mod interrupted;
mod real;
mod service;
