//! What a run does about the one before, if that was interrupted.

use groundstate_ordering::effects::{Recovered, apply, recover};
use groundstate_statemgr::{Error, ErrorKind, LockGuard, Op, Result};

use crate::Executor;

impl Executor {
    /// Judges the operations that an earlier run has begun and not ended, and puts old objects back that were only moved
    /// aside. Refresh the manager before.
    ///
    /// What it returns is for the user, who may have to look for unrecorded objects. The notes stay until
    /// [`acknowledge`](Self::acknowledge), so that a crash before the user has read them loses nothing; a second call says
    /// the same.
    ///
    /// # Errors
    /// Those of reading the notes, and of storing the state.
    pub async fn recover(&self, _guard: &LockGuard) -> Result<Vec<Recovered>> {
        let intents = self.intents.read().await?;
        if intents.is_empty() {
            return Ok(Vec::new());
        }
        let (mut recovered, mut failure) = (Vec::new(), None);
        self.manager.mutate_state(&mut |state| {
            // Without a state there is nothing to judge by but an empty one, and nothing to write.
            let mut judged = state.clone().unwrap_or_default();
            recovered = recover(&judged, &intents);
            for one in &recovered {
                // Cannot fail, since what is to be done was decided by this very state.
                failure =
                    failure.take().or(apply(&mut judged, &one.intent.to_operation(), &one.mutations).err());
            }
            if recovered.iter().any(|one| !one.mutations.is_empty()) {
                *state = Some(judged);
            }
        })?;
        if let Some(error) = failure {
            return Err(Error::new(ErrorKind::Internal, Op::Recover, &self.target).with_source(error));
        }
        self.manager.persist_state().await?;
        Ok(recovered)
    }

    /// Strikes out the notes of earlier runs: the user knows of them.
    ///
    /// # Errors
    /// When the notes cannot be written.
    pub async fn acknowledge(&self, _guard: &LockGuard) -> Result<()> {
        if self.intents.read().await?.is_empty() {
            return Ok(());
        }
        self.intents.replace(&[]).await
    }
}
