//! The configuration of the server.
