//! Containers.

use super::State;
use super::error::{Refused, Result};
use crate::http::Answer;
use crate::xml::element;

pub(super) fn create(state: &mut State, container: &str) -> Result<Answer> {
    if state.store.buckets.contains_key(container) {
        let message = "The specified container already exists.";
        return Err(Refused::new(409, "ContainerAlreadyExists", message));
    }
    state.store.create(container);
    Ok(Answer::new(201))
}

pub(super) fn describe() -> Answer {
    Answer::new(200).header("x-ms-lease-status", "unlocked").header("x-ms-lease-state", "available")
}

pub(super) fn delete(state: &mut State, container: &str) -> Answer {
    state.store.buckets.remove(container);
    state.leases.retain(|(of, _), _| of != container);
    Answer::new(202)
}

pub(super) fn list(state: &State) -> Answer {
    let containers: String = state
        .store
        .buckets
        .keys()
        .map(|name| format!("<Container>{}</Container>", element("Name", name)))
        .collect();
    let list = format!("<Containers>{containers}</Containers><NextMarker/>");
    Answer::new(200).xml(&format!("<EnumerationResults>{list}</EnumerationResults>"))
}
