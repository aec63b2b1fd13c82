//! What S3, Google and Azure answer reads with, which differs in the names of headers only.

use std::ops::Range;

use bytes::Bytes;
use groundstate_blobs::{Attributes, Blob, BlobMeta, BlobVersion, Error, ErrorKind, GetOptions, Op, Result};

use super::{Reply, Request, timestamp};

/// The words in which one service differs from the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// What errors call it.
    pub(crate) service: &'static str,
    /// What names of headers with metadata begin with.
    pub(crate) metadata: &'static str,
    /// The header that has the version of a blob, where blobs have versions.
    pub(crate) version_id: &'static str,
    /// The header of a condition, if that is a generation rather than an entity tag.
    pub(crate) generation_match: Option<&'static str>,
    /// The code of a refusal that says that there is no such blob.
    pub(crate) missing: &'static str,
    /// The most entries that a page of a list has.
    pub(crate) page: usize,
}

/// Whether a range has any bytes to ask for.
pub(crate) fn covers(range: &Range<u64>) -> bool {
    range.start < range.end
}

/// The headers of a read that all services know.
pub(crate) fn read_headers(options: &GetOptions) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    if let Some(range) = &options.range {
        headers.push(("range".to_owned(), format!("bytes={}-{}", range.start, range.end.saturating_sub(1))));
    }
    let conditions = [("if-match", &options.if_match), ("if-none-match", &options.if_none_match)];
    for (name, version) in conditions {
        if let Some(e_tag) = version.as_ref().and_then(BlobVersion::e_tag) {
            headers.push((name.to_owned(), e_tag.to_owned()));
        }
    }
    headers
}

/// What the headers of a reply say of a blob; the size is that of the whole.
pub(crate) fn meta_of(reply: &Reply, dialect: &Dialect) -> BlobMeta {
    let mut meta = BlobMeta::new(version_of(reply, dialect), size_of_whole(reply));
    meta.last_modified = reply.header("last-modified").and_then(timestamp);
    let metadata =
        reply.headers_with(dialect.metadata).map(|(name, value)| (name.to_owned(), value.to_owned()));
    meta.attributes.content_type = reply.header("content-type").map(str::to_owned);
    meta.attributes.metadata = metadata.collect();
    meta
}

/// The marks of a content in the headers of a reply.
pub(crate) fn version_of(reply: &Reply, dialect: &Dialect) -> BlobVersion {
    let mut version = BlobVersion::default();
    if let Some(e_tag) = reply.header("etag") {
        version = version.with_e_tag(e_tag);
    }
    if let Some(id) = reply.header(dialect.version_id).filter(|id| *id != "null") {
        version = version.with_version_id(id);
    }
    if let Some(generation) = reply.header("x-goog-generation").and_then(|text| text.parse().ok()) {
        version = version.with_generation(generation);
    }
    version
}

fn size_of_whole(reply: &Reply) -> u64 {
    let in_range = reply.header("content-range").and_then(|text| text.rsplit_once('/')?.1.parse().ok());
    let length = || reply.header("content-length")?.parse().ok();
    in_range.or_else(length).unwrap_or(reply.body.len() as u64)
}

/// The blob in a successful reply, if it is what was asked for. Some servers that speak the protocols ignore conditions.
pub(crate) fn blob_of(reply: &Reply, meta: BlobMeta, options: &GetOptions, place: &str) -> Result<Blob> {
    if options.if_match.as_ref().is_some_and(|expected| !expected.same_as(&meta.version)) {
        return Err(Error::new(ErrorKind::PreconditionFailed, Op::Read, place));
    }
    if options.if_none_match.as_ref().is_some_and(|known| known.same_as(&meta.version)) {
        return Err(Error::new(ErrorKind::NotModified, Op::Read, place));
    }
    let Some(range) = &options.range else { return Ok(Blob::whole(reply.body.clone(), meta)) };
    if reply.status == 206 {
        return Ok(Blob::part(reply.body.clone(), range.start, meta));
    }
    // The whole came although a part was asked for.
    let end = usize::try_from(range.end).unwrap_or(usize::MAX).min(reply.body.len());
    let start = usize::try_from(range.start).unwrap_or(usize::MAX).min(end);
    Ok(Blob::part(reply.body.slice(start..end), start as u64, meta))
}

/// What a range beyond the end, or none at all, gives.
pub(crate) fn nothing_of(meta: BlobMeta, options: &GetOptions, place: &str) -> Result<Blob> {
    if options.if_match.as_ref().is_some_and(|expected| !expected.same_as(&meta.version)) {
        return Err(Error::new(ErrorKind::PreconditionFailed, Op::Read, place));
    }
    let start = options.range.as_ref().map_or(0, |range| range.start.min(meta.size));
    Ok(Blob::part(Bytes::new(), start, meta))
}

/// The headers of what is kept with a content.
pub(crate) fn attribute_headers(request: Request, attributes: &Attributes, prefix: &str) -> Result<Request> {
    let mut request = request;
    if let Some(content_type) = &attributes.content_type {
        request = request.header("content-type", content_type)?;
    }
    let mut metadata = attributes.metadata.iter();
    metadata.try_fold(request, |request, (name, value)| request.header(&format!("{prefix}{name}"), value))
}
