//! DELETE: a version that says that the state is gone. Its history stays.

use axum::response::Response;
use groundstate_versioned::{Head, Step, VersionOptions};
use http::request::Parts;

use super::conflict::Refusal;
use super::rules::{User, check_conditions, check_lock};
use super::{done, query};
use crate::auth::Role;
use crate::caller::Access;
use crate::content::{StateNote, note_of_last};
use crate::headers::Conditions;

/// Why a lock ends with its state.
const DELETED: &str = "the state was deleted";

/// Deletes the state. Deleting one that is not there succeeds, so that it can be repeated, unless a condition says that it is there.
///
/// # Errors
///
/// If another holder has the lock and the caller is no administrator, and what the store does not do.
pub(super) async fn delete(access: &Access, parts: &Parts) -> Result<Response, Refusal> {
    let id = query::lock_id(parts.uri.query())?;
    let conditions = Conditions::read(&parts.headers)?;
    let number = delete_state(access, id.as_deref(), &conditions).await?;
    if let Some(number) = number {
        access.record("state.delete", format!("version {number} is the last")).await;
    }
    Ok(done())
}

/// Deletes the state, and gives the number of its last version; none if there was none to delete.
///
/// # Errors
///
/// Those of [`delete`].
pub(crate) async fn delete_state(
    access: &Access,
    id: Option<&str>,
    conditions: &Conditions,
) -> Result<Option<u64>, Refusal> {
    let is_admin = access.may(Role::Admin);
    let mut last = None;
    let decide = |head: &Head| {
        last = None;
        check_conditions(head, conditions)?;
        let Some(version) = head.current() else { return Ok::<_, Refusal>(Step::nothing()) };
        let under = match check_lock(head, id, User::of(access), access.app.policies()) {
            Err(Refusal::Held { .. }) if is_admin => None,
            // An administrator deletes without a lock, whatever the policy says of writes.
            Err(_) if is_admin && id.is_none() => None,
            under => under?,
        };
        last = Some(version.number);
        let before = note_of_last(&access.path, head.last())?;
        let note = StateNote::default().after(&before).to_note()?;
        let options = VersionOptions::default().by(access.caller.name()).note(note);
        Ok(match (under, head.recorded_lock()) {
            (Some(id), _) => Step::delete(options.lock(id)),
            // The holder's next write would bring the state back; so it loses its lock.
            (None, Some(_)) => Step::delete(options).and(Step::break_lock(access.caller.name(), DELETED)),
            (None, None) => Step::delete(options),
        })
    };
    access.document().step(decide).await??;
    Ok(last)
}
