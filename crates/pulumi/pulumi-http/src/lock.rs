//! The lock of a stack without an update, at servers of this project.

use groundstate_pulumi_protocol::{Capability, StackCall, StackLock};

use crate::{Op, Result, Service, ServiceStack};

impl Service {
    /// Returns `true` if the service locks a stack without an update, as [`ServiceStack::lock`] asks.
    ///
    /// # Errors
    ///
    /// Errors of [`capabilities`](Self::capabilities).
    pub async fn can_lock_stacks(&self) -> Result<bool> {
        Ok(self.capabilities().await?.get(Capability::STACK_LOCKS).is_some())
    }
}

impl ServiceStack {
    /// Takes the lock of the stack under an ID of letters, digits and hyphens, which no lock had before. Until the lock ends, the service
    /// starts no update and takes no import. Ask [`Service::can_lock_stacks`] first.
    ///
    /// # Errors
    ///
    /// `Running` if an update runs or another client has the lock, `NotFound`, and those of every call.
    pub async fn lock(&self, id: &str) -> Result<StackLock> {
        self.lock_call(Op::Lock, StackCall::Lock, id).await
    }

    /// Renews the lock.
    ///
    /// # Errors
    ///
    /// `LockLost` if the lock has ended, and those of every call.
    pub async fn renew_lock(&self, id: &str) -> Result<StackLock> {
        self.lock_call(Op::RenewLock, StackCall::RenewLock, id).await
    }

    async fn lock_call(&self, op: Op, call: StackCall, id: &str) -> Result<StackLock> {
        // Under the same ID the service does the same again.
        let call = self.call(op, call).query(Capability::LOCK_ID, id).repeated();
        self.service.0.connection.ask(&call).await
    }

    /// Releases the lock.
    ///
    /// # Errors
    ///
    /// `LockLost` if the lock had ended before, and those of every call.
    pub async fn unlock(&self, id: &str) -> Result<()> {
        let call = self.call(Op::Unlock, StackCall::Unlock).query(Capability::LOCK_ID, id).repeated();
        self.service.0.connection.send(&call).await.map(drop)
    }
}
