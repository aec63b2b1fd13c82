//! Listing a bucket, in both versions of the operation.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::State;
use super::error::{Refused, Result};
use super::route::Target;
use crate::digest::{base64, from_base64};
use crate::http::{Answer, Request};
use crate::store::{After, Bucket, Page, page, rfc3339};
use crate::xml::element;

/// What names escape where the client asks for URL encoding.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b'*');
/// No page is longer, whatever is asked for.
const LONGEST: usize = 1000;

pub(super) fn answer(state: &State, request: &Request, target: &Target) -> Result<Answer> {
    let bucket = state.store.buckets.get(&target.bucket).ok_or_else(|| Refused::no_bucket(&target.bucket))?;
    let ask = |name: &str| request.parameter(name).unwrap_or_default();
    let (prefix, delimiter) = (ask("prefix"), ask("delimiter"));
    let max = match request.parameter("max-keys") {
        None => LONGEST,
        Some(text) => {
            let max: usize = text.parse().map_err(|_| Refused::argument("max-keys", "not an integer"))?;
            max.min(LONGEST)
        }
    };
    let second = ask("list-type") == "2";
    let token = if second {
        request.parameter("continuation-token").map(|token| entry(&token)).transpose()?
    } else {
        None
    };
    let start = ask(if second { "start-after" } else { "marker" });
    let after = match &token {
        Some(entry) => After::Entry(entry),
        None if start.is_empty() => After::Start,
        None if second => After::Key(&start),
        None => After::Entry(&start),
    };
    let page = page(&bucket.objects, &prefix, &delimiter, after, max);
    let escape = |name: &str| {
        if ask("encoding-type") == "url" {
            utf8_percent_encode(name, ESCAPED).to_string()
        } else {
            name.to_owned()
        }
    };
    let mut document = element("Name", &target.bucket) + &element("Prefix", &escape(&prefix));
    if !delimiter.is_empty() {
        document += &element("Delimiter", &escape(&delimiter));
    }
    document += &element("MaxKeys", &max.to_string());
    document += &element("IsTruncated", &page.truncated.to_string());
    document += &next(&page, second, &escape);
    if second {
        document += &element("KeyCount", &page.entries.len().to_string());
    }
    document += &contents(bucket, &page, &escape);
    let xmlns = "http://s3.amazonaws.com/doc/2006-03-01/";
    Ok(Answer::new(200).xml(&format!("<ListBucketResult xmlns=\"{xmlns}\">{document}</ListBucketResult>")))
}

/// The entry that a token stands for.
fn entry(token: &str) -> Result<String> {
    let entry = from_base64(token).and_then(|bytes| String::from_utf8(bytes).ok());
    entry.ok_or_else(|| {
        Refused::argument("continuation-token", "The continuation token provided is incorrect")
    })
}

fn next(page: &Page, second: bool, escape: &dyn Fn(&str) -> String) -> String {
    match page.next() {
        None => String::new(),
        Some(next) if second => element("NextContinuationToken", &base64(next.as_bytes())),
        Some(next) => element("NextMarker", &escape(next)),
    }
}

fn contents(bucket: &Bucket, page: &Page, escape: &dyn Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (key, object) in page.keys().filter_map(|key| Some((key, bucket.objects.get(key)?))) {
        text += &format!(
            "<Contents>{}{}{}{}<StorageClass>STANDARD</StorageClass></Contents>",
            element("Key", &escape(key)),
            element("LastModified", &rfc3339(object.modified)),
            element("ETag", &object.etag),
            element("Size", &object.bytes.len().to_string()),
        );
    }
    for prefix in page.prefixes() {
        text += &format!("<CommonPrefixes>{}</CommonPrefixes>", element("Prefix", &escape(prefix)));
    }
    text
}
