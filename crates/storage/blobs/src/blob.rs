//! Contents and their descriptions, as they are read.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use groundstate_common::Timestamp;

use crate::version::BlobVersion;

/// What is known of a blob beside its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobMeta {
    /// Which content it has.
    pub version: BlobVersion,
    /// The size of the whole content in bytes, also where a range was read.
    pub size: u64,
    /// When it was written, if the service says.
    pub last_modified: Option<Timestamp>,
    /// The content type and metadata.
    pub attributes: Attributes,
    /// Whether a lease is held; `None` where there are no leases, and in lists of services that do not say.
    pub lease: Option<LeaseState>,
}

impl BlobMeta {
    /// A description with nothing but version and size.
    pub fn new(version: BlobVersion, size: u64) -> Self {
        Self { version, size, ..Self::default() }
    }
}

/// What a service keeps with a content. A write replaces all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attributes {
    /// The media type, such as `application/json`.
    pub content_type: Option<String>,
    /// Names, in lower case, and values, in printable ASCII.
    pub metadata: BTreeMap<String, String>,
}

impl Attributes {
    /// Only a content type.
    pub fn content_type(content_type: &str) -> Self {
        Self { content_type: Some(content_type.to_owned()), metadata: BTreeMap::new() }
    }

    /// Adds an entry of metadata. The name is put in lower case, as services do.
    #[must_use]
    pub fn with_metadata(mut self, name: &str, value: &str) -> Self {
        self.metadata.insert(name.to_ascii_lowercase(), value.to_owned());
        self
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.content_type.is_none() && self.metadata.is_empty()
    }
}

/// Whether a lease is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeaseState {
    /// It is free.
    Free,
    /// Held until it is released or broken.
    Held,
    /// Held for some seconds, unless renewed.
    HeldForNow,
}

impl LeaseState {
    /// Whether one is held.
    pub fn is_held(self) -> bool {
        self != Self::Free
    }
}

/// A content that was read.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blob {
    /// The bytes that were asked for.
    pub bytes: Bytes,
    /// Where these bytes stand in the content.
    pub range: Range<u64>,
    /// What else is known.
    pub meta: BlobMeta,
}

impl Blob {
    /// A whole content.
    pub fn whole(bytes: Bytes, meta: BlobMeta) -> Self {
        Self { range: 0..bytes.len() as u64, bytes, meta }
    }

    /// A part of a content, which begins at `start`.
    pub fn part(bytes: Bytes, start: u64, meta: BlobMeta) -> Self {
        Self { range: start..start.saturating_add(bytes.len() as u64), bytes, meta }
    }

    /// Which content it is.
    pub fn version(&self) -> &BlobVersion {
        &self.meta.version
    }
}

impl fmt::Debug for Blob {
    /// Shows the size only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blob")
            .field("bytes", &self.bytes.len())
            .field("range", &self.range)
            .field("meta", &self.meta)
            .finish()
    }
}

/// One blob in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The whole name, as the service has it. It may be one that no [`Key`](crate::Key) can be, such as the name with a slash at its
    /// end that consoles make for a folder; [`Key::parse`](crate::Key::parse) tells.
    pub name: String,
    /// Which content it has, as far as lists of the service say, and its size. Attributes are empty.
    pub meta: BlobMeta,
}

impl Listed {
    /// An entry.
    pub fn new(name: impl Into<String>, meta: BlobMeta) -> Self {
        Self { name: name.into(), meta }
    }
}

/// A part of a list, in the order of the names' bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The blobs.
    pub blobs: Vec<Listed>,
    /// With [`ListOptions::delimiter`](crate::ListOptions::delimiter): what names that have a slash behind the prefix have up
    /// to that slash, each once.
    pub prefixes: Vec<String>,
    /// Where the list goes on, if it does. A page may be empty and yet not the last.
    pub next: Option<PageToken>,
}

impl Page {
    /// A page for implementers of stores.
    pub fn new(blobs: Vec<Listed>, prefixes: Vec<String>, next: Option<PageToken>) -> Self {
        Self { blobs, prefixes, next }
    }
}

/// Where a list goes on; meaningful only to the store that gave it, for the same prefix and delimiter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageToken {
    text: String,
    /// The number of pages before.
    pages: usize,
}

impl PageToken {
    /// A token for implementers of stores.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), pages: 1 }
    }

    /// The text that was given to [`new`](Self::new).
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same as the token of the page that follows `before`, and how many pages there were so far.
    #[must_use]
    pub fn after(mut self, before: Option<&Self>) -> (Self, usize) {
        self.pages = before.map_or(0, |before| before.pages) + 1;
        let pages = self.pages;
        (self, pages)
    }
}
