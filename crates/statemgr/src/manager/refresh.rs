//! Reading: the snapshot that is stored, and its outputs alone.

use async_trait::async_trait;
use groundstate_statefile::{File, ReadError, decode};

use crate::error::{Error, ErrorKind, Result};
use crate::manager::Manager;
use crate::store::{Stored, Version};
use crate::traits::{OutputReader, OutputValues, Refresher};

#[async_trait]
impl Refresher for Manager {
    async fn refresh_state(&self) -> Result<()> {
        let _turn = self.turns.take().await;
        let found = match self.store.read().await? {
            Some(stored) => self.parse(stored)?,
            None => None,
        };
        self.memory().refreshed(found, &self.options);
        Ok(())
    }
}

#[async_trait]
impl OutputReader for Manager {
    async fn root_output_values(&self) -> Result<OutputValues> {
        let Some(stored) = self.store.read().await? else { return Ok(OutputValues::new()) };
        Ok(self.parse(stored)?.map_or_else(OutputValues::new, |(file, _)| file.state.outputs().clone()))
    }
}

impl Manager {
    /// The state in what is stored; none when that is empty.
    pub(super) fn parse(&self, stored: Stored) -> Result<Option<(File, Version)>> {
        match decode(&stored.bytes, &self.options.decode) {
            Ok(file) => Ok(Some((file, stored.version))),
            Err(ReadError::NoState) => Ok(None),
            Err(error) => {
                let message = "what is stored there is no usable state, repair it or bring back a backup";
                Err(Error::new(ErrorKind::Corrupt, "read", self).because(message).with_source(error))
            }
        }
    }
}
