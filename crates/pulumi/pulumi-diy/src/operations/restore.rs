//! Restoring a copy of a state.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::DeleteOptions;
use groundstate_pulumi_integrity::Rule;

use super::transfer::foreign;
use crate::{
    Checkpoint, CopySource, Error, ErrorKind, Guard, ImportOptions, Op, Result, Saved, Stack, StateCopy,
    Warning,
};

impl Stack {
    /// Reads a copy that could be restored, once its readable secrets are encrypted.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](ErrorKind::Corrupt) for a copy that cannot be read, [`Broken`](ErrorKind::Broken) for one of another stack or
    /// one that is not valid, unless accepted; those of requests.
    pub async fn restorable(&self, copy: &StateCopy, options: &ImportOptions) -> Result<Checkpoint> {
        let read = self.read_copy(copy).await?;
        let file = read.decode()?;
        if let Some(why) = foreign(self, &file).filter(|_| !options.force) {
            return Err(Error::new(ErrorKind::Broken, Op::Restore, self.backend().place(copy.key.as_str()))
                .because(why)
                .next_step("choose a copy from after the stack was renamed, or force it"));
        }
        self.check_gate(&read.bytes, &options.accepted.clone().and(Rule::SecretReadable))?;
        Ok(read)
    }

    /// Makes a copy the state of the stack; the former state becomes `.bak`, also where it is damaged.
    ///
    /// While `.bak` itself is restored, it is kept under a name of its own, so that a kill loses neither.
    ///
    /// # Errors
    ///
    /// Those of [`restorable`](Self::restorable) and of [`Writer::save`](crate::Writer::save), and [`Broken`](ErrorKind::Broken) for
    /// readable secrets, unless accepted. Nothing is replaced then, unless it is [`Ambiguous`](ErrorKind::Ambiguous): what is stored
    /// is not known then.
    pub async fn restore(
        &self,
        copy: &StateCopy,
        options: &ImportOptions,
        guard: Arc<dyn Guard>,
    ) -> Result<Saved> {
        let read = self.restorable(copy, options).await?;
        self.restore_as(copy, read.bytes, options, guard).await
    }

    /// Makes a copy the state of the stack, as this checkpoint: the copy with its secrets under another key.
    ///
    /// # Errors
    ///
    /// Those of [`restore`](Self::restore).
    pub async fn restore_as(
        &self,
        copy: &StateCopy,
        document: Bytes,
        options: &ImportOptions,
        guard: Arc<dyn Guard>,
    ) -> Result<Saved> {
        self.check_gate(&document, &options.accepted)?;
        let kept = match copy.source {
            CopySource::Previous => {
                let stored = self.read_copy(copy).await?.stored;
                Some(self.keep_aside(copy, stored, &*guard).await?)
            }
            _ => None,
        };
        // It was checked above.
        let mut saved = self.writer(guard).unchecked().save(document).await?;
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
        bytes: Bytes,
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
