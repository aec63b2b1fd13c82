//! Going back: an earlier snapshot becomes the newest one.

use bytes::Bytes;
use groundstate_statefile::{DecodeOptions, Document, EncodeOptions, File, ReadError, decode, encode};
use groundstate_statemgr::{
    Error, ErrorKind, Expect, FencingToken, Op, Relation, Result, SnapshotMeta, StateStore, Stored, Version,
    WriteOptions,
};
use groundstate_states::Serial;

const OP: Op = Op::RollBack;

/// How to go back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RollbackOptions {
    /// The token of the lock that the caller holds.
    pub fence: Option<FencingToken>,
    /// A serial that the new one has to exceed, beside those of both snapshots: the highest of the history, say.
    pub above: Option<Serial>,
    /// Also replaces a state of another lineage, and one that cannot be read.
    pub force: bool,
}

impl RollbackOptions {
    /// Adds the token of the lock.
    #[must_use]
    pub fn fence(mut self, token: impl Into<Option<FencingToken>>) -> Self {
        self.fence = token.into();
        self
    }

    /// Asks for a serial above this one.
    #[must_use]
    pub fn above(mut self, serial: impl Into<Option<Serial>>) -> Self {
        self.above = serial.into();
        self
    }

    /// Whether to replace what is not of the same lineage, or is not a state.
    #[must_use]
    pub fn force(mut self, yes: bool) -> Self {
        self.force = yes;
        self
    }
}

/// What going back has stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RolledBack {
    /// The serial under which the snapshot is stored now.
    pub serial: Serial,
    /// The serial of the snapshot that it was made of.
    pub of: Serial,
    /// The serial of the state it replaced; nothing where there was none that could be read.
    pub replaced: Option<Serial>,
    /// The version of what is stored now.
    pub version: Version,
}

/// Stores an earlier snapshot in place of the present one, under a serial above both and otherwise byte for byte. The
/// caller holds the lock.
///
/// The write expects what was read a moment before, so no work is lost without notice; the present state stays in
/// the history, if there is one.
///
/// # Errors
///
/// `Corrupt` when the snapshot is not a state, or the present state is none and force is not given; `LineageMismatch` for
/// another lineage without force; `Invalid` when there is no higher serial; and those of [`StateStore::write`].
pub async fn rollback(
    store: &dyn StateStore,
    snapshot: &[u8],
    options: &RollbackOptions,
) -> Result<RolledBack> {
    let earlier =
        read(store, snapshot).map_err(|error| because(error, "the snapshot is not a readable state"))?;
    let stored = store.read().await?;
    let present = present(store, stored.as_ref(), options)?;
    if let Some(present) = &present {
        check_lineage(store, &earlier, present, options)?;
    }
    let replaced = present.map(|file| file.serial);
    let highest = [Some(earlier.serial), replaced, options.above].into_iter().flatten().max();
    let serial = highest.and_then(Serial::next).ok_or_else(|| {
        Error::new(ErrorKind::Invalid, OP, store).because("there is no serial above the present one")
    })?;
    let bytes = with_serial(store, snapshot, &earlier, serial)?;
    let version = replace(store, bytes.into(), stored, options).await?;
    Ok(RolledBack { serial, of: earlier.serial, replaced, version })
}

fn present(
    store: &dyn StateStore,
    stored: Option<&Stored>,
    options: &RollbackOptions,
) -> Result<Option<File>> {
    let Some(stored) = stored else { return Ok(None) };
    match read(store, &stored.bytes) {
        Ok(file) => Ok(Some(file)),
        Err(_) if options.force => Ok(None),
        Err(error) => Err(because(error, "what is stored is not a readable state, force it if it may go")),
    }
}

fn read(store: &dyn StateStore, bytes: &[u8]) -> Result<File> {
    decode(bytes, &DecodeOptions::default())
        .map_err(|error: ReadError| Error::new(ErrorKind::Corrupt, OP, store).with_source(error))
}

fn because(error: Error, why: &str) -> Error {
    error.because(why)
}

fn check_lineage(
    store: &dyn StateStore,
    earlier: &File,
    present: &File,
    options: &RollbackOptions,
) -> Result<()> {
    let unrelated = SnapshotMeta::of(earlier).compare(&SnapshotMeta::of(present)) == Relation::Unrelated;
    if unrelated && !options.force {
        let why = "the snapshot is of another lineage than the present state, force it if that is meant";
        return Err(Error::new(ErrorKind::LineageMismatch, OP, store)
            .because(why)
            .expected_and_found(&present.lineage, &earlier.lineage));
    }
    Ok(())
}

/// The snapshot with another serial and every other byte as it stands; an older format is written as the current one.
fn with_serial(store: &dyn StateStore, snapshot: &[u8], file: &File, serial: Serial) -> Result<Vec<u8>> {
    let bytes = match Document::open(snapshot.to_vec()) {
        Ok(document) => document.edit().serial(serial).to_vec(),
        Err(_) => {
            let mut file = file.clone();
            file.serial = serial;
            encode(&file, &EncodeOptions::default())
        }
    };
    bytes.map_err(|error| {
        let why = "the snapshot cannot be written as a state";
        Error::new(ErrorKind::Invalid, OP, store).because(why).with_source(error)
    })
}

/// Writes in place of what was read, and looks whether it happened where the answer got lost.
async fn replace(
    store: &dyn StateStore,
    bytes: Bytes,
    stored: Option<Stored>,
    options: &RollbackOptions,
) -> Result<Version> {
    let expect = match stored {
        _ if !store.capabilities().conditional_write => Expect::Any,
        Some(stored) => Expect::Version(stored.version),
        None => Expect::Absent,
    };
    let force = options.force && store.capabilities().force_write;
    let conditions = WriteOptions::expecting(expect).fence(options.fence).force(force);
    match store.write(bytes.clone(), &conditions).await {
        Err(error) if error.kind() == ErrorKind::Ambiguous => match store.read().await {
            Ok(Some(found)) if found.bytes == bytes => Ok(found.version),
            _ => Err(error),
        },
        outcome => outcome,
    }
}
