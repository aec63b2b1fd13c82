//! The tests of the crate, in one binary.

#[cfg(all(feature = "azurerm", feature = "gcs", feature = "s3"))]
mod clouds;
mod directories;
mod expressions;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "pg")]
mod pg;
mod registry;
mod support;
mod workdir;
