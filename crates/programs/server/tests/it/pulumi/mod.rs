//! Pulumi's service protocol.

mod real;
