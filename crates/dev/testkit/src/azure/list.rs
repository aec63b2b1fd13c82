//! Listing a container.

use super::State;
use super::error::{Refused, Result};
use super::read::lease_words;
use super::route::Target;
use crate::digest::{base64, from_base64};
use crate::http::{Answer, Request};
use crate::store::{After, Object, http_date, page};
use crate::xml::{element, escaped};

/// No page is longer, whatever is asked for.
const LONGEST: usize = 5000;

pub(super) fn answer(state: &State, request: &Request, target: &Target) -> Result<Answer> {
    let container = state.store.buckets.get(&target.container).ok_or_else(Refused::no_container)?;
    let ask = |parameter: &str| request.parameter(parameter).unwrap_or_default();
    let (prefix, delimiter, marker, start) =
        (ask("prefix"), ask("delimiter"), ask("marker"), ask("startFrom"));
    let max = match request.parameter("maxresults").map(|text| text.parse::<usize>()) {
        None => LONGEST,
        Some(Ok(max)) if max > 0 => max.min(LONGEST),
        Some(_) => return Err(Refused::parameter("maxresults")),
    };
    let last = if marker.is_empty() {
        None
    } else {
        let entry = from_base64(&marker).and_then(|bytes| String::from_utf8(bytes).ok());
        Some(entry.ok_or_else(|| Refused::parameter("marker"))?)
    };
    let after = match &last {
        Some(entry) => After::Entry(entry),
        None if start.is_empty() => After::Start,
        None => After::At(&start),
    };
    let page = page(&container.objects, &prefix, &delimiter, after, max);
    let with_metadata = ask("include").split(',').any(|part| part == "metadata");
    let mut blobs = String::new();
    for name in page.keys() {
        if let Some(object) = container.objects.get(name) {
            blobs += &blob(state, target, name, object, with_metadata);
        }
    }
    for prefix in page.prefixes() {
        blobs += &format!("<BlobPrefix>{}</BlobPrefix>", element("Name", prefix));
    }
    let mut document = element("Prefix", &prefix) + &element("MaxResults", &max.to_string());
    if !delimiter.is_empty() {
        document += &element("Delimiter", &delimiter);
    }
    let next = page.next().map(|next| base64(next.as_bytes())).unwrap_or_default();
    document += &format!("<Blobs>{blobs}</Blobs>{}", element("NextMarker", &next));
    let container = escaped(&target.container);
    Ok(Answer::new(200)
        .xml(&format!("<EnumerationResults ContainerName=\"{container}\">{document}</EnumerationResults>")))
}

fn blob(state: &State, target: &Target, name: &str, object: &Object, with_metadata: bool) -> String {
    let lease = state.leases.get(&(target.container.clone(), name.to_owned()));
    let (status, lease_state, duration) = lease_words(lease, state.now());
    let mut properties = element("Last-Modified", &http_date(object.modified));
    // Headers have quotes around it, lists have none.
    properties += &element("Etag", object.etag.trim_matches('"'));
    properties += &element("Content-Length", &object.bytes.len().to_string());
    properties +=
        &element("Content-Type", object.header("content-type").unwrap_or("application/octet-stream"));
    properties += &element("BlobType", "BlockBlob");
    properties += &element("LeaseStatus", status);
    properties += &element("LeaseState", lease_state);
    properties += &duration.map(|duration| element("LeaseDuration", duration)).unwrap_or_default();
    let mut text = element("Name", name) + &format!("<Properties>{properties}</Properties>");
    if with_metadata {
        let metadata: String = object
            .headers
            .iter()
            .filter_map(|(name, value)| Some(element(name.strip_prefix("x-ms-meta-")?, value)))
            .collect();
        text += &format!("<Metadata>{metadata}</Metadata>");
    }
    format!("<Blob>{text}</Blob>")
}
