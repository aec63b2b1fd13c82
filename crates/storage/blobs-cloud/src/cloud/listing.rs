//! Lists as S3 and Google give them.

use groundstate_blobs::{BlobMeta, BlobVersion, ListOptions, Listed, Page, PageToken, Result};
use serde::Deserialize;

use super::{read_list, timestamp};

/// As many as the services give at most.
pub(crate) const PAGE: usize = 1000;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    #[serde(default)]
    contents: Vec<Entry>,
    #[serde(default)]
    common_prefixes: Vec<Prefix>,
    next_continuation_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    key: String,
    size: u64,
    #[serde(default)]
    last_modified: String,
    #[serde(rename = "ETag")]
    e_tag: Option<String>,
    generation: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Prefix {
    prefix: String,
}

/// The query of a list in the second version of the protocol.
pub(crate) fn list_query(prefix: &str, options: &ListOptions) -> String {
    let limit = options.limit.unwrap_or(PAGE).clamp(1, PAGE).to_string();
    let mut pairs = Vec::new();
    if let Some(page) = &options.page {
        pairs.push(("continuation-token", page.as_str()));
    }
    if options.delimiter {
        pairs.push(("delimiter", "/"));
    }
    pairs.extend([("list-type", "2"), ("max-keys", &limit), ("prefix", prefix)]);
    super::query(&pairs)
}

/// Reads a page.
pub(crate) fn list_page(place: &str, body: &[u8]) -> Result<Page> {
    let document: Document = read_list(place, body)?;
    Ok(Page::new(
        document.contents.into_iter().map(Entry::listed).collect(),
        document.common_prefixes.into_iter().map(|prefix| prefix.prefix).collect(),
        document.next_continuation_token.filter(|token| !token.is_empty()).map(PageToken::new),
    ))
}

impl Entry {
    fn listed(self) -> Listed {
        let mut version = BlobVersion::default();
        if let Some(e_tag) = self.e_tag {
            version = version.with_e_tag(e_tag);
        }
        if let Some(generation) = self.generation {
            version = version.with_generation(generation);
        }
        let mut meta = BlobMeta::new(version, self.size);
        meta.last_modified = timestamp(&self.last_modified);
        Listed::new(self.key, meta)
    }
}
