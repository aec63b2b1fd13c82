//! The real terraform and the command on the same state, in each of Terraform's back ends.

mod places;
mod scenarios;
mod traffic;
mod workdir;
