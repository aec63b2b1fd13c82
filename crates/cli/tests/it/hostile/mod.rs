//! What others control does no harm: names and documents, files and links, servers and directories.

mod files;
mod network;
mod text;

#[cfg(unix)]
pub(crate) mod terminal;
