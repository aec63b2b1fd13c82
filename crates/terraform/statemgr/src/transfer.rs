//! Snapshots from one manager to another, with their metadata where both have it.

use groundstate_statefile::{Dialect, File};
use groundstate_states::Lineage;

use crate::Op;
use crate::error::{Error, ErrorKind, Result};
use crate::meta::SnapshotMeta;
use crate::traits::Storage;

/// The transient snapshot as a file; empty, without lineage and of serial 0 where there is none.
///
/// Refresh first.
pub fn export(manager: &(impl Storage + ?Sized)) -> File {
    if let Some(migrator) = manager.as_migrator() {
        return migrator.state_for_migration().unwrap_or_else(empty);
    }
    let mut file = match manager.as_persistent_meta() {
        Some(meta) => with_meta(meta.snapshot_meta()),
        None => empty(),
    };
    file.state = manager.state().unwrap_or_default();
    file
}

/// Makes the file the transient snapshot. The caller holds the lock, and persists.
///
/// Without force it must be newer than what is there, and of the same lineage. Managers that know no metadata take the
/// state alone.
///
/// # Errors
///
/// Those of [`Migrator::write_state_for_migration`](crate::Migrator::write_state_for_migration).
pub fn import(file: File, manager: &(impl Storage + ?Sized), force: bool) -> Result<()> {
    match manager.as_migrator() {
        Some(migrator) => migrator.write_state_for_migration(file, force),
        None => manager.write_state(&file.state),
    }
}

/// What a migration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Migrated {
    /// The source has no snapshot: nothing was done.
    Nothing,
    /// The snapshot went over with lineage and serial.
    WithMeta,
    /// One of the two knows no metadata, so the state went over alone.
    StateOnly,
}

/// Makes the transient snapshot of `from` that of `to`, by force. The caller holds both locks, refreshes before and
/// persists afterwards.
///
/// # Errors
///
/// When `to` does not take it.
pub fn migrate(to: &(impl Storage + ?Sized), from: &(impl Storage + ?Sized)) -> Result<Migrated> {
    if let (Some(to), Some(from)) = (to.as_migrator(), from.as_migrator()) {
        let Some(file) = from.state_for_migration() else { return Ok(Migrated::Nothing) };
        to.write_state_for_migration(file, true)?;
        return Ok(Migrated::WithMeta);
    }
    let Some(state) = from.state() else { return Ok(Migrated::Nothing) };
    to.write_state(&state)?;
    Ok(Migrated::StateOnly)
}

/// The planned state as a file that remembers which snapshot it was planned on.
pub fn planned_state_update(manager: &(impl Storage + ?Sized), planned: &groundstate_states::State) -> File {
    let mut file = match manager.as_persistent_meta() {
        Some(meta) => with_meta(meta.snapshot_meta()),
        None => empty(),
    };
    file.state = planned.clone();
    file
}

/// Writes a planned state, unless the snapshot has changed since it was planned. The caller holds the lock, and persists.
///
/// # Errors
///
/// `LineageMismatch` for a plan of another lineage, `Conflict` for another serial. A plan without lineage is not checked.
pub fn write_planned_state_update(manager: &(impl Storage + ?Sized), planned: &File) -> Result<()> {
    const OP: Op = Op::ApplyPlan;
    if let Some(meta) = manager.as_persistent_meta()
        && !planned.lineage.is_empty()
    {
        let current = meta.snapshot_meta();
        if current.lineage != planned.lineage {
            let message = "the planned state belongs to an unrelated lineage, plan again";
            return Err(Error::new(ErrorKind::LineageMismatch, OP, "the state")
                .because(message)
                .expected_and_found(
                    format!("lineage {}", planned.lineage),
                    format!("lineage {}", current.lineage),
                ));
        }
        if current.serial != planned.serial {
            let message = "the state has changed since it was planned, plan again";
            return Err(Error::new(ErrorKind::Conflict, OP, "the state")
                .because(message)
                .expected_and_found(
                    format!("serial {}", planned.serial),
                    format!("serial {}", current.serial),
                ));
        }
    }
    manager.write_state(&planned.state)
}

fn empty() -> File {
    File::new(Dialect::Terraform, Lineage::default())
}

fn with_meta(meta: SnapshotMeta) -> File {
    let mut file = empty();
    file.lineage = meta.lineage;
    file.serial = meta.serial;
    file.terraform_version = meta.terraform_version;
    file
}
