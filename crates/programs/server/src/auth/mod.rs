//! Who asks, and what that principal may do.

mod principal;

pub use principal::{Grant, Principal, PrincipalKind, Role};
