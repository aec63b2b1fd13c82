//! Restoring a copy of a state.

use std::sync::Arc;

use groundstate_blobs::DeleteOptions;

use super::transfer::foreign;
use crate::{Checkpoint, CopySource, Error, ErrorKind, Guard, Op, Result, Saved, Stack, StateCopy, Warning};

impl Stack {
    /// Reads a copy that could be restored.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](ErrorKind::Corrupt) for a copy that cannot be read, [`Broken`](ErrorKind::Broken) for one of another stack or
    /// one that is not valid, unless forced; those of requests.
    pub async fn restorable(&self, copy: &StateCopy, force: bool) -> Result<Checkpoint> {
        let read = self.read_copy(copy).await?;
        let file = read.decode()?;
        if force {
            return Ok(read);
        }
        if let Some(why) = foreign(self, &file) {
            return Err(Error::new(ErrorKind::Broken, Op::Restore, self.backend().place(copy.key.as_str()))
                .because(why)
                .next_step("choose a copy from after the stack was renamed, or force it"));
        }
        self.check_document(&read.bytes)?;
        Ok(read)
    }

    /// Makes a copy the state of the stack; what was the state is `.bak` then, also where it is damaged.
    ///
    /// While `.bak` itself is restored, it is kept under a name of its own, so that a kill loses neither.
    ///
    /// # Errors
    ///
    /// Those of [`restorable`](Self::restorable) and of [`Writer::save`](crate::Writer::save). Nothing is replaced then, unless it is
    /// [`Ambiguous`](ErrorKind::Ambiguous): what is stored is not known then.
    pub async fn restore(&self, copy: &StateCopy, force: bool, guard: Arc<dyn Guard>) -> Result<Saved> {
        let read = self.restorable(copy, force).await?;
        let kept = match copy.source {
            CopySource::Previous => Some(self.keep_aside(copy, read.stored.clone(), &*guard).await?),
            _ => None,
        };
        // It was checked above, unless it is forced.
        let mut saved = self.writer(guard).unchecked().save(read.bytes).await?;
        if let Some(key) = kept {
            let removed = self.backend().store().delete(&key, &DeleteOptions::default()).await;
            if let Err(error) = removed {
                let (key, reason) = (key.to_string(), error.to_string());
                saved.warnings.push(Warning::Leftover { key, reason });
            }
        }
        Ok(saved)
    }

    /// Writes a copy once more, under the name of a retained one.
    pub(super) async fn keep_aside(
        &self,
        copy: &StateCopy,
        bytes: bytes::Bytes,
        guard: &dyn Guard,
    ) -> Result<groundstate_blobs::Key> {
        let checkpoint = copy.key.as_str().strip_suffix(".bak").unwrap_or(copy.key.as_str());
        guard.check().await?;
        loop {
            let key = self.backend().key(Op::BackUp, &format!("{checkpoint}.{}", self.backend().stamp()))?;
            let created = self.backend().create(&key, bytes.clone()).await;
            let place = self.backend().place(key.as_str());
            if created.map_err(|error| Error::from_store(Op::BackUp, place, error))? {
                return Ok(key);
            }
        }
    }
}
