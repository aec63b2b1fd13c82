//! Writing a snapshot: the check, the record of what is wrong, the repair, the error.

use groundstate_pulumi_deployment::{DeploymentFile, Envelope, seal_snapshot};
use groundstate_pulumi_integrity::{IntegrityError, IntegrityOperation, normalize, prune, sort};
use groundstate_pulumi_snapshot::{Feature, Snapshot};
use tracing::field::Empty;
use tracing::{Instrument, debug_span};

use crate::error::{Error, Result};
use crate::options::Options;
use crate::sink::SnapshotSink;

/// Whether a snapshot that is broken may be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repair {
    /// If the options say where that is told.
    Allowed,
    /// Never: the journal would still say what it says.
    Never,
}

/// Writes a snapshot. One that is broken is written too, with a record of what is wrong, and is an error after that.
pub(crate) async fn save<S: SnapshotSink>(
    sink: &S,
    options: &Options,
    repair: Repair,
    mut snapshot: Snapshot,
    has_byte_string: bool,
) -> Result<()> {
    let mut broken = IntegrityError::check(&snapshot, IntegrityOperation::Write).err();
    if let (Some(error), Repair::Allowed, true, Some(events)) =
        (&mut broken, repair, options.check_integrity, &options.events)
    {
        match repaired(&snapshot) {
            Ok(sound) => {
                events.error(&format!("snapshot integrity error (auto-repaired): {error}"));
                snapshot = sound;
                broken = None;
            }
            Err(cause) => {
                events.error(&format!("snapshot integrity error (not repaired): {error}"));
                error.repair = Some(cause);
            }
        }
    }
    IntegrityError::record(&mut snapshot, &options.command);
    if let Some(encrypter) = &options.encrypter {
        seal_snapshot(&mut snapshot, encrypter)?;
    }
    let mut file = DeploymentFile::new(Envelope::Deployment, Some(snapshot));
    if has_byte_string {
        file.features.insert(Feature::ByteString);
    }
    let resources = file.snapshot.as_ref().map_or(0, |snapshot| snapshot.resources.len());
    let span = debug_span!("snapshot", op = "save", resources, broken = broken.is_some(), error = Empty);
    let saved = sink.save(&file).instrument(span.clone()).await;
    if saved.is_err() {
        span.record("error", "Save");
    }
    saved.map_err(Error::Save)?;
    match broken {
        Some(error) if options.check_integrity => Err(Error::Integrity(Box::new(error))),
        _ => Ok(()),
    }
}

/// Whether a write stored its snapshot, sound or broken.
pub(crate) fn is_stored(saved: &Result<()>) -> bool {
    matches!(saved, Ok(()) | Err(Error::Integrity(_)))
}

/// A sound snapshot made of a broken one by order alone and by dropping what leads nowhere, or why there is none.
fn repaired(snapshot: &Snapshot) -> Result<Snapshot, String> {
    let mut sound = snapshot.clone();
    sort(&mut sound).map_err(|error| error.to_string())?;
    prune(&mut sound);
    normalize(&mut sound).map_err(|error| error.to_string())?;
    IntegrityError::check(&sound, IntegrityOperation::Write).map_err(|error| error.to_string())?;
    Ok(sound)
}
