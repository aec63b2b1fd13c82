//! What the three clouds have in common: requests, replies, and what they mean.

mod date;
mod encode;
mod exchange;
mod failure;
#[cfg(any(feature = "aws", feature = "gcp"))]
mod listing;
mod reading;
mod tls;
mod untrusted;

pub(crate) use date::timestamp;
pub(crate) use encode::{encode, query};
pub use exchange::Reply;
pub(crate) use exchange::{Effect, Request, Wire};
pub(crate) use failure::{Failure, Meaning};
pub(crate) use reading::{
    Reading, attribute_headers, blob_of, covers, meta_of, nothing_of, read_headers, version_of,
};

pub(crate) use untrusted::address;
#[cfg(feature = "aws")]
pub(crate) use untrusted::{header_text, is_loopback, token};

#[cfg(any(feature = "aws", feature = "gcp"))]
pub(crate) use listing::{list_page, list_query};

/// How long to wait for services: states may be large and lines slow, so it is silence that ends a request.
pub(crate) fn client_options() -> object_store::ClientOptions {
    const SILENCE: std::time::Duration = std::time::Duration::from_secs(60);
    const CONNECT: std::time::Duration = std::time::Duration::from_secs(10);
    object_store::ClientOptions::new()
        .with_timeout_disabled()
        .with_read_timeout(SILENCE)
        .with_connect_timeout(CONNECT)
}

/// The texts of an error and all its causes, to look for words in; never shown.
#[cfg(feature = "gcp")]
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push('\n');
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
