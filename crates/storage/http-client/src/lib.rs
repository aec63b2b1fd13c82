//! The HTTP client of stores in the network: what may leave, where it may lead, and how much may arrive.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use groundstate_http_client::http::Method;
//! use groundstate_http_client::{Client, ClientOptions, Request, SMALL_LIMIT, address, read_whole};
//!
//! # async fn f() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(ClientOptions::new())?;
//! let request = Request::new(Method::GET, address("https://state.example.com/prod")?);
//! let answer = client.send(request.limit(SMALL_LIMIT, Duration::from_secs(30))).await?;
//! let status = answer.status();
//! println!("{status}: {} bytes", read_whole(answer.into_body()).await?.len());
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - A [`Client`] sends each [`Request`] once, follows no redirect, and sends no `Referer`.
//! - [`Request::reveals`] marks what its receiver, and every host on the way, could use again. Such a request leaves by TLS only,
//!   or for this machine and the services that a cloud gives to its machines ([`is_near`]).
//! - The body of an answer is a [`LimitedBody`]; [`read_whole`] collects it.
//! - A [`SendError`] says whether the request may have arrived: [`SendError::was_sent`].
//! - [`address`] checks texts before they become an address; the client below panics on some of those that it refuses.
//!
//! # What is deliberately absent
//!
//! - Retries, redirects and what a status means: callers know what may be repeated.
//! - Logs: a span around the call knows what it is about.

mod address;
mod body;
mod client;
mod error;
mod options;
mod tls;

pub use address::{address, address_with_user, host_of, is_loopback, is_near, with_scheme};
pub use body::{LimitedBody, collect, read_whole};
pub use client::{Client, Request};
pub use error::{DeadlineExceeded, InvalidOption, NotSent, SendError, TooLarge, cause_of};
pub use options::{
    ClientOptions, DEADLINE, LOCK_LIMIT, Proxies, SHORT_DEADLINE, SILENCE, SMALL_LIMIT, STATE_LIMIT,
    parse_size, unencrypted,
};

/// Contents of requests and answers.
pub use bytes;
/// Methods, headers and answers.
pub use http;
/// Addresses.
pub use url;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
