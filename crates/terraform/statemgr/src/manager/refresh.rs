//! Reading: the snapshot that is stored, and its outputs alone.

use async_trait::async_trait;
use groundstate_statefile::{File, ReadError, decode};

use crate::Op;
use crate::error::{Error, ErrorKind, Result};
use crate::manager::Manager;
use crate::manager::memory::Seen;
use crate::traits::{OutputReader, OutputValues, Refresher};

#[async_trait]
impl Refresher for Manager {
    async fn refresh_state(&self) -> Result<()> {
        self.traced("refresh", self.refresh()).await
    }
}

#[async_trait]
impl OutputReader for Manager {
    async fn root_output_values(&self) -> Result<OutputValues> {
        let Some(stored) = self.store.read().await? else { return Ok(OutputValues::new()) };
        Ok(self.parse(&stored.bytes)?.map_or_else(OutputValues::new, |file| file.state.outputs().clone()))
    }
}

impl Manager {
    async fn refresh(&self) -> Result<()> {
        let _access = self.store_access.lock().await;
        let (file, seen) = match self.store.read().await? {
            Some(stored) => (self.parse(&stored.bytes)?, Seen::Version(stored.version)),
            None => (None, Seen::Nothing),
        };
        self.memory().refreshed(file, seen, &self.options);
        Ok(())
    }

    /// The state in what is stored; none when that is empty.
    pub(super) fn parse(&self, stored: &[u8]) -> Result<Option<File>> {
        match decode(stored, &self.options.decode) {
            Ok(file) => Ok(Some(file)),
            Err(ReadError::NoState) => Ok(None),
            Err(error) => Err(self.corrupt(error)),
        }
    }

    pub(super) fn corrupt(&self, error: ReadError) -> Error {
        let message = "what is stored there is no usable state, repair it or bring back a backup";
        Error::new(ErrorKind::Corrupt, Op::Read, self).because(message).with_source(error)
    }
}
