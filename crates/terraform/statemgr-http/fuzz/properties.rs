//! What has to hold for any body of a refusal. The fuzz target calls it, and `tests/it/fuzzed.rs` with the inputs of the corpus.

use groundstate_common::is_hidden;
use groundstate_statemgr_http::holder_in;
use groundstate_statemgr_http::statemgr::LockHolder;

/// A holder has an id, is the same when its document is read again, and is shown on one line without hidden characters.
pub(crate) fn lock_body(data: &[u8]) {
    let Some(info) = holder_in(data) else { return };
    assert!(!info.id.is_empty(), "a holder without an id names none");
    let document = info.to_json();
    assert_eq!(holder_in(document.as_bytes()).as_ref(), Some(&info), "{document}");
    let shown = LockHolder::of(info).to_string();
    assert!(!shown.chars().any(is_hidden), "{shown:?}");
}
