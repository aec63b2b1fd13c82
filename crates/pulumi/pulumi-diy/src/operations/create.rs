//! Making a stack.

use std::sync::Arc;

use groundstate_blobs::Precondition;
use groundstate_pulumi_deployment::DeploymentFile;

use crate::{CopySource, ErrorKind, Guard, Op, Result, Saved, Stack, Warning};

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
        let remains = self.keep_remains(&*guard).await?;
        let mut saved = self.writer(guard).expecting(Precondition::Absent).save(document).await?;
        saved.warnings.extend(remains);
        Ok(saved)
    }

    /// Keeps each `.bak` that has resources under a name of its own: the stack had a checkpoint, and the next save replaces
    /// `.bak`.
    async fn keep_remains(&self, guard: &dyn Guard) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        for copy in self.copies().await? {
            if copy.source != CopySource::Previous {
                continue;
            }
            let read = match self.read_copy(&copy).await {
                Ok(read) => read,
                // Another client removed it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let snapshot = read.decode().map(|file| file.snapshot);
            // What cannot be read may be all that is left.
            let is_empty = snapshot.is_ok_and(|found| found.is_none_or(|found| found.resources.is_empty()));
            if !is_empty {
                let kept = self.keep_aside(&copy, read.stored.clone(), guard).await?;
                warnings.push(Warning::Remains { key: copy.key.to_string(), kept: kept.to_string() });
            }
        }
        Ok(warnings)
    }
}
