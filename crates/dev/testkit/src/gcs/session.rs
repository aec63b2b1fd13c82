//! Uploads that are sent in pieces and can be resumed.

use std::collections::BTreeMap;

use bytes::BytesMut;

use super::State;
use super::error::{Refused, Result};
use super::upload::Draft;
use crate::http::{Answer, Request};

/// The sessions that were begun, by their names.
pub(super) type Sessions = BTreeMap<String, Session>;

/// A session that has not seen its end.
pub(super) struct Session {
    draft: Draft,
    bytes: BytesMut,
}

impl Session {
    /// Begins a session, and answers where to send the bytes.
    pub(super) fn begin(state: &mut State, request: &Request, draft: Draft) -> Answer {
        let id = state.store.fresh_name();
        let host = request.header("host").unwrap_or("127.0.0.1");
        let bucket = &draft.bucket;
        let location =
            format!("http://{host}/upload/storage/v1/b/{bucket}/o?uploadType=resumable&upload_id={id}");
        state.sessions.insert(id, Self { draft, bytes: BytesMut::new() });
        Answer::new(200).header("location", location)
    }
}

/// Takes a piece, or tells how much there is; after the last piece the object is stored.
pub(super) fn append(state: &mut State, request: &Request, id: &str) -> Result<Answer> {
    let unknown = || Refused::new(404, "NoSuchUpload", "The upload session does not exist.");
    let session = state.sessions.get_mut(id).ok_or_else(unknown)?;
    let range = request.header("content-range").unwrap_or("bytes */*");
    let (span, total) =
        range.strip_prefix("bytes ").and_then(|range| range.split_once('/')).unwrap_or(("*", "*"));
    if let Some(start) = span.split('-').next().and_then(|start| start.parse::<usize>().ok()) {
        // Bytes that are sent again after a lost answer replace themselves.
        let have = session.bytes.len();
        if start > have {
            return Err(Refused::invalid("The piece does not begin where the last one ended."));
        }
        session.bytes.truncate(start);
        session.bytes.extend_from_slice(&request.body);
    } else if request.header("content-range").is_none() {
        session.bytes = BytesMut::from(&request.body[..]);
    }
    let complete = match total.parse::<usize>() {
        Ok(total) => session.bytes.len() == total,
        Err(_) => request.header("content-range").is_none(),
    };
    if !complete {
        return Ok(incomplete(request, session.bytes.len()));
    }
    let session = state.sessions.remove(id).ok_or_else(unknown)?;
    session.draft.store(state, session.bytes.freeze())
}

fn incomplete(request: &Request, have: usize) -> Answer {
    // Some clients cannot see the status 308 and ask for it in a header.
    let hidden = request.header("x-guploader-no-308") == Some("yes");
    let answer = Answer::new(if hidden { 200 } else { 308 });
    let answer = answer.maybe("x-http-status-code-override", hidden.then_some("308"));
    answer.maybe("range", have.checked_sub(1).map(|last| format!("bytes=0-{last}")))
}
