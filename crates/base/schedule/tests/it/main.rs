//! Tests of groundstate-schedule, through its public interface.

mod barriers;
mod drawing;
mod naive;
mod pictures;
#[cfg(feature = "serde")]
mod serialization;
mod walk;
