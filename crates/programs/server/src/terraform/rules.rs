//! Whether a change is allowed: by the lock, by what is stored, by the content. Pure: it sees a head and says yes or no.

use groundstate_versioned::{Ending, Head, Lock, Version};

use super::conflict::Refusal;
use crate::auth::Role;
use crate::caller::Access;
use crate::content::{Content, StateNote};
use crate::headers::Conditions;
use crate::policy::{Check, Policies};
use crate::problem::{Problem, ProblemType};

/// Under which lock a change is made; none if under none.
pub(crate) type Under = Option<String>;

/// The principal that uses a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User<'a> {
    pub(crate) name: &'a str,
    /// `true` if it may end locks of others, and so use them.
    pub(crate) is_admin: bool,
}

impl<'a> User<'a> {
    pub(crate) fn of(access: &'a Access) -> Self {
        Self { name: access.caller.name(), is_admin: access.may(Role::Admin) }
    }

    /// Checks that a lock is its own. The id alone proves nothing: everyone who is refused reads it.
    ///
    /// # Errors
    ///
    /// If another principal took the lock, and this one is no administrator.
    pub(crate) fn check_owner(self, lock: &Lock) -> Result<(), Problem> {
        if self.is_admin || lock.by == self.name {
            return Ok(());
        }
        let (by, id) = (&lock.by, &lock.id);
        let detail = format!(
            "{by} took the lock {id}; only {by} and principals with the role admin may write under it or release it"
        );
        Err(Problem::new(ProblemType::Forbidden, detail))
    }
}

/// Checks the id that a writer sends against the lock.
///
/// # Errors
///
/// If another holder has the lock, the writer's is not held any more or is another principal's, or the policy wants one.
pub(crate) fn check_lock(
    head: &Head,
    id: Option<&str>,
    user: User<'_>,
    policies: &Policies,
) -> Result<Under, Refusal> {
    match (head.lock(), id) {
        (Some(lock), Some(id)) if lock.id == id => {
            user.check_owner(lock)?;
            Ok(Some(id.to_owned()))
        }
        (Some(_), None) if policies.allow_unlocked_write => Ok(None),
        (Some(lock), _) => Err(Refusal::locked(lock)),
        (None, Some(id)) => lost(head, id, policies).map(|()| None),
        (None, None) if policies.require_lock => {
            let detail =
                "a write needs a lock; set lock_address and unlock_address, and do not use -lock=false";
            Err(Problem::new(ProblemType::LockRequired, detail).into())
        }
        (None, None) => Ok(None),
    }
}

/// Whether a write with the id of a lock that is not held is accepted.
fn lost(head: &Head, id: &str, policies: &Policies) -> Result<(), Refusal> {
    let lost = |why: String| Err(Problem::new(ProblemType::LockLost, why).into());
    if head.lock_of(id).is_some() {
        return lost(
            "the lock has expired, so another client may have read the state; lock and plan again".to_owned(),
        );
    }
    match head.ended(id).map(|ended| &ended.how) {
        Some(Ending::Expired) => {
            lost("the lock expired and another client took it; lock and plan again".to_owned())
        }
        Some(Ending::Broken { by, reason }) => {
            let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            lost(format!("{by} broke the lock{reason}; lock and plan again"))
        }
        _ if policies.accept_stale_id => Ok(()),
        Some(_) => lost("the lock was released before the write; lock and plan again".to_owned()),
        None => lost("no lock is held under this id; lock and plan again".to_owned()),
    }
}

/// Whether this write is in the store already: the client did not get the answer, and sends it again. Only the id of a lock tells
/// one client from another: without one, equal bytes may be the work of two.
pub(crate) fn is_repeated(
    stored: &Version,
    id: &str,
    note: &StateNote,
    sha256: &[u8; 32],
    size: u64,
) -> bool {
    stored.size == size && stored.sha256.as_bytes() == sha256 && note.written_under.as_deref() == Some(id)
}

/// Checks `If-Match` and `If-None-Match`.
///
/// # Errors
///
/// If they do not hold.
pub(crate) fn check_conditions(head: &Head, conditions: &Conditions) -> Result<(), Refusal> {
    let stored = head.current().map(|version| version.id.as_str());
    if conditions.matches(stored) && conditions.none_match(stored) {
        return Ok(());
    }
    let detail = "another version is stored than the request expects; read the state and do the work again";
    Err(Problem::new(ProblemType::PreconditionFailed, detail).into())
}

/// Checks what a body is, and gives what is kept of it.
///
/// # Errors
///
/// If the policy refuses it.
pub(crate) fn check_content(content: Content, policies: &Policies) -> Result<StateNote, Refusal> {
    let (policy, problem) = match content {
        Content::State(note) | Content::Encrypted(note) => return Ok(note),
        Content::NotJson(why) => (policies.content, format!("the body is not JSON: {why}")),
        Content::Other(why) => (policies.check, format!("the body is not a state: {why}")),
    };
    match policy {
        Check::Enforce => Err(Problem::new(ProblemType::ContentRefused, problem).into()),
        Check::Warn => Ok(StateNote { remarks: vec![problem], ..StateNote::default() }),
        Check::Off => Ok(StateNote::default()),
    }
}

/// Checks lineage and serial against what is stored, and gives the remarks that the policy lets pass.
///
/// # Errors
///
/// If the policy refuses it.
pub(crate) fn check_successor(
    new: &StateNote,
    stored: &StateNote,
    policies: &Policies,
) -> Result<Vec<String>, Refusal> {
    let mut found = Vec::new();
    if !new.lineage.is_empty() && !stored.lineage.is_empty() && new.lineage != stored.lineage {
        found.push(format!(
            "the lineage is {}, and that of the stored state is {}",
            new.lineage, stored.lineage
        ));
    } else if let (Some(new), Some(stored)) = (new.serial, stored.serial)
        && new < stored
    {
        found.push(format!("the serial is {new}, and that of the stored state is {stored}"));
    }
    match policies.check {
        Check::Off => Ok(Vec::new()),
        Check::Warn => Ok(found),
        Check::Enforce => match found.pop() {
            Some(problem) => Err(Problem::new(ProblemType::Conflict, problem).into()),
            None => Ok(found),
        },
    }
}
