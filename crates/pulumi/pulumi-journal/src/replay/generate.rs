//! The snapshot that base and entries stand for.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_pulumi_deployment::{DeploymentFile, Envelope};
use groundstate_pulumi_integrity::{IntegrityError, normalize};
use groundstate_pulumi_snapshot::{Feature, Manifest, Snapshot};

use super::epoch::Epoch;
use super::{ReplayError, Replayer};
use crate::entry::Entry;
use crate::ids::{OperationId, SequenceId};
use crate::refresh::drop_dangling;

/// What a journal stands for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// The snapshot, unverified.
    pub snapshot: Snapshot,
    /// A text in it is not UTF-8, although it cannot be seen where it is encrypted.
    pub has_byte_string: bool,
    /// What is odd about the journal, and was passed over.
    pub remarks: Vec<Remark>,
    /// The highest number of an entry.
    pub through: Option<SequenceId>,
}

/// Something that was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Remark {
    /// An entry speaks of the state that an operation recorded, and there is none. Pulumi takes the first new resource.
    #[error("journal entry {sequence} speaks of what operation {operation} recorded, which is not there")]
    UnknownOperation {
        /// The entry.
        sequence: SequenceId,
        /// The operation.
        operation: OperationId,
    },
}

impl Replayed {
    /// Records in the snapshot whether it is broken, and by which command it is written; tells whether it is.
    pub fn record_integrity(&mut self, command: &str) -> bool {
        IntegrityError::record(&mut self.snapshot, command)
    }

    /// The snapshot as a file that can be written.
    pub fn into_file(self, envelope: Envelope) -> DeploymentFile {
        let mut file = DeploymentFile::new(envelope, Some(self.snapshot));
        if self.has_byte_string {
            file.features.insert(Feature::ByteString);
        }
        file
    }
}

impl Replayer {
    pub(super) fn generate(&self, manifest: Manifest) -> Result<Replayed, ReplayError> {
        let mut snapshot = self.unsettled(manifest)?;
        let running = self.open.values().filter_map(|entry| entry.operation.clone());
        let pending = running.chain(self.state.pending().cloned()).collect();
        snapshot.pending_operations = pending;
        normalize(&mut snapshot)?;
        let unknown = self.state.unknown.iter();
        let remarks =
            unknown.map(|(&operation, &sequence)| Remark::UnknownOperation { sequence, operation }).collect();
        let through = self.last();
        Ok(Replayed { snapshot, has_byte_string: self.has_byte_string, remarks, through })
    }

    /// Makes the base of what has been told so far.
    pub(super) fn rebuild(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let resources = self.state.new_resources();
        self.check_rebuilt(entry.sequence, resources)?;
        let mut base = self.unsettled(self.state.base.manifest.clone())?;
        // Operations that are under way stay with the entries that will end them.
        base.pending_operations = self.state.pending().cloned().collect();
        normalize(&mut base)?;
        self.state = Epoch::new(base);
        (self.rebuilt, self.rebuilt_resources) = (Some(entry.sequence), resources);
        Ok(())
    }

    /// All but the pending operations, with names as they were written.
    fn unsettled(&self, manifest: Manifest) -> Result<Snapshot, ReplayError> {
        self.check_indexes()?;
        let base = &self.state.base;
        let mut resources = self.state.resources();
        if self.has_refresh {
            drop_dangling(&mut resources);
        }
        let mut extensions: BTreeMap<_, _> = self.state.extensions.clone();
        extensions.extend(base.extensions.iter().map(|(name, extension)| (name.clone(), extension.clone())));
        Ok(Snapshot {
            manifest,
            secrets_provider: base.secrets_provider.clone(),
            resources,
            pending_operations: Vec::new(),
            metadata: base.metadata.clone(),
            snippets: base.snippets.clone(),
            extensions,
            extra: base.extra.clone(),
        })
    }
}

/// Replays a whole journal at once.
///
/// ```
/// use groundstate_pulumi_snapshot::{Manifest, Snapshot};
/// use groundstate_pulumi_journal::{DecodeOptions, decode, replay};
///
/// let journal = br#"
/// {"version":1,"kind":1,"sequenceID":3,"operationID":1,"removeOld":null,"removeNew":null,"state":{"urn":"u","custom":false,"type":"t"}}
/// {"version":1,"kind":0,"sequenceID":2,"operationID":1,"removeOld":null,"removeNew":null}
/// "#;
/// let entries = decode(journal, &DecodeOptions::default())?.entries;
/// let replayed = replay(Snapshot::default(), entries, Manifest::default())?;
/// assert_eq!(replayed.snapshot.resources.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`Replayer::apply`] and [`Replayer::snapshot`].
pub fn replay(
    base: Snapshot,
    entries: impl IntoIterator<Item = impl Into<Arc<Entry>>>,
    manifest: Manifest,
) -> Result<Replayed, ReplayError> {
    let mut replayer = Replayer::new(base);
    for entry in entries {
        replayer.apply(entry)?;
    }
    replayer.snapshot(manifest)
}
