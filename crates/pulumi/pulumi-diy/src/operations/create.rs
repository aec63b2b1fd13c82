//! Making a stack.

use std::sync::Arc;

use groundstate_blobs::Precondition;
use groundstate_pulumi_deployment::DeploymentFile;

use crate::{ErrorKind, Guard, Op, Result, Saved, Stack};

impl Stack {
    /// Makes this stack while its lock is held: without a state, or with a first deployment. It is one write, so a process that is
    /// killed leaves the whole stack or none.
    ///
    /// # Errors
    ///
    /// [`Exists`](ErrorKind::Exists), also for a stack that cannot be read; those of [`Writer::save`](crate::Writer::save).
    pub async fn create(&self, guard: Arc<dyn Guard>, first: Option<&DeploymentFile>) -> Result<Saved> {
        if self.exists().await? {
            let failure = self.failed(ErrorKind::Exists, Op::Save);
            return Err(failure.because("the stack already exists").next_step("choose another name"));
        }
        let document = match first {
            Some(file) => self.document(file)?,
            None => self.new_document(),
        };
        self.writer(guard).expecting(Precondition::Absent).save(document).await
    }
}
