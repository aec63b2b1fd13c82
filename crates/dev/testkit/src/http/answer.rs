//! What a face answers.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

/// An answer that is ready to be sent.
#[derive(Clone)]
pub struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    /// The length that an answer to HEAD declares.
    pub(crate) declared: Option<u64>,
    /// How the body is sent.
    pub(crate) flow: Flow,
}

/// How a body is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// At once and to its end.
    Whole,
    /// So many bytes, before the connection is closed.
    Cut(usize),
    /// Again and again, until the client has enough.
    Endless,
    /// The same with a pause before each time.
    Drip(Duration),
}

impl Answer {
    /// An answer without a body.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Bytes::new(), declared: None, flow: Flow::Whole }
    }

    /// The same with a header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The same with a header more, if there is a value.
    #[must_use]
    pub(crate) fn maybe(self, name: &str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.header(name, value),
            None => self,
        }
    }

    /// The same with this body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The same with a body in plain text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.header("content-type", "text/plain; charset=utf-8").body(text.to_owned())
    }

    /// The same with a body in XML, to which the declaration is added.
    #[must_use]
    pub(crate) fn xml(self, text: &str) -> Self {
        let text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{text}");
        self.header("content-type", "application/xml").body(text)
    }

    /// The same with a body in JSON.
    #[must_use]
    pub(crate) fn json(self, value: &serde_json::Value) -> Self {
        self.header("content-type", "application/json; charset=UTF-8").body(value.to_string())
    }

    /// The same with a length that the body need not have.
    #[must_use]
    pub fn declaring(mut self, length: u64) -> Self {
        self.declared = Some(length);
        self
    }

    /// The same with its body again and again, until the client has enough.
    #[must_use]
    pub fn endless(mut self) -> Self {
        self.flow = Flow::Endless;
        self
    }

    /// The same with its body again and again, with a pause before each time.
    #[must_use]
    pub fn dripping(mut self, pause: Duration) -> Self {
        self.flow = Flow::Drip(pause);
        self
    }

    /// The same without the bytes of the body, whose length is still declared.
    #[must_use]
    pub(crate) fn head(mut self) -> Self {
        self.declared = Some(self.body.len() as u64);
        self.body = Bytes::new();
        self
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// A header.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.status, self.body.len())
    }
}
