//! Tests of groundstate-schedule, through its public interface.

mod barriers;
mod drawing;
mod walk;
