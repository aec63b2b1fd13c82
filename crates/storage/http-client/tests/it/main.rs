//! Tests of the client against servers on the loopback.

mod requests;
