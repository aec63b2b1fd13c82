//! The real terraform, the real pulumi and the command on the same states, in each of their backends.

mod http;
pub(crate) mod key_services;
mod places;
mod postgres;
#[cfg(unix)]
pub(crate) mod pulumi;
mod scenarios;
mod stack_verbs;
#[cfg(unix)]
mod stacks;
mod traffic;
mod workdir;
