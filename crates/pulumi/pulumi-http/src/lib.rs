//! The stacks of any Pulumi service, over HTTP: the client's side of the service protocol.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use groundstate_pulumi_http::common::{FixedClock, Timestamp};
//! use groundstate_pulumi_http::protocol::StackPath;
//! use groundstate_pulumi_http::{AccessToken, Service, ServiceAddress, ServiceOptions, StackFilter};
//!
//! # async fn f() -> Result<(), groundstate_pulumi_http::Error> {
//! let address = ServiceAddress::parse("https://pulumi.example.com")?;
//! let token = AccessToken::new(&std::env::var("PULUMI_ACCESS_TOKEN").unwrap_or_default())?;
//! // A program has what its runtime sleeps with.
//! let sleeper = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
//! let service = Service::new(address, Some(token), ServiceOptions::new(), sleeper)?;
//! for stack in service.stacks(&StackFilter::default().project("shop")).await? {
//!     println!("{}/{}/{}", stack.org_name, stack.project_name, stack.stack_name);
//! }
//! let stack = service.stack(StackPath::new("acme", "shop", "prod"));
//! let (version, state) = (stack.get().await?.version, stack.export().await?);
//! println!("version {version} has {} bytes", state.len());
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - A [`Service`] is one address for one user: [`user`](Service::user), [`capabilities`](Service::capabilities),
//!   [`stacks`](Service::stacks). A [`ServiceStack`] is one of its stacks: states of every version, imports, tags, history, the update that
//!   runs, and the secrets that the service encrypts for it.
//! - What only reads, or comes to the same when it arrives twice, is repeated up to three times, after 1, 2 and 4 seconds or as the service
//!   asks. Everything else is repeated only if it surely did not arrive; otherwise the error is [`ErrorKind::Ambiguous`].
//! - An [`import`](ServiceStack::import) replaces whatever is there. The protocol has no condition for it.
//! - A token is sent to the address it was made for, over TLS or on this machine, and redirects are not followed. No `Debug`, log or error
//!   shows it.
//! - What is no document of a Pulumi service is [`ErrorKind::NotService`]: pages of a proxy, 404 without a document, redirects.
//!
//! # What is deliberately absent
//!
//! - Logins: where tokens come from, and whether they may go to an address, is the caller's. `groundstate-pulumi-backends` has Pulumi's rules.
//! - Updates of an engine: leases, checkpoints, journals.
//! - What is in deployments: `groundstate-pulumi-deployment` reads them.
//! - Clocks, timers, and the environment.
//!
//! # Features
//!
//! None.

mod address;
mod connection;
mod error;
mod history;
mod import;
mod lock;
mod op;
mod secrets;
mod service;
mod stack;

pub use address::{AccessToken, ServiceAddress};
pub use connection::ServiceOptions;
pub use error::{BoxError, Error, ErrorKind, Result};
pub use history::HistoryEntry;
pub use op::Op;
pub use service::{Service, StackFilter};
pub use stack::ServiceStack;

/// Contents of requests and answers.
pub use bytes;
/// What waits between repetitions.
pub use groundstate_common as common;
/// How requests are made.
pub use groundstate_http_client as http_client;
/// The documents.
pub use groundstate_pulumi_protocol as protocol;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
