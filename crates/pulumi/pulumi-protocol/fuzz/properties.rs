//! What must hold for any input: the fuzz targets call it, and so do ordinary tests with the corpus.

use groundstate_pulumi_protocol::{CheckpointDelta, DeltaError, Edit, Route, apply_delta, decode, encode};

/// A body with edits, and behind the first line the text that they refer to: they are refused, or give what replacing from the end
/// gives.
pub(crate) fn delta_apply(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let old = data.get(end + 1..).unwrap_or_default();
    let Ok(delta) = decode::<CheckpointDelta>(&data[..end]) else { return };
    let written = encode(&delta).expect("it was read from JSON");
    assert_eq!(decode(&written), Ok(delta.clone()));
    let edits = &delta.deployment_delta;
    let applied = apply_delta(old, edits, usize::MAX);
    assert_eq!(applied.is_ok(), are_valid(old, edits), "{applied:?}");
    let Ok(new) = applied else { return };
    let mut expected = old.to_vec();
    for edit in edits.iter().rev() {
        expected.splice(index(edit.start)..index(edit.end), edit.text.bytes());
    }
    assert_eq!(new, expected);
    assert!(str::from_utf8(old).is_err() || str::from_utf8(&new).is_ok());
    if let Some(limit) = new.len().checked_sub(1) {
        assert_eq!(apply_delta(old, edits, limit), Err(DeltaError::TooLong { limit }));
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn are_valid(old: &[u8], edits: &[Edit]) -> bool {
    let is_boundary = |offset: u64| match index(offset) {
        at if at >= old.len() => at == old.len(),
        at => !(0x80..0xC0).contains(&old[at]),
    };
    let is_edit = |edit: &Edit| edit.start <= edit.end && is_boundary(edit.start) && is_boundary(edit.end);
    edits.iter().all(is_edit) && edits.windows(2).all(|pair| pair[0].end <= pair[1].start)
}

/// A method, a space and a path: what is read is written as what is read as the same.
pub(crate) fn route_parse(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (method, path) = text.split_once(' ').unwrap_or(("GET", text));
    let Some(route) = Route::parse(method, path.trim_end()) else { return };
    assert_eq!(route.method(), method);
    let written = route.path();
    assert!(
        written.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%/".contains(&byte)),
        "{written}"
    );
    assert_eq!(Route::parse(method, &written), Some(route));
}
