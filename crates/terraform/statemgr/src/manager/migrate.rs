//! Metadata, and snapshots that bring their own.

use groundstate_statefile::File;
use tracing::debug;

use crate::error::Result;
use crate::manager::Manager;
use crate::meta::{SnapshotMeta, check_valid_import};
use crate::traits::{Migrator, PersistentMeta};

impl PersistentMeta for Manager {
    fn snapshot_meta(&self) -> SnapshotMeta {
        self.memory().meta()
    }
}

impl Migrator for Manager {
    fn state_for_migration(&self) -> Option<File> {
        self.memory().file()
    }

    fn write_state_for_migration(&self, mut file: File, force: bool) -> Result<()> {
        let mut memory = self.memory();
        if !force {
            let current = memory.file();
            check_valid_import(&file, current.as_ref()).map_err(|error| error.at(&self.store))?;
        }
        // A file from before there were lineages has no place of its own in any chain.
        if file.lineage.is_empty() {
            file.lineage = memory.frame.lineage.clone();
            file.serial = file.serial.max(memory.frame.serial);
        }
        debug!(
            place = self.to_string(),
            serial = file.serial.get(),
            lineage = file.lineage.as_str(),
            force,
            "importing"
        );
        memory.force |= force;
        memory.writes += 1;
        memory.imports += 1;
        memory.imported = true;
        memory.state = Some(file.state.clone());
        memory.set_frame(&file);
        Ok(())
    }
}
