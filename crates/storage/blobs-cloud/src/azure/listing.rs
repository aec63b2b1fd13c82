//! Lists as Azure gives them.

use groundstate_blobs::{BlobMeta, BlobVersion, LeaseState, ListOptions, Listed, Page, PageToken, Result};
use serde::Deserialize;

use crate::cloud::{query, read_list, timestamp};

/// The service gives 5000, of which an answer would be longer than lists may be.
pub(super) const PAGE: usize = 500;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    #[serde(default)]
    blobs: Blobs,
    #[serde(default)]
    next_marker: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Blobs {
    #[serde(default)]
    blob: Vec<Entry>,
    #[serde(default)]
    blob_prefix: Vec<Prefix>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    name: String,
    properties: Properties,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Properties {
    #[serde(rename = "Etag", alias = "ETag")]
    e_tag: Option<String>,
    #[serde(rename = "Content-Length", default)]
    length: u64,
    #[serde(rename = "Last-Modified", default)]
    last_modified: String,
    #[serde(rename = "LeaseStatus")]
    lease_status: Option<String>,
    #[serde(rename = "LeaseDuration")]
    lease_duration: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Prefix {
    name: String,
}

pub(super) fn list_query(prefix: &str, options: &ListOptions) -> String {
    let limit = options.limit.unwrap_or(PAGE).clamp(1, PAGE).to_string();
    let mut pairs =
        vec![("restype", "container"), ("comp", "list"), ("maxresults", &limit), ("prefix", prefix)];
    if options.delimiter {
        pairs.push(("delimiter", "/"));
    }
    if let Some(page) = &options.page {
        pairs.push(("marker", page.as_str()));
    }
    query(&pairs)
}

pub(super) fn list_page(place: &str, body: &[u8]) -> Result<Page> {
    let document: Document = read_list(place, body)?;
    Ok(Page::new(
        document.blobs.blob.into_iter().map(Entry::listed).collect(),
        document.blobs.blob_prefix.into_iter().map(|prefix| prefix.name).collect(),
        document.next_marker.filter(|marker| !marker.is_empty()).map(PageToken::new),
    ))
}

impl Entry {
    fn listed(self) -> Listed {
        let Properties { e_tag, length, last_modified, lease_status, lease_duration } = self.properties;
        // Lists have the tag without the quotes that headers have.
        let e_tag = e_tag.map(|tag| if tag.starts_with('"') { tag } else { format!("\"{tag}\"") });
        let version = e_tag.map_or_else(BlobVersion::default, |tag| BlobVersion::default().with_e_tag(tag));
        let mut meta = BlobMeta::new(version, length);
        meta.last_modified = timestamp(&last_modified);
        meta.lease = lease_status.map(|status| lease_state(&status, lease_duration.as_deref()));
        Listed::new(self.name, meta)
    }
}

/// The state of a lease from the service's words.
pub(super) fn lease_state(status: &str, duration: Option<&str>) -> LeaseState {
    match (status, duration) {
        ("locked", Some("fixed")) => LeaseState::HeldForNow,
        ("locked", _) => LeaseState::Held,
        _ => LeaseState::Free,
    }
}
