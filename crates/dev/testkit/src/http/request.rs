//! A request whose body has arrived.

use std::fmt;

use bytes::Bytes;
use hyper::HeaderMap;
use percent_encoding::percent_decode_str;

/// A request as the server received it.
#[derive(Clone)]
pub struct Request {
    pub(crate) method: String,
    /// Path and query as they were sent.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    /// The method, in capitals.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The path as it was sent, without the query.
    pub fn raw_path(&self) -> &str {
        self.target.split_once('?').map_or(&self.target, |(path, _)| path)
    }

    /// The path with its percent signs resolved.
    pub fn path(&self) -> String {
        decode(self.raw_path())
    }

    /// The query as it was sent, without the question mark.
    pub fn raw_query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The parameters of the query, decoded, in their order.
    pub fn query(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.raw_query().split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
        })
    }

    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.query().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// Whether the query has the parameter, with or without a value.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }

    /// A header, if its value is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(text)
    }

    /// All headers whose values are text, with names in lower case.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().filter_map(|(name, value)| Some((name.as_str(), text(value)?)))
    }

    /// The bytes that followed the headers.
    pub fn body(&self) -> &Bytes {
        &self.body
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({} bytes)", self.method, self.raw_path(), self.body.len())
    }
}

/// Clients send names and metadata as UTF-8, which `to_str` of the type refuses.
fn text(value: &hyper::header::HeaderValue) -> Option<&str> {
    std::str::from_utf8(value.as_bytes()).ok()
}

/// Resolves percent signs; what is not UTF-8 then is replaced.
pub(crate) fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
