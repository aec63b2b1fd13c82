//! Arguments of `groundstate serve`.

use std::path::PathBuf;

use clap::Args;

#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Listens on this address, an IP address and a port; may be given several times [default: 127.0.0.1:4778]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<String>,
    /// The URL that clients use, if they reach the server through a reverse proxy
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Speaks TLS with this certificate, as PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_certificate: Option<String>,
    /// The key of the certificate, as PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_key: Option<String>,
    /// Asks clients for certificates that these authorities have signed, as PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_client_ca: Option<String>,
    /// Serves `/metrics` on this address, an IP address and a port
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics_listen: Option<String>,
    /// Lets other machines connect without TLS, for reverse proxies that have it
    #[arg(long)]
    pub(crate) insecure_plain_http: bool,
    /// Lets other machines read and change every state without credentials
    #[arg(long)]
    pub(crate) insecure_no_authentication: bool,
    /// Makes a new store where there is none
    ///
    /// A directory that does not exist yet, and whose place is not remembered, needs no such permission. An empty directory, bucket or database may be
    /// one that is not mounted, or was emptied. A store that is there stays as it is.
    #[arg(long)]
    pub(crate) init: bool,
    /// Prints the configuration that the server would run with, and ends
    #[arg(long)]
    pub(crate) check: bool,
}

/// What every command on a server and its store takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServerArgs {
    /// Where the server keeps everything: a directory, `s3://BUCKET/PREFIX`, `gs://BUCKET`, `azblob://CONTAINER`,
    /// `postgres://HOST/DATABASE` or `memory:` [default: ~/.local/share/groundstate]
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// Reads the options of the server from this file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Sets an option of the server, such as `limits.state=64MiB`; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,
}
