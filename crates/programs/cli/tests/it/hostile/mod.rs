//! What others control does no harm: checkouts, names and documents, files and links, servers and directories.

mod checkout;
mod files;
mod network;
mod text;

#[cfg(unix)]
pub(crate) mod terminal;
