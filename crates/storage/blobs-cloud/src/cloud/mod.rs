//! What the three clouds have in common: requests, replies, and what they mean.

mod date;
mod encode;
mod exchange;
mod failure;
mod http_options;
#[cfg(any(feature = "aws", feature = "gcp"))]
mod listing;
mod pages;
#[cfg(feature = "aws")]
mod proxy;
mod reading;
#[cfg(feature = "aws")]
mod reveal;
mod secrets;
mod store;
#[cfg(any(feature = "azure", feature = "gcp"))]
mod tokens;
mod transport;
mod untrusted;

pub(crate) use date::timestamp;
pub(crate) use encode::{encode, query};
pub use exchange::Reply;
pub(crate) use exchange::{Effect, Request, Wire};
pub(crate) use failure::{Failure, Meaning};
#[cfg(feature = "aws")]
pub(crate) use http_options::Expected;
pub(crate) use http_options::HttpOptions;
pub(crate) use pages::read_list;
#[cfg(feature = "aws")]
pub(crate) use proxy::Proxies;
pub(crate) use reading::Dialect;
#[cfg(feature = "azure")]
pub(crate) use reading::{attribute_headers, meta_of, version_of};
pub(crate) use store::Cloud;

pub(crate) use groundstate_http_client::address;
#[cfg(any(feature = "aws", feature = "azure"))]
pub(crate) use groundstate_http_client::{is_loopback, with_scheme};
#[cfg(feature = "gcp")]
pub(crate) use tokens::ask_text;
#[cfg(any(feature = "azure", feature = "gcp"))]
pub(crate) use tokens::{
    OAuthAnswer, SHORT, Seconds, Token, TokenCache, ask, form, token_of, unauthenticated,
};
pub(crate) use transport::{Transport, no_client};
#[cfg(feature = "aws")]
pub(crate) use untrusted::header_text;
pub(crate) use untrusted::{endpoint, token};

#[cfg(any(feature = "aws", feature = "gcp"))]
pub(crate) use listing::{PAGE, list_page, list_query};
#[cfg(feature = "aws")]
pub(crate) use reveal::only_to_own;

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
