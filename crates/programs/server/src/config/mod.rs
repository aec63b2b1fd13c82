//! The configuration of the server: options from a file, from the environment and from arguments, and what they come to.
//!
//! ```
//! use groundstate_server::config::Sources;
//!
//! let config = Sources::new()
//!     .file("server.toml".as_ref(), "store = \"states\"\nlisten = [\"127.0.0.1:5000\"]\nlimits.state = \"64MiB\"\n")?
//!     .argument("--listen", "listen", "127.0.0.1:5001")?
//!     .build(&|_| None)?;
//! assert_eq!(config.listen[0].port(), 5001);
//! assert_eq!(config.requests.state_bytes, 64 << 20);
//!
//! let error = Sources::new().file("server.toml".as_ref(), "[limits]\nstat = \"64MiB\"\n").unwrap_err();
//! assert_eq!(error.to_string(), "server.toml:2:1: there is no option `limits.stat`");
//! # Ok::<(), groundstate_server::config::ConfigError>(())
//! ```

mod buckets;
mod effective;
mod error;
mod identities;
mod layers;
mod network;
mod options;
mod public_url;
mod reference;
mod sources;
mod store;
mod url_secrets;
mod value;

pub use buckets::BucketSettings;
pub(crate) use effective::is_loopback;
pub use effective::{ClientCertificates, Config, DEFAULT_ADDRESS, MetricsListener, TlsFiles};
pub use error::{ConfigError, Origin, Problem};
pub use network::{InvalidNetwork, Network};
pub use public_url::{InvalidPublicUrl, PublicUrl};
pub use reference::reference;
pub use sources::Sources;
pub(crate) use store::key_prefix;
pub use store::{InvalidStore, PostgresUrl, StorePlace};
