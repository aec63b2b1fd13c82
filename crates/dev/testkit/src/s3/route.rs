//! Which operation a request asks for.

use super::error::{Refused, Result};
use super::rules::Rules;
use super::{State, list, multipart, object, removal, versions, write};
use crate::http::{Answer, Request, decode};

/// Where a request goes: a bucket, and a key in it.
pub(super) struct Target {
    pub(super) bucket: String,
    pub(super) key: String,
}

impl Target {
    fn of(request: &Request) -> Self {
        let path = request.raw_path().trim_start_matches('/');
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        Self { bucket: decode(bucket), key: decode(key) }
    }
}

pub(super) fn answer(state: &mut State, rules: &Rules, request: &Request) -> Result<Answer> {
    let target = Target::of(request);
    if target.bucket.is_empty() {
        return service(state, request);
    }
    if target.key.is_empty() {
        return on_bucket(state, request, &target);
    }
    if !state.store.buckets.contains_key(&target.bucket) {
        return Err(Refused::no_bucket(&target.bucket));
    }
    on_object(state, rules, request, &target)
}

/// What is asked of no bucket: the list of buckets, or who is asking.
fn service(state: &State, request: &Request) -> Result<Answer> {
    if request.method == "POST" {
        return Ok(identity());
    }
    let buckets: String = state
        .store
        .buckets
        .keys()
        .map(|name| format!("<Bucket>{}</Bucket>", crate::xml::element("Name", name)))
        .collect();
    let list = format!("<ListAllMyBucketsResult><Buckets>{buckets}</Buckets></ListAllMyBucketsResult>");
    Ok(Answer::new(200).xml(&list))
}

/// The answer of the token service to `GetCallerIdentity`, which clients call to check their keys.
fn identity() -> Answer {
    Answer::new(200).xml(
        "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><GetCallerIdentityResult>\
         <Arn>arn:aws:iam::123456789012:user/testkit</Arn><UserId>TESTKIT</UserId><Account>123456789012</Account>\
         </GetCallerIdentityResult></GetCallerIdentityResponse>",
    )
}

fn on_bucket(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let exists = state.store.buckets.contains_key(&target.bucket);
    if request.method == "PUT" && request.raw_query().is_empty() {
        state.store.create(&target.bucket);
        return Ok(Answer::new(200).header("location", format!("/{}", target.bucket)));
    }
    if !exists {
        return Err(Refused::no_bucket(&target.bucket));
    }
    match request.method.as_str() {
        "HEAD" => Ok(Answer::new(200).header("x-amz-bucket-region", "us-east-1")),
        "PUT" if request.has_parameter("versioning") => versions::set(state, request, target),
        "GET" if request.has_parameter("versioning") => Ok(versions::get(state, target)),
        "GET" if request.has_parameter("versions") => Ok(versions::list(state, request, target)),
        "GET" if request.has_parameter("uploads") => Ok(multipart::list_uploads(state, target)),
        "GET" if request.has_parameter("location") => {
            Ok(Answer::new(200).xml("<LocationConstraint></LocationConstraint>"))
        }
        "GET" => list::answer(state, request, target),
        "POST" if request.has_parameter("delete") => removal::bulk(state, request, target),
        "DELETE" => removal::bucket(state, target),
        _ => Err(not_allowed()),
    }
}

fn on_object(state: &mut State, rules: &Rules, request: &Request, target: &Target) -> Result<Answer> {
    let upload = request.parameter("uploadId");
    match (request.method.as_str(), upload) {
        ("GET" | "HEAD", None) => object::read(state, request, target),
        ("GET", Some(id)) => multipart::list_parts(state, target, &id),
        ("PUT", None) => write::put(state, rules, request, target),
        ("PUT", Some(id)) => multipart::put_part(state, request, target, &id),
        ("POST", None) if request.has_parameter("uploads") => multipart::begin(state, request, target),
        ("POST", Some(id)) => multipart::complete(state, rules, request, target, &id),
        ("DELETE", Some(id)) => multipart::abort(state, target, &id),
        ("DELETE", None) => removal::object(state, request, target),
        _ => Err(not_allowed()),
    }
}

fn not_allowed() -> Refused {
    Refused::new(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")
}
