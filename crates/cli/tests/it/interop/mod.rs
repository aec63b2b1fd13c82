//! The real terraform and the command on the same state, in each of Terraform's back ends.

mod http;
mod peers;
mod place;
mod scenarios;
mod workdir;
