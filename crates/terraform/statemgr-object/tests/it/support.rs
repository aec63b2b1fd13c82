//! What tests of several modules need.

use async_trait::async_trait;
use groundstate_common::Sleeper;
use groundstate_statemgr::{LockId, LockInfo};

/// The id that this side locks with.
pub(crate) const GUID: &str = "681fbb37-7302-b5fd-bac8-6224f8cc5180";
/// The id that the other program locks with.
pub(crate) const OTHER_GUID: &str = "0b8e3a64-23f4-9a1c-7d70-55a1c1f0e9d2";

/// Does not wait.
#[derive(Debug)]
pub(crate) struct AtOnce;

#[async_trait]
impl Sleeper for AtOnce {
    async fn sleep(&self, _: std::time::Duration) {}
}

/// What this side locks with.
pub(crate) fn lock_info() -> LockInfo {
    lock_info_with(GUID)
}

pub(crate) fn lock_info_with(id: &str) -> LockInfo {
    let who = if id == OTHER_GUID { "other@there" } else { "me@here" };
    LockInfo {
        id: LockId::new(id),
        who: who.to_owned(),
        operation: "OperationTypeApply".to_owned(),
        version: "1.11.4".to_owned(),
        ..LockInfo::default()
    }
}

/// A lock document as the other program writes it.
pub(crate) fn document(id: &str) -> String {
    lock_info_with(id).to_json()
}
