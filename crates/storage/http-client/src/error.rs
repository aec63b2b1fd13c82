//! Why a request has no answer.

use std::error::Error;
use std::io;

/// Why a request has no answer, or no whole one. No text has an address, since addresses may have secrets in their queries.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// It was not sent.
    #[error(transparent)]
    NotSent(#[from] NotSent),
    /// No connection was made.
    #[error("no connection can be made")]
    Connect(#[source] reqwest::Error),
    /// The server is not who it has to be, or no protocol suits both sides. Nothing was sent.
    #[error("the TLS handshake failed")]
    Tls(#[source] reqwest::Error),
    /// The server was silent for too long.
    #[error("the server was silent for too long")]
    Silent(#[source] reqwest::Error),
    /// The answer was not complete in time.
    #[error(transparent)]
    Deadline(#[from] DeadlineExceeded),
    /// The answer is longer than it may be.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The connection ended before the answer.
    #[error("the connection ended before the answer")]
    Interrupted(#[source] reqwest::Error),
    /// The answer is not HTTP.
    #[error("the answer cannot be read")]
    Decode(#[source] Box<dyn Error + Send + Sync>),
    /// No client can be made with the options.
    #[error(transparent)]
    Options(#[from] InvalidOption),
    /// Anything else.
    #[error("the request failed")]
    Other(#[source] reqwest::Error),
}

impl SendError {
    /// Whether the request may have arrived, so that what it asks for may have been done.
    pub fn was_sent(&self) -> bool {
        !matches!(self, Self::NotSent(_) | Self::Connect(_) | Self::Tls(_) | Self::Options(_))
    }

    pub(crate) fn of(error: reqwest::Error) -> Self {
        // Addresses may have secrets in their queries.
        let error = error.without_url();
        match &error {
            _ if error.is_builder() => Self::Options(InvalidOption::new(error)),
            _ if error.is_connect() && is_tls(&error) => Self::Tls(error),
            _ if error.is_connect() => Self::Connect(error),
            _ if error.is_timeout() => Self::Silent(error),
            _ if error.is_decode() => Self::Decode(error.into()),
            _ if error.is_body() || error.is_request() => Self::Interrupted(error),
            _ => Self::Other(error),
        }
    }
}

/// Whether TLS is the cause. An error of input and output is not the cause of itself, so what it is made of is looked at too.
fn is_tls(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<rustls::Error>() {
            return true;
        }
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}

/// That a request was not sent, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// It has no address, or a body that cannot be sent.
    #[error("the request cannot be sent: {0}")]
    Address(&'static str),
    /// It shows a secret, and would leave by plain http.
    #[error(
        "{host} is addressed by plain http, which would show the credentials on the way; use https, or set GROUNDSTATE_ALLOW_PLAIN_HTTP=true"
    )]
    PlainHttp {
        /// The host, with its port.
        host: String,
    },
}

/// That an answer is longer than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer has more than {limit} bytes")]
pub struct TooLarge {
    /// How many bytes it may have.
    pub limit: u64,
}

/// That an answer was not complete in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer was not complete after {seconds} seconds")]
pub struct DeadlineExceeded {
    /// The time that there was.
    pub seconds: u64,
}

/// That no client can be made with an option: a certificate, a key, a proxy.
#[derive(Debug, thiserror::Error)]
#[error("no client can be made with it")]
pub struct InvalidOption(#[source] Box<dyn Error + Send + Sync>);

impl InvalidOption {
    pub(crate) fn new(error: reqwest::Error) -> Self {
        Self(error.without_url().into())
    }

    pub(crate) fn no_certificate() -> Self {
        Self("there is no certificate in it".into())
    }
}

/// The first cause of this type, the error itself included.
pub fn cause_of<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
