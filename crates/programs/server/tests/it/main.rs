//! Tests of the server through its service.

mod routing;
