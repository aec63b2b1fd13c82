//! LOCK: takes the lock of a state.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use groundstate_statemgr::LockInfo;
use groundstate_versioned::{Head, NewLock, Step};
use http::HeaderMap;
use http::request::Parts;
use md5::{Digest as _, Md5};

use super::conflict::Refusal;
use super::rules::User;
use super::{done, query};
use crate::body::small;
use crate::caller::Access;
use crate::headers::{content_md5, identity};
use crate::problem::{Problem, ProblemType};

/// The longest document of a lock, in bytes.
const LONGEST: usize = 32 << 10;

/// Takes the lock. It is durable before the answer, and taking it again under its id succeeds: a client whose answer got lost
/// sends the same again.
///
/// # Errors
///
/// If another holder has it, and what the store does not do.
pub(super) async fn lock(access: &Access, parts: &Parts, body: &mut Body) -> Result<Response, Refusal> {
    let document = read_document(&parts.headers, body).await?;
    let Some(id) = id_of(&document)? else {
        let detail = "the body is empty; send the lock document, whose ID is the id of the lock";
        return Err(Problem::new(ProblemType::BadRequest, detail).into());
    };
    let lease = access.app.policies().lock_ttl;
    let user = User::of(access);
    let mut held_by = None;
    let decide = |head: &Head| {
        let by = match head.lock() {
            Some(lock) if lock.id != id => return Err(Refusal::locked(lock)),
            Some(lock) => {
                user.check_owner(lock)?;
                Some(lock.by.clone())
            }
            None => None,
        };
        held_by.clone_from(&by);
        if by.is_some() && lease.is_none() {
            return Ok(Step::nothing());
        }
        // A lock that is renewed stays that of the principal that took it.
        let by = by.unwrap_or_else(|| access.caller.name().to_owned());
        Ok(Step::lock(NewLock::new(&id).document(document.clone()).lease(lease).by(by)))
    };
    access.document().step(decide).await??;
    let what = match held_by {
        None => format!("lock {id}"),
        Some(by) if by == access.caller.name() => format!("lock {id}, which it holds already"),
        Some(by) => format!("lock {id}, which {by} holds already"),
    };
    access.record("state.lock", what).await;
    Ok(done())
}

/// Reads the body of LOCK or UNLOCK, which is what its digest says.
///
/// # Errors
///
/// If it is too large, compressed, cut off or damaged.
pub(super) async fn read_document(headers: &HeaderMap, body: &mut Body) -> Result<Bytes, Problem> {
    identity(headers)?;
    let md5 = content_md5(headers)?;
    let document = small(headers, body, LONGEST).await?;
    if md5.is_some_and(|md5| md5 != *Md5::digest(&document)) {
        let detail = "the body does not have the MD5 that Content-MD5 says; send it again";
        return Err(Problem::new(ProblemType::DigestMismatch, detail));
    }
    Ok(document)
}

/// The id that a document of a lock has; none if the body is empty.
///
/// # Errors
///
/// If it is no such document, or has no id.
pub(crate) fn id_of(document: &[u8]) -> Result<Option<String>, Problem> {
    if document.is_empty() {
        return Ok(None);
    }
    let info = LockInfo::parse(document).map_err(|_| {
        Problem::new(ProblemType::BadRequest, "the body is not a lock document such as Terraform sends")
    })?;
    query::check_id(info.id.as_str())?;
    Ok(Some(info.id.as_str().to_owned()))
}
