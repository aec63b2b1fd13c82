//! What each request is answered with.

use bytes::Bytes;

use super::flaw::HttpFlaw as Flaw;
use super::rules::Rules;
use super::states::{Place, States, id_in};
use crate::digest::{base64, from_base64, md5};
use crate::http::{Answer, Request};

/// What follows the path of a state at servers that lock by `POST` and `DELETE`.
const LOCK_PATH: &str = "/lock";

pub(super) fn answer(states: &mut States, rules: &Rules, request: &Request) -> Answer {
    let path = request.path();
    let is_chunked = request.header("transfer-encoding").is_some();
    if is_chunked && rules.has(Flaw::RefusesChunks) {
        return Answer::new(411);
    }
    let lost = Bytes::new();
    let body = if is_chunked && rules.has(Flaw::LosesChunks) { &lost } else { request.body() };
    let (path, on_lock) = match path.strip_suffix(LOCK_PATH) {
        Some(path) => (path.to_owned(), true),
        None => (path, false),
    };
    let place = states.place(if rules.has(Flaw::HasOneState) { "" } else { &path });
    match (request.method(), on_lock) {
        ("GET", false) => read(place, rules, &path),
        ("POST" | "PUT", false) => write(place, rules, request, body),
        ("DELETE", false) => delete(place, rules, request),
        ("LOCK", _) | ("POST" | "PUT", true) => lock(place, rules, body),
        ("UNLOCK", _) | ("DELETE", true) => unlock(place, rules, body),
        _ if rules.has(Flaw::TakesAnyMethodForUpload) => write(place, rules, request, body),
        _ if rules.has(Flaw::FailsOnUnknownMethods) => Answer::new(500),
        _ => Answer::new(405).header("allow", "GET, POST, PUT, LOCK, UNLOCK, DELETE"),
    }
}

fn read(place: &Place, rules: &Rules, path: &str) -> Answer {
    if rules.has(Flaw::RedirectsReads) && !path.ends_with("-moved") {
        return Answer::new(302).header("location", format!("{path}-moved"));
    }
    match &place.state {
        None if rules.has(Flaw::AbsentIsAnError) => Answer::new(500),
        None => Answer::new(404),
        Some(state) => {
            let digested = if rules.has(Flaw::SendsWrongDigests) { &b"something else"[..] } else { state };
            Answer::new(200)
                .header("content-type", "application/json")
                .header("content-md5", base64(&md5(digested)))
                .maybe("etag", place.e_tag())
                .body(state.clone())
        }
    }
}

fn write(place: &mut Place, rules: &Rules, request: &Request, body: &Bytes) -> Answer {
    if body.is_empty() {
        return Answer::new(400).text("there is no state");
    }
    let digest = request.header("content-md5").filter(|_| !rules.has(Flaw::IgnoresDigests));
    if digest.is_some_and(|digest| from_base64(digest).is_none_or(|digest| digest != md5(body))) {
        return Answer::new(400).text("the digest is not that of the body");
    }
    if let Some(refusal) = check_lock(place, rules, request).or_else(|| check_condition(place, request)) {
        return refusal;
    }
    if rules.has(Flaw::RefusesRepeatedWrites) && place.state.as_ref() == Some(body) {
        return Answer::new(409).text("it is stored already");
    }
    let reformatted = rules.has(Flaw::ReformatsStates).then(|| {
        let value: Option<serde_json::Value> = serde_json::from_slice(body).ok();
        value.map_or_else(|| body.clone(), |value| value.to_string().into())
    });
    place.state = Some(reformatted.unwrap_or_else(|| body.clone()));
    let status = if rules.has(Flaw::AcceptsUploadsForLater) { 202 } else { 200 };
    Answer::new(status).maybe("etag", place.e_tag())
}

/// The refusal of a change that does not come from the holder of the lock.
fn check_lock(place: &Place, rules: &Rules, request: &Request) -> Option<Answer> {
    match (request.parameter("ID"), place.holder()) {
        (None, None) if rules.needs_lock => Some(Answer::new(428).text("locking required")),
        (None, None) => None,
        (Some(_), None) if rules.has(Flaw::AcceptsWritesWithLostLocks) => None,
        (Some(_), None) => Some(Answer::new(409).json(&serde_json::json!({ "error": "the lock was lost" }))),
        (Some(id), Some(holder)) if id == holder => None,
        (_, Some(_)) if rules.has(Flaw::AcceptsWritesUnderAnyLock) => None,
        (_, Some(_)) => Some(held(place, rules)),
    }
}

/// The refusal of a change of something else than it names.
fn check_condition(place: &Place, request: &Request) -> Option<Answer> {
    let now = place.e_tag();
    let is_met = match (request.header("if-match"), request.header("if-none-match")) {
        (Some(tag), _) => now.as_deref() == Some(tag),
        (None, Some("*")) => now.is_none(),
        (None, _) => true,
    };
    (!is_met).then(|| Answer::new(412))
}

fn delete(place: &mut Place, rules: &Rules, request: &Request) -> Answer {
    if let Some(refusal) = check_lock(place, rules, request).or_else(|| check_condition(place, request)) {
        return refusal;
    }
    if !rules.has(Flaw::KeepsDeletedStates) {
        place.state = None;
    }
    Answer::new(200)
}

fn lock(place: &mut Place, rules: &Rules, body: &Bytes) -> Answer {
    let granted = Answer::new(if rules.has(Flaw::GrantsWith201) { 201 } else { 200 });
    let Some(id) = id_in(body) else {
        if rules.has(Flaw::GrantsLocksWithoutId) && place.lock.is_none() {
            place.lock = Some(Bytes::from_static(b"{\"ID\":\"none\"}"));
            return granted;
        }
        return Answer::new(400).text("the lock has no id");
    };
    match place.holder() {
        Some(holder) if holder == id && !rules.has(Flaw::RefusesTheHolder) => granted,
        Some(_) if rules.has(Flaw::GrantsEveryLock) => granted,
        Some(holder) if holder == id => {
            let other = String::from_utf8_lossy(body).replace(&id, "another");
            Answer::new(423).body(other)
        }
        Some(_) => held(place, rules),
        None => {
            place.lock = Some(body.clone());
            granted
        }
    }
}

/// The refusal that says who holds the lock.
fn held(place: &Place, rules: &Rules) -> Answer {
    if rules.has(Flaw::RefusesLocksWith500) {
        return Answer::new(500);
    }
    let answer = Answer::new(rules.held.unwrap_or(423));
    let document = place.lock.clone().unwrap_or_default();
    if let Some(text) = &rules.holder_text {
        return answer.text(text);
    }
    let answer = answer.header("content-type", "application/json");
    let text = String::from_utf8_lossy(&document);
    match rules.flaw {
        Some(Flaw::HidesTheHolder) => answer,
        Some(Flaw::WrapsTheHolder) => answer.body(format!("{{\"lock\":{text}}}")),
        Some(Flaw::ShortensTheHolder) => {
            answer.json(&serde_json::json!({ "ID": place.holder().unwrap_or_default() }))
        }
        _ => answer.body(document),
    }
}

fn unlock(place: &mut Place, rules: &Rules, body: &Bytes) -> Answer {
    let done = Answer::new(if rules.has(Flaw::ReleasesWith204) { 204 } else { 200 });
    if body.is_empty() {
        // Terraform unlocks by force in this way, without saying what.
        if rules.has(Flaw::FailsOnEmptyReleases) {
            return Answer::new(500);
        }
        if rules.denies_empty_unlock {
            return Answer::new(403);
        }
        if !rules.has(Flaw::IgnoresEmptyReleases) {
            place.lock = None;
        }
        return done;
    }
    let Some(id) = id_in(body) else { return Answer::new(400).text("the lock has no id") };
    match place.holder() {
        Some(holder) if holder == id || rules.has(Flaw::ReleasesAnyId) => {
            place.lock = None;
            place.released.insert(id);
            done
        }
        Some(_) => Answer { status: 409, ..held(place, rules) },
        None if rules.has(Flaw::RefusesRepeatedReleases) && place.released.contains(&id) => Answer::new(409),
        None => done,
    }
}
