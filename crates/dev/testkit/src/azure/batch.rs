//! Many deletions in one request.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::State;
use super::error::{Refused, Result};
use super::route::{Target, on_blob};
use crate::http::{Answer, Request, decode};

/// How many parts one request may have.
const MOST: usize = 256;
const BOUNDARY: &str = "batchresponse_testkit";

pub(super) fn answer(state: &mut State, request: &Request, container: Option<&str>) -> Result<Answer> {
    let invalid = || Refused::new(400, "InvalidInput", "One of the request inputs is not valid.");
    let kind = request.header("content-type").unwrap_or_default();
    let boundary =
        kind.split(';').find_map(|part| part.trim().strip_prefix("boundary=")).ok_or_else(invalid)?;
    let body = std::str::from_utf8(&request.body).map_err(|_| invalid())?;
    let delimiter = format!("--{}", boundary.trim_matches('"'));
    let parts: Vec<&str> =
        body.split(delimiter.as_str()).skip(1).take_while(|part| !part.starts_with("--")).collect();
    if parts.is_empty() || parts.len() > MOST {
        return Err(invalid());
    }
    let mut answers = String::new();
    for part in parts {
        let (id, inner) = parse(part).ok_or_else(invalid)?;
        let target = target(state, &inner, container);
        let answer =
            if inner.method == "DELETE" { on_blob(state, &inner, &target, "") } else { Err(invalid()) };
        answers += &show(&id, &answer.unwrap_or_else(|error| error.into_answer(&inner)));
    }
    answers += &format!("--{BOUNDARY}--\r\n");
    Ok(Answer::new(202).header("content-type", format!("multipart/mixed; boundary={BOUNDARY}")).body(answers))
}

/// The number of a part and the request in it.
fn parse(part: &str) -> Option<(String, Request)> {
    let (head, inner) = part.split_once("\r\n\r\n")?;
    let id =
        head.lines().find_map(|line| line.strip_prefix("Content-ID:").or(line.strip_prefix("content-id:")));
    let mut lines = inner.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let mut headers = HeaderMap::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_str(value.trim()).ok()?);
    }
    let request = Request { method, target, headers, body: bytes::Bytes::new() };
    Some((id?.trim().to_owned(), request))
}

/// The blob that a part names, with or without the account before it.
fn target(state: &State, request: &Request, container: Option<&str>) -> Target {
    let path = request.raw_path().trim_start_matches('/');
    let split = |path: &str| {
        let (container, blob) = path.split_once('/').unwrap_or((path, ""));
        Target { container: decode(container), blob: decode(blob) }
    };
    let direct = split(path);
    let fits = |target: &Target| match container {
        Some(container) => target.container == container,
        None => state.store.buckets.contains_key(&target.container),
    };
    if fits(&direct) { direct } else { split(path.split_once('/').map_or("", |(_, path)| path)) }
}

fn show(id: &str, answer: &Answer) -> String {
    let mut text = format!("--{BOUNDARY}\r\nContent-Type: application/http\r\nContent-ID: {id}\r\n\r\n");
    let reason =
        if answer.status < 300 { "Accepted" } else { answer.get("x-ms-error-code").unwrap_or("Error") };
    text += &format!("HTTP/1.1 {} {reason}\r\n", answer.status);
    for (name, value) in &answer.headers {
        text += &format!("{name}: {value}\r\n");
    }
    let body = String::from_utf8_lossy(&answer.body);
    text += &format!("content-length: {}\r\n\r\n{body}", answer.body.len());
    if !body.is_empty() {
        text += "\r\n";
    }
    text
}
