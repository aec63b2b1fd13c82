//! POST and PUT: a new version of a state.

use axum::body::Body;
use axum::response::Response;
use groundstate_versioned::{Content as Stored, Head, Step, VersionOptions};
use http::HeaderValue;
use http::header::ETAG;
use http::request::Parts;
use tokio::task::yield_now;
use tracing::warn;

use super::conflict::Refusal;
use super::rules::{User, check_conditions, check_content, check_lock, check_successor, is_repeated};
use super::{done, query};
use crate::body::{announced, next_piece};
use crate::caller::Access;
use crate::content::{Inspection, StateNote, note_of, note_of_last};
use crate::headers::{Conditions, content_md5, identity};
use crate::problem::{Problem, ProblemType};

/// Bytes that every write begins with.
const FIRST: u64 = 64 << 10;
/// How much of a body is in memory at a time: the part that fills, the one that is stored, and what its buffer reserves.
const COPIES: u64 = 3;
const IN_MEMORY: u64 = 12 << 20;

/// What the client expects of the store.
struct Writer<'a> {
    access: &'a Access,
    id: Option<String>,
    conditions: Conditions,
}

/// Stores a body as the next version. It is never in memory as a whole.
///
/// # Errors
///
/// What the rules refuse, and what the store does not do.
pub(super) async fn write(access: &Access, parts: &Parts, body: &mut Body) -> Result<Response, Refusal> {
    identity(&parts.headers)?;
    let md5 = content_md5(&parts.headers)?;
    let id = query::lock_id(parts.uri.query())?;
    let writer = Writer { access, id, conditions: Conditions::read(&parts.headers)? };
    let limit = access.app.limits().state_bytes;
    if announced(&parts.headers).is_some_and(|length| length > limit) {
        return Err(too_large(limit).into());
    }
    let document = access.document();
    writer.check_early(&document.head().await?)?;

    let account = access.caller.account();
    let mut charged = FIRST;
    account.take_first(charged).await.map_err(Problem::from)?;
    let mut upload = document.upload();
    let mut inspection = Inspection::new();
    while let Some(piece) = next_piece(body).await? {
        let size = upload.size() + piece.len() as u64;
        if size > limit {
            return Err(too_large(limit).into());
        }
        let needed = size.saturating_mul(COPIES).min(IN_MEMORY);
        if let Some(missing) = needed.checked_sub(charged).filter(|missing| *missing > 0) {
            account.take(missing).map_err(Problem::from)?;
            charged = needed;
        }
        inspection.push(&piece);
        upload.push(piece).await?;
        // Many pieces may be there already, and each takes its time.
        yield_now().await;
    }
    let note = check_content(inspection.finish(), access.app.policies());
    let stored = upload.finish().await?;
    if md5.is_some_and(|md5| md5 != *stored.md5().as_bytes()) {
        let detail = "the body does not have the MD5 that Content-MD5 says; send it again";
        return Err(Problem::new(ProblemType::DigestMismatch, detail).into());
    }
    writer.commit(stored, note?).await
}

fn too_large(limit: u64) -> Problem {
    Problem::new(
        ProblemType::TooLarge,
        format!("the state has more than {limit} bytes, which is the limit of this server"),
    )
}

impl Writer<'_> {
    /// Refuses what cannot succeed before its body is stored.
    fn check_early(&self, head: &Head) -> Result<(), Refusal> {
        // A write that is sent again may find its lock released; whether it is one, its content says.
        let stored = note_of_last(&self.access.path, head.current())?;
        let may_be_repeated = self.id.is_some() && stored.written_under == self.id;
        if may_be_repeated {
            return Ok(());
        }
        check_conditions(head, &self.conditions)?;
        check_lock(head, self.id.as_deref(), User::of(self.access), self.access.app.policies()).map(drop)
    }

    async fn commit(&self, content: Stored, note: StateNote) -> Result<Response, Refusal> {
        let policies = self.access.app.policies();
        let mut remarks = Vec::new();
        let decide = |head: &Head| {
            remarks.clear();
            let path = &self.access.path;
            let stored = head
                .current()
                .map(|version| Ok::<_, Problem>((version, note_of(path, version)?)))
                .transpose()?;
            if let Some((version, note)) = &stored
                && let Some(id) = &self.id
                && is_repeated(version, id, note, content.sha256().as_bytes(), content.size())
            {
                return Ok::<_, Refusal>(Step::nothing());
            }
            check_conditions(head, &self.conditions)?;
            let under = check_lock(head, self.id.as_deref(), User::of(self.access), policies)?;
            let last = note_of_last(path, head.last())?;
            let mut note = StateNote { written_under: self.id.clone(), ..note.clone() }.after(&last);
            if let Some((version, stored)) = &stored {
                if version.sha256 == content.sha256() && version.size == content.size() {
                    return Ok(Step::nothing());
                }
                note.remarks.extend(check_successor(&note, stored, policies)?);
            }
            remarks.clone_from(&note.remarks);
            let mut options = VersionOptions::default().by(self.access.caller.name()).note(note.to_note()?);
            if let Some(id) = under {
                options = options.lock(id);
            }
            Ok(Step::write(content.clone(), options))
        };
        let stepped = self.access.document().step(decide).await??;
        let number = stepped.head.number();
        for remark in &remarks {
            warn!(state = %self.access.path, version = number, "{remark}");
        }
        if stepped.changed {
            let remarks: String = remarks.iter().map(|remark| format!("; {remark}")).collect();
            self.access.record("state.write", format!("version {number}{remarks}")).await;
        }
        let mut response = done();
        let tag = stepped.head.current().map(|version| format!("\"{}\"", version.id));
        if let Some(tag) = tag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
            response.headers_mut().insert(ETAG, tag);
        }
        Ok(response)
    }
}
