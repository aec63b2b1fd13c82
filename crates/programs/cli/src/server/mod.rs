//! The commands on the store of a server, which need not run.

mod audit;
mod store;
mod token;

pub(crate) use audit::run as audit;
pub(crate) use token::run as token;
