//! Snapshots of blobs.

use super::error::{Refused, Result};
use super::lease::check_read;
use super::route::Target;
use super::{Name, State, write};
use crate::http::{Answer, Request};
use crate::store::{Object, rfc3339};

/// All snapshots, the oldest first.
#[derive(Default)]
pub(super) struct Snapshots(Vec<Snapshot>);

struct Snapshot {
    name: Name,
    moment: String,
    object: Object,
}

impl Snapshots {
    fn of(&self, name: (&str, &str)) -> impl Iterator<Item = &Snapshot> {
        self.0.iter().filter(move |found| (found.name.0.as_str(), found.name.1.as_str()) == name)
    }

    pub(super) fn count(&self, name: (&str, &str)) -> usize {
        self.of(name).count()
    }

    pub(super) fn find(&self, name: (&str, &str), moment: &str) -> Option<&Object> {
        self.of(name).find(|found| found.moment == moment).map(|found| &found.object)
    }

    pub(super) fn forget(&mut self, name: (&str, &str)) {
        self.0.retain(|found| (found.name.0.as_str(), found.name.1.as_str()) != name);
    }
}

pub(super) fn take(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let object = state.store.object(&target.container, &target.blob).cloned().ok_or_else(Refused::no_blob)?;
    write::check_conditions(request, Some(&object))?;
    check_read(state.leases.get(&target.name()), request.header("x-ms-lease-id"), state.now())?;
    // Moments are names, so no two are the same: the last digits are those of a generation.
    let digits = state.store.generation() % 10_000;
    let moment = rfc3339(std::time::SystemTime::now());
    let moment = format!("{}{digits:04}Z", moment.trim_end_matches('Z'));
    let answer = write::written(201, &object).header("x-ms-snapshot", &moment);
    state.snapshots.0.push(Snapshot { name: target.name(), moment, object });
    Ok(answer)
}
