//! Acquiring, renewing, changing, releasing and breaking leases.

use std::time::Duration;

use super::error::{Refused, Result};
use super::lease::{Is, Lease};
use super::route::Target;
use super::{State, write};
use crate::http::{Answer, Request};
use crate::store::http_date;

const ID: &str = "x-ms-lease-id";
const PROPOSED: &str = "x-ms-proposed-lease-id";

pub(super) fn answer(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let object = state.store.object(&target.container, &target.blob).ok_or_else(Refused::no_blob)?;
    write::check_conditions(request, Some(object))?;
    let described =
        Answer::new(200).header("etag", &object.etag).header("last-modified", http_date(object.modified));
    let with_status = |mut answer: Answer, status: u16| {
        answer.status = status;
        answer
    };
    match request.header("x-ms-lease-action").unwrap_or_default().to_ascii_lowercase().as_str() {
        "acquire" => {
            let id = acquire(state, request, target)?;
            Ok(with_status(described, 201).header(ID, id))
        }
        "renew" => Ok(described.header(ID, renew(state, request, target)?)),
        "change" => Ok(described.header(ID, change(state, request, target)?)),
        "release" => {
            release(state, request, target)?;
            Ok(described)
        }
        "break" => {
            let left = break_lease(state, request, target)?;
            Ok(with_status(described, 202).header("x-ms-lease-time", left.as_secs().to_string()))
        }
        _ => Err(Refused::header("x-ms-lease-action")),
    }
}

fn acquire(state: &mut State, request: &Request, target: &Target) -> Result<String> {
    let duration = match request.header("x-ms-lease-duration").and_then(|text| text.parse::<i64>().ok()) {
        Some(-1) => None,
        Some(seconds @ 15..=60) => Some(Duration::from_secs(seconds.unsigned_abs())),
        _ => return Err(Refused::header("x-ms-lease-duration")),
    };
    let id = match request.header(PROPOSED) {
        Some(id) if is_guid(id) => id.to_ascii_lowercase(),
        Some(_) => return Err(Refused::header(PROPOSED)),
        None => fresh_id(state),
    };
    let now = state.now();
    let current = state.leases.get(&target.name());
    match current.map(|lease| (lease.is(now), lease.id == id)) {
        Some((Is::Leased, false) | (Is::Breaking, false)) => {
            Err(Refused::new(409, "LeaseAlreadyPresent", "There is already a lease present."))
        }
        Some((Is::Breaking, true)) => Err(Refused::new(
            409,
            "LeaseIsBreakingAndCannotBeAcquired",
            "The lease ID matched, but the lease is currently in breaking state and cannot be acquired until it is broken.",
        )),
        _ => {
            state.leases.insert(target.name(), Lease::new(id.clone(), duration, now));
            Ok(id)
        }
    }
}

/// The lease that the request names, if it is the one that the blob has.
fn named<'a>(state: &'a mut State, request: &Request, target: &Target) -> Result<&'a mut Lease> {
    let given = request.header(ID).ok_or_else(|| Refused::header(ID))?;
    let lease = state.leases.get_mut(&target.name()).ok_or_else(not_present)?;
    if lease.id.eq_ignore_ascii_case(given) {
        return Ok(lease);
    }
    let message = "The lease ID specified did not match the lease ID for the blob.";
    Err(Refused::new(409, "LeaseIdMismatchWithLeaseOperation", message))
}

fn not_present() -> Refused {
    Refused::new(409, "LeaseNotPresentWithLeaseOperation", "There is currently no lease on the blob.")
}

fn renew(state: &mut State, request: &Request, target: &Target) -> Result<String> {
    let now = state.now();
    let lease = named(state, request, target)?;
    if matches!(lease.is(now), Is::Breaking | Is::Broken) {
        let message = "The lease ID matched, but the lease has been broken explicitly and cannot be renewed.";
        return Err(Refused::new(409, "LeaseIsBrokenAndCannotBeRenewed", message));
    }
    lease.renew(now);
    Ok(lease.id.clone())
}

fn change(state: &mut State, request: &Request, target: &Target) -> Result<String> {
    let proposed =
        request.header(PROPOSED).filter(|id| is_guid(id)).ok_or_else(|| Refused::header(PROPOSED))?;
    let (now, proposed) = (state.now(), proposed.to_ascii_lowercase());
    // A change whose answer was lost is repeated with the id that is already there.
    if state
        .leases
        .get(&target.name())
        .is_some_and(|lease| lease.id == proposed && lease.is(now) == Is::Leased)
    {
        return Ok(proposed);
    }
    let lease = named(state, request, target)?;
    match lease.is(now) {
        Is::Leased => {}
        Is::Breaking => {
            let message =
                "The lease ID matched, but the lease is currently in breaking state and cannot be changed.";
            return Err(Refused::new(409, "LeaseIsBreakingAndCannotBeChanged", message));
        }
        Is::Broken | Is::Expired => return Err(not_present()),
    }
    lease.id.clone_from(&proposed);
    Ok(proposed)
}

fn release(state: &mut State, request: &Request, target: &Target) -> Result<()> {
    named(state, request, target)?;
    state.leases.remove(&target.name());
    Ok(())
}

fn break_lease(state: &mut State, request: &Request, target: &Target) -> Result<Duration> {
    let period = match request.header("x-ms-lease-break-period").map(str::parse::<u64>) {
        None => None,
        Some(Ok(seconds @ 0..=60)) => Some(Duration::from_secs(seconds)),
        Some(_) => return Err(Refused::header("x-ms-lease-break-period")),
    };
    let now = state.now();
    let lease = state.leases.get_mut(&target.name()).ok_or_else(not_present)?;
    // Without a period, a lease lasts as long as it would have; one without an end is broken at once.
    let period = period.or(lease.duration).unwrap_or_default();
    Ok(lease.break_after(period, now))
}

fn is_guid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().chars().all(|digit| digit.is_ascii_hexdigit())
}

fn fresh_id(state: &mut State) -> String {
    let digits = state.store.fresh_name();
    format!("{}-{}-4000-8000-000000000000", &digits[..8], &digits[8..12])
}

#[cfg(test)]
mod tests {
    use super::is_guid;

    #[test]
    fn ids_of_leases_are_guids() {
        for (text, expected) in [
            ("11111111-2222-3333-4444-55555555aBcD", true),
            ("11111111-2222-3333-4444-5555555555", false),
            ("1111111122223333444455555555abcd", false),
            ("g1111111-2222-3333-4444-555555555555", false),
            ("", false),
        ] {
            assert_eq!(is_guid(text), expected, "{text}");
        }
    }
}
