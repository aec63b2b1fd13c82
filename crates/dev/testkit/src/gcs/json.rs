//! The JSON interface.

use serde_json::{Value, json};

use super::error::{Refused, Result};
use super::precondition::Preconditions;
use super::resource::{apply, describe, resource};
use super::{State, encryption, session, upload};
use crate::digest::{base64, from_base64};
use crate::http::{Answer, Request, decode};
use crate::store::{After, Found, Object, page};

/// No page is longer, whatever is asked for.
const LONGEST: usize = 1000;

/// What a path of this interface names.
#[derive(Debug)]
pub(super) struct Target {
    upload: bool,
    pub(super) bucket: String,
    /// Nothing for the bucket itself, an empty name for its list of objects.
    object: Option<String>,
    /// The bucket and the object that a copy makes.
    copy: Option<(String, String)>,
}

/// What stands between the object that is copied and the bucket of the copy.
const COPIES: [&str; 2] = ["/rewriteTo/b/", "/copyTo/b/"];

impl Target {
    pub(super) fn of(request: &Request) -> Option<Self> {
        let path = request.raw_path();
        let (upload, path) = ["/upload", "/resumable/upload"]
            .iter()
            .find_map(|prefix| path.strip_prefix(prefix))
            .map_or((false, path), |path| (true, path));
        let rest = path.strip_prefix("/storage/v1/b")?;
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let (bucket, rest) = rest.split_once('/').unwrap_or((rest, ""));
        // Slashes within names are escaped.
        let (rest, copy) = COPIES
            .iter()
            .find_map(|verb| rest.split_once(verb))
            .map_or((rest, None), |(rest, copy)| (rest, copy.split_once("/o/")));
        let object = match rest {
            "" => None,
            "o" => Some(""),
            _ => Some(rest.strip_prefix("o/")?),
        };
        let copy = copy.map(|(bucket, object)| (decode(bucket), decode(object)));
        Some(Self { upload, bucket: decode(bucket), object: object.map(decode), copy })
    }
}

pub(super) fn answer(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let Some(object) = &target.object else { return bucket(state, request, target) };
    state.need_bucket(&target.bucket)?;
    if let Some(to) = &target.copy {
        return copy(state, request, (&target.bucket, object), to);
    }
    match (request.method.as_str(), target.upload, object.as_str()) {
        ("POST" | "PUT", true, "") => match request.parameter("upload_id") {
            Some(id) => session::append(state, request, &id),
            None => upload::begin(state, request, &target.bucket),
        },
        ("GET", false, "") => list(state, request, &target.bucket),
        ("GET", false, key) => get(state, request, &target.bucket, key),
        ("PATCH", false, key) if !key.is_empty() => patch(state, request, &target.bucket, key),
        ("DELETE", false, key) if !key.is_empty() => delete(state, request, &target.bucket, key),
        _ => Err(Refused::new(405, "MethodNotAllowed", "The method is not allowed against this resource.")),
    }
}

fn bucket(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    if request.method == "POST" {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let name = body["name"].as_str().ok_or_else(|| Refused::invalid("Required: name"))?;
        state.store.create(name);
        return Ok(Answer::new(200).json(&json!({ "kind": "storage#bucket", "name": name })));
    }
    state.need_bucket(&target.bucket)?;
    Ok(Answer::new(200).json(&json!({ "kind": "storage#bucket", "name": target.bucket })))
}

fn find<'a>(state: &'a State, bucket: &str, key: &str) -> Result<&'a Object> {
    state.store.object(bucket, key).ok_or_else(|| Refused::no_object(bucket, key))
}

fn get(state: &State, request: &Request, bucket: &str, key: &str) -> Result<Answer> {
    let object = find(state, bucket, key)?;
    if request.parameter("generation").is_some_and(|wanted| wanted != object.generation.to_string()) {
        return Err(Refused::no_object(bucket, key));
    }
    Preconditions::of(request)?.check_read(object)?;
    if request.parameter("alt").as_deref() == Some("media") {
        return media(request, object);
    }
    Ok(Answer::new(200).json(&resource(bucket, key, object)))
}

/// The bytes of an object, for either interface.
pub(super) fn media(request: &Request, object: &Object) -> Result<Answer> {
    encryption::check(request, object)?;
    match Found::read(request, object) {
        Found::Answer(answer) => Ok(describe(request, object, answer)),
        Found::NotModified => Ok(Answer::new(304).header("etag", &object.etag)),
        Found::Precondition => Err(Refused::precondition()),
        Found::Range => Err(Refused::new(416, "InvalidRange", "The requested range cannot be satisfied.")),
    }
}

fn delete(state: &mut State, request: &Request, bucket: &str, key: &str) -> Result<Answer> {
    Preconditions::of(request)?.check_write(Some(find(state, bucket, key)?))?;
    state.store.remove(bucket, key);
    Ok(Answer::new(204))
}

/// Copies an object in one step, by either of the two verbs for it.
fn copy(state: &mut State, request: &Request, from: (&str, &str), to: &(String, String)) -> Result<Answer> {
    if request.method != "POST" {
        return Err(Refused::new(
            405,
            "MethodNotAllowed",
            "The method is not allowed against this resource.",
        ));
    }
    state.need_bucket(&to.0)?;
    let source = find(state, from.0, from.1)?;
    encryption::check(request, source)?;
    let mut object = Object::new(source.bytes.clone());
    object.headers = source.headers.clone();
    apply(&mut object, &serde_json::from_slice(&request.body).unwrap_or_default());
    Preconditions::of(request)?.check_write(state.store.object(&to.0, &to.1))?;
    let stored = state.store.put(&to.0, &to.1, object).ok_or_else(Refused::no_bucket)?;
    let copied = resource(&to.0, &to.1, stored);
    if request.raw_path().contains(COPIES[1]) {
        return Ok(Answer::new(200).json(&copied));
    }
    let size = copied["size"].clone();
    Ok(Answer::new(200).json(&json!({
        "kind": "storage#rewriteResponse", "totalBytesRewritten": size, "objectSize": size, "done": true,
        "resource": copied,
    })))
}

fn patch(state: &mut State, request: &Request, bucket: &str, key: &str) -> Result<Answer> {
    Preconditions::of(request)?.check_write(Some(find(state, bucket, key)?))?;
    let body: Value = serde_json::from_slice(&request.body).map_err(|_| Refused::invalid("Parse Error"))?;
    let object = state.store.buckets.get_mut(bucket).and_then(|bucket| bucket.objects.get_mut(key));
    let object = object.ok_or_else(|| Refused::no_object(bucket, key))?;
    apply(object, &body);
    object.metageneration += 1;
    Ok(Answer::new(200).json(&resource(bucket, key, object)))
}

fn list(state: &State, request: &Request, name: &str) -> Result<Answer> {
    let bucket = state.store.buckets.get(name).ok_or_else(Refused::no_bucket)?;
    let ask = |parameter: &str| request.parameter(parameter).unwrap_or_default();
    let max = ask("maxResults").parse().map_or(LONGEST, |max: usize| max.min(LONGEST));
    let (token, start) = (ask("pageToken"), ask("startOffset"));
    let last = if token.is_empty() {
        None
    } else {
        let entry = from_base64(&token).and_then(|bytes| String::from_utf8(bytes).ok());
        Some(entry.ok_or_else(|| Refused::invalid("Invalid page token"))?)
    };
    let after = match &last {
        Some(entry) => After::Entry(entry),
        None if start.is_empty() => After::Start,
        None => After::At(&start),
    };
    let page = page(&bucket.objects, &ask("prefix"), &ask("delimiter"), after, max);
    let items: Vec<Value> =
        page.keys().filter_map(|key| Some(resource(name, key, bucket.objects.get(key)?))).collect();
    let mut answer = json!({ "kind": "storage#objects" });
    if !items.is_empty() {
        answer["items"] = items.into();
    }
    let prefixes: Vec<&str> = page.prefixes().collect();
    if !prefixes.is_empty() {
        answer["prefixes"] = prefixes.into();
    }
    if let Some(next) = page.next() {
        answer["nextPageToken"] = base64(next.as_bytes()).into();
    }
    Ok(Answer::new(200).json(&answer))
}
