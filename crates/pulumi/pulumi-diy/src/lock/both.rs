//! The locks of two stacks at once.

use async_trait::async_trait;

use super::{HeldLock, Holder, LockOptions};
use crate::{Guard, Result, Stack};

/// The locks of two stacks that this process holds. Dropping them releases nothing: call [`release`](Self::release).
#[derive(Debug)]
#[must_use = "the locks stay until they are released"]
pub struct HeldLocks {
    first: HeldLock,
    second: HeldLock,
}

impl Stack {
    /// Takes the locks of this stack and another one, in the order of their places, so that two processes never wait for each
    /// other.
    ///
    /// # Errors
    ///
    /// Those of [`lock`](Self::lock). If the second is refused, the first is given back.
    pub async fn lock_with(&self, other: &Self, holder: &Holder, options: &LockOptions) -> Result<HeldLocks> {
        let mut pair = [self, other];
        pair.sort_by_key(|stack| (stack.backend().to_string(), stack.reference().clone()));
        let first = pair[0].lock(holder, options).await?;
        match pair[1].lock(holder, options).await {
            Ok(second) => Ok(HeldLocks { first, second }),
            Err(error) => Err(match first.release().await {
                Ok(()) => error,
                Err(left) => error.next_step(format!("{left}; `pulumi cancel` removes it")),
            }),
        }
    }
}

impl HeldLocks {
    /// The two locks, in the order in which they were taken.
    pub fn locks(&self) -> [&HeldLock; 2] {
        [&self.first, &self.second]
    }

    /// Gives both back. Both are tried.
    ///
    /// # Errors
    ///
    /// Those of [`HeldLock::release`], the first one.
    pub async fn release(&self) -> Result<()> {
        let second = self.second.release().await;
        self.first.release().await.and(second)
    }
}

#[async_trait]
impl Guard for HeldLocks {
    async fn check(&self) -> Result<()> {
        self.first.check().await?;
        self.second.check().await
    }
}
