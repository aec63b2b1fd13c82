//! Tests of groundstate-common.

mod clock;
mod ids;
mod newtype;
#[cfg(feature = "os")]
mod os;
mod timestamp;
