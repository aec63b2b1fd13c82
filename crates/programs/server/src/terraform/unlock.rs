//! UNLOCK: releases the lock of a state.

use axum::body::Body;
use axum::response::Response;
use groundstate_versioned::{Head, Step};
use http::request::Parts;
use tracing::info;

use super::conflict::Refusal;
use super::lock::{id_of, read_document};
use super::rules::User;
use super::{done, query};
use crate::auth::Role;
use crate::caller::Access;
use crate::policy::ForceUnlock;
use crate::problem::{Problem, ProblemType};

/// The reason that a lock keeps which was freed without its id.
const FORCED: &str = "unlocked without an id, as terraform force-unlock does";

/// Releases the lock that the body names. A body without content is `terraform force-unlock`, which does not send the id.
///
/// # Errors
///
/// If another lock is held, the policy forbids force, or the store does not do it.
pub(super) async fn unlock(access: &Access, parts: &Parts, body: &mut Body) -> Result<Response, Refusal> {
    let document = read_document(&parts.headers, body).await?;
    let named = match id_of(&document)? {
        Some(id) => Some(id),
        None => query::lock_id(parts.uri.query())?,
    };
    match named {
        Some(id) => release(access, &id).await,
        None => force(access).await,
    }
}

async fn release(access: &Access, id: &str) -> Result<Response, Refusal> {
    let user = User::of(access);
    let mut taken_by = None;
    let decide = |head: &Head| {
        taken_by = None;
        if let Some(lock) = head.lock_of(id) {
            user.check_owner(lock)?;
            taken_by = Some(lock.by.clone());
        }
        match (head.lock(), &taken_by) {
            (_, Some(_)) => Ok::<_, Refusal>(Step::release()),
            (Some(other), None) => Err(Refusal::other_lock(other)),
            // It was released before and the answer got lost, or it never was held: there is nothing to release.
            (None, None) => Ok(Step::nothing()),
        }
    };
    let stepped = access.document().step(decide).await??;
    match taken_by.filter(|_| stepped.changed) {
        Some(by) if by == access.caller.name() => access.record("state.unlock", format!("lock {id}")).await,
        Some(by) => access.record("state.unlock", format!("lock {id}, which {by} took")).await,
        None => info!(state = %access.path, lock = id, "there was no lock to release"),
    }
    Ok(done())
}

async fn force(access: &Access) -> Result<Response, Refusal> {
    let allowed = match access.app.policies().force_unlock {
        ForceUnlock::Any => true,
        ForceUnlock::Admin => access.may(Role::Admin),
        ForceUnlock::Deny => false,
    };
    if !allowed {
        let detail = match access.app.policies().force_unlock {
            ForceUnlock::Deny => {
                "this server does not free locks without their id; unlock with the id of the lock"
            }
            _ => {
                "freeing a lock without its id needs the role admin; unlock with the id of the lock, or ask an administrator"
            }
        };
        return Err(Problem::new(ProblemType::Forbidden, detail).into());
    }
    let mut broken = None;
    let decide = |head: &Head| {
        broken = head.recorded_lock().map(|lock| (lock.id.clone(), lock.by.clone()));
        Ok::<_, Refusal>(match &broken {
            Some(_) => Step::break_lock(access.caller.name(), FORCED),
            None => Step::nothing(),
        })
    };
    access.document().step(decide).await??;
    match broken {
        Some((id, by)) => access.record("lock.break", format!("lock {id}, which {by} took; {FORCED}")).await,
        None => info!(state = %access.path, "there was no lock to free"),
    }
    Ok(done())
}
