//! Arguments of the commands on the store of a server.

mod audit;
mod token;

use std::path::PathBuf;

use clap::Args;

pub(crate) use audit::{AuditArgs, AuditCommand, AuditShowArgs, AuditVerifyArgs};
pub(crate) use token::{TokenArgs, TokenCommand, TokenCreateArgs, TokenListArgs, TokenRevokeArgs};

/// The store of the server, which need not run.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServerStoreArgs {
    /// The store of the server: a directory, or a URL such as `s3://bucket/prefix`; that of `serve` if missing
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// Reads the store from this configuration of the server
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
