//! Edits of what is stored, under the rules of a persist, without building the model.

use bytes::Bytes;
use groundstate_state_edit::{Editor, OpenState};
use groundstate_statefile::ReadError;
use tracing::{Instrument, Span};

use crate::Op;
use crate::error::{Error, ErrorKind, Result};
use crate::manager::Manager;
use crate::manager::memory::Memory;
use crate::store::{Expect, WriteOptions};
use crate::traits::Persisted;

const OP: Op = Op::Change;

/// What to do with the changes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<T> {
    /// Store them, if there are any.
    Store(T),
    /// Leave what is stored as it is: it was a preview, or the user declined.
    Leave(T),
}

impl Manager {
    /// Operates on the stored state and stores the result under the next serial, with every byte that was not touched as it
    /// stood. The caller holds the lock.
    ///
    /// The transient snapshot is gone afterwards: refresh before it is read again. The release that counts as writer stays
    /// that of the file.
    ///
    /// # Errors
    ///
    /// `NotFound` where nothing is stored, `Invalid` when changes of the transient snapshot wait to be persisted or the result
    /// cannot be written, `Corrupt` for what is not a state, and whatever `work` fails with: nothing is written then. Otherwise
    /// those of [`StateStore::write`](crate::StateStore::write); after `Ambiguous`, look before doing it again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use groundstate_common::{FixedClock, SequenceIds, Timestamp};
    /// # use groundstate_statemgr::{SharedMemory, ManagerOptions, StateStore, WriteOptions};
    /// use groundstate_states::addr::Target;
    /// use groundstate_statemgr::{Decision, Manager, Persisted};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let store = SharedMemory::new("prod").open();
    /// # store.write(r#"{"version": 4, "serial": 7, "lineage": "x", "resources": [{"mode": "managed", "type": "null_resource",
    /// #     "name": "a", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]", "instances": [{}]}]}"#.into(),
    /// #     &WriteOptions::any()).await?;
    /// # let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    /// # let manager = Manager::new(Arc::new(store), clock, Arc::new(SequenceIds::new()), ManagerOptions::default());
    /// let targets = [Target::parse("null_resource.a")?];
    /// let (summary, persisted) = manager
    ///     .operate(|editor| Ok::<_, Box<dyn std::error::Error>>(Decision::Store(editor.remove(&targets)?)))
    ///     .await?;
    /// assert_eq!((summary.changes.len(), persisted), (1, Persisted::Written));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn operate<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut Editor<'_>) -> Result<Decision<T>, E>,
    ) -> Result<(T, Persisted), E> {
        self.change(work).instrument(self.span("change")).await
    }

    async fn change<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut Editor<'_>) -> Result<Decision<T>, E>,
    ) -> Result<(T, Persisted), E> {
        let _access = self.store_access.lock().await;
        self.nothing_waits(&self.memory())?;
        let Some(stored) = self.store.read().await? else {
            return Err(self.nothing_stored().into());
        };
        let (value, changed) = self.perform(stored.bytes, work)?;
        let Some(bytes) = changed.map(Bytes::from) else { return Ok((value, Persisted::Unchanged)) };
        self.hold_on().await?;
        let options = {
            let mut memory = self.memory();
            self.nothing_waits(&memory)?;
            // Forgotten before the write, so that one that is cut off leaves nothing behind that is out of date.
            memory.forget(&self.options);
            WriteOptions::expecting(Expect::Version(stored.version)).fence(memory.token())
        };
        match self.put(bytes.clone(), &options, None).await {
            Ok(_) => Ok((value, Persisted::Written)),
            Err(error) if error.kind() == ErrorKind::Ambiguous && self.is_stored(&bytes).await => {
                Ok((value, Persisted::Written))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The document as it is to be stored; nothing when that is what is stored.
    fn perform<T, E: From<Error>>(
        &self,
        text: Vec<u8>,
        work: impl FnOnce(&mut Editor<'_>) -> Result<Decision<T>, E>,
    ) -> Result<(T, Option<Vec<u8>>), E> {
        let opened = OpenState::open_with(text, &self.options.decode).map_err(|error| match error {
            ReadError::NoState => self.nothing_stored(),
            error => self.corrupt(error),
        })?;
        let mut editor = opened.editor();
        let value = match work(&mut editor)? {
            Decision::Leave(value) => return Ok((value, None)),
            Decision::Store(value) => value,
        };
        if !editor.is_changed().map_err(|error| self.corrupt(error))? {
            return Ok((value, None));
        }
        let serial = self.next(opened.serial())?;
        Span::current().record("serial", serial.get());
        let rewrite = editor.rewrite(serial).map_err(|error| {
            let message = "the state cannot be written as a file";
            Error::new(ErrorKind::Invalid, OP, self).because(message).with_source(error)
        })?;
        drop(editor);
        // The text becomes the new one where it is: large states are in memory once.
        Ok((value, Some(rewrite.into_text(opened))))
    }

    /// Refuses to go on where changes of the transient snapshot would get lost.
    fn nothing_waits(&self, memory: &Memory) -> Result<()> {
        if memory.is_to_be_stored() {
            let message = "changes wait to be persisted, persist them or refresh";
            return Err(Error::new(ErrorKind::Invalid, OP, self).because(message));
        }
        Ok(())
    }

    /// Whether these bytes turn out to be what is stored.
    async fn is_stored(&self, bytes: &[u8]) -> bool {
        matches!(self.store.read().await, Ok(Some(stored)) if stored.bytes == bytes)
    }

    fn nothing_stored(&self) -> Error {
        Error::new(ErrorKind::NotFound, OP, self).because("no state is stored there")
    }
}
