//! Writing: what to write, under which serial, and in place of what.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::IdSource;
use groundstate_statefile::{File, encode};
use groundstate_states::{Lineage, Serial};

use crate::Op;
use crate::error::{Error, ErrorKind, Result};
use crate::intermediate::PersistInfo;
use crate::manager::Manager;
use crate::manager::memory::{Attempt, Memory, Seen, is_same_snapshot, says_the_same, writer};
use crate::store::{Expect, Version, WriteOptions};
use crate::traits::{Persisted, Persister};

/// A snapshot that is ready to be written.
struct Plan {
    attempt: Attempt,
    options: WriteOptions,
}

#[async_trait]
impl Persister for Manager {
    async fn persist_state(&self) -> Result<Persisted> {
        self.traced("persist", self.persist()).await
    }

    fn should_persist_intermediate_state(&self, info: &PersistInfo) -> bool {
        self.options.intermediate_snapshots && info.is_due()
    }
}

impl Manager {
    async fn persist(&self) -> Result<Persisted> {
        let _access = self.store_access.lock().await;
        if !self.memory().is_to_be_stored() {
            return Ok(Persisted::Unchanged);
        }
        self.settle_doubt().await?;
        if self.memory().seen == Seen::Never {
            self.look().await?;
        }
        let Some(plan) = self.plan()? else { return Ok(Persisted::Unchanged) };
        self.hold_on().await?;
        match self.write_planned(&plan).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                if let Some(plan) = self.look_again(plan, error).await? {
                    self.write_planned(&plan).await?;
                }
            }
            outcome => outcome?,
        }
        Ok(Persisted::Written)
    }

    /// Finds out whether anything is stored, for a caller that has not refreshed.
    ///
    /// Its transient snapshot knows nothing of what is stored, so it replaces it only if that was forced.
    async fn look(&self) -> Result<()> {
        let Some(stored) = self.store.read().await? else {
            self.memory().seen = Seen::Nothing;
            return Ok(());
        };
        let forced = self.memory().force;
        let found = match self.parse(&stored.bytes) {
            Ok(found) => found,
            // Force also gets past what cannot be read.
            Err(_) if forced => None,
            Err(error) => return Err(error),
        };
        if let Some(file) = found.as_ref().filter(|_| !forced) {
            let message = "a state is stored there that was not read, refresh and try again";
            return Err(Error::conflict(Op::Write, self, "nothing", snapshot(file)).because(message));
        }
        let mut memory = self.memory();
        memory.seen = Seen::Version(stored.version);
        memory.reference = found.map(Arc::new);
        Ok(())
    }

    /// Decides what to write; nothing when that is what is stored.
    fn plan(&self) -> Result<Option<Plan>> {
        let (mut file, reference, options, imported, force, at) = {
            let memory = self.memory();
            let Some(file) = memory.file() else { return Ok(None) };
            let at = (memory.writes, memory.imports);
            (file, memory.reference.clone(), self.write_options(&memory), memory.imported, memory.force, at)
        };
        match &reference {
            Some(stored) => {
                let same = says_the_same(&file, stored);
                if same && file.serial == stored.serial {
                    self.memory().unchanged(at);
                    return Ok(None);
                }
                // Only force makes a serial smaller than the one before.
                if !force && file.lineage == stored.lineage {
                    file.serial = file.serial.max(stored.serial);
                }
                // A newer snapshot that says the same is stored as it is.
                if !(imported && same && file.serial > stored.serial) {
                    file.serial = self.next(file.serial)?;
                }
            }
            None => {
                let is_new = !imported || file.lineage.is_empty() && file.serial == Serial::default();
                if file.lineage.is_empty() {
                    file.lineage = self.new_lineage()?;
                    self.memory().frame.lineage = file.lineage.clone();
                }
                // An import into an empty place keeps its serial.
                if is_new {
                    file.serial = self.next(file.serial)?;
                }
            }
        }
        file.terraform_version = writer(&self.options, &file);
        let bytes = encode(&file, &self.options.encode).map_err(|error| {
            let message = "the state cannot be written as a file";
            Error::new(ErrorKind::Invalid, Op::Write, self).because(message).with_source(error)
        })?;
        let attempt = Attempt { bytes: bytes.into(), file: Arc::new(file), at };
        Ok(Some(Plan { attempt, options }))
    }

    fn write_options(&self, memory: &Memory) -> WriteOptions {
        WriteOptions::expecting(memory.seen.expect())
            .fence(memory.token())
            .force(memory.force && self.store.capabilities().force_write)
    }

    /// Writes if the store holds what is expected; where it cannot check by itself, by looking first.
    pub(super) async fn put(
        &self,
        bytes: Bytes,
        options: &WriteOptions,
        reference: Option<Arc<File>>,
    ) -> Result<Version> {
        if self.store.capabilities().conditional_write {
            return self.store.write(bytes, options).await;
        }
        let stored = self.store.read().await?;
        let version = stored.as_ref().map(|stored| &stored.version);
        if !options.expect.is_met_by(version) {
            let found = version.map_or_else(|| "nothing".to_owned(), |version| format!("version {version}"));
            return Err(Error::conflict(Op::Write, self, &options.expect, found));
        }
        // The bytes are here anyway, so that a version which does not change with them is found out.
        if let Some((stored, reference)) = stored.zip(reference) {
            let found = self.parse(&stored.bytes)?;
            let is_there =
                |file: &File| (file.serial, &file.lineage) == (reference.serial, &reference.lineage);
            if !found.as_ref().is_some_and(is_there) {
                let found = found.as_ref().map_or_else(|| "nothing".to_owned(), snapshot);
                return Err(Error::conflict(Op::Write, self, snapshot(&reference), found));
            }
        }
        let options = WriteOptions { expect: Expect::Any, ..options.clone() };
        self.store.write(bytes, &options).await
    }

    /// Writes, and remembers what was sent for as long as it is not known what came of it.
    async fn write_planned(&self, plan: &Plan) -> Result<()> {
        let reference = {
            let mut memory = self.memory();
            memory.attempt = Some(plan.attempt.clone());
            memory.reference.clone()
        };
        match self.put(plan.attempt.bytes.clone(), &plan.options, reference).await {
            Ok(version) => self.memory().stored(&plan.attempt, version),
            // What the store does not say it may show. If it shows nothing new, the write may still arrive.
            Err(error) if error.kind() == ErrorKind::Ambiguous => {
                if !self.settle_doubt().await.unwrap_or(false) {
                    return Err(error);
                }
            }
            Err(error) => {
                self.memory().attempt = None;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Whether a write whose answer got lost, or was not waited for, turns out to have happened.
    async fn settle_doubt(&self) -> Result<bool> {
        let Some(attempt) = self.memory().attempt.clone() else { return Ok(false) };
        let stored = self.store.read().await?;
        let Some(stored) = stored.filter(|stored| *stored.bytes == *attempt.bytes) else { return Ok(false) };
        self.memory().stored(&attempt, stored.version);
        Ok(true)
    }

    /// Tells another client's snapshot from one that is the manager's own under another version.
    ///
    /// Gives the plan again when that version can be expected, and nothing when the planned snapshot is stored already.
    async fn look_again(&self, mut plan: Plan, conflict: Error) -> Result<Option<Plan>> {
        let Some(stored) = self.store.read().await? else {
            return Err(self.conflict("nothing", conflict));
        };
        if *stored.bytes == *plan.attempt.bytes {
            self.memory().stored(&plan.attempt, stored.version);
            return Ok(None);
        }
        let Ok(Some(found)) = self.parse(&stored.bytes) else {
            return Err(self.conflict("something that is not a usable state", conflict));
        };
        let reference = self.memory().reference.clone();
        if !reference.is_some_and(|reference| is_same_snapshot(&found, &reference)) {
            return Err(self.conflict(&snapshot(&found), conflict));
        }
        self.memory().seen = Seen::Version(stored.version.clone());
        plan.options.expect = Expect::Version(stored.version);
        Ok(Some(plan))
    }

    /// The conflict in terms of serials, with the store's own words as its cause.
    fn conflict(&self, found: &str, cause: Error) -> Error {
        let reference = self.memory().reference.clone();
        let expected = reference.map_or_else(|| "nothing".to_owned(), |file| snapshot(&file));
        Error::conflict(Op::Write, self, expected, found).with_source(cause)
    }

    pub(super) fn next(&self, serial: Serial) -> Result<Serial> {
        serial.next().ok_or_else(|| {
            let message = "its serial is the largest there is, import it again with a smaller one";
            Error::new(ErrorKind::Invalid, Op::Write, self).because(message)
        })
    }

    fn new_lineage(&self) -> Result<Lineage> {
        let id = self.ids.uuid().map_err(|error| {
            let message = "there is no id for a new lineage";
            Error::new(ErrorKind::Internal, Op::Write, self).because(message).with_source(error)
        })?;
        Ok(Lineage::new(&id))
    }
}

fn snapshot(file: &File) -> String {
    format!("serial {} of lineage {}", file.serial, file.lineage)
}
