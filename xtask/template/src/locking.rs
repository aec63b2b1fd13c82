//! The lock, and who holds it.

use groundstate_statemgr::{Capabilities, Error, LockGrant, LockHolder, LockId, LockInfo, Op, Result};

use crate::store::TemplateStore;

/// What this adds to the store's capabilities.
pub(crate) fn adds(to: Capabilities) -> Capabilities {
    to
}

impl TemplateStore {
    pub(crate) async fn take(&self, _: &LockInfo) -> Result<LockGrant> {
        Err(Error::unsupported(Op::Lock, self))
    }

    pub(crate) async fn release(&self, op: Op, _: &LockId) -> Result<()> {
        Err(Error::unsupported(op, self))
    }

    pub(crate) async fn holder(&self) -> Result<Option<LockHolder>> {
        Err(Error::unsupported(Op::FindHolder, self))
    }
}
