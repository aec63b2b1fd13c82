//! Which checkpoint of a stack counts, and what it says.

use std::fmt;

use bytes::Bytes;
use groundstate_blobs::{BlobVersion, GetOptions, Key, Listed};
use groundstate_common::Timestamp;
use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, EncodeOptions, Envelope, EnvelopeKind, decode, encode,
};

use super::Stack;
use crate::backend::objects;
use crate::{Compression, Error, ErrorKind, Op, Result, Warning, traced};

/// How often a checkpoint may vanish between a list and a read before that is an error.
const ATTEMPTS: usize = 4;

/// A checkpoint in one of its compressions, as a list has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Variant {
    /// Its key.
    pub key: Key,
    /// How its key ends.
    pub compression: Compression,
    /// When it was written, if the store says.
    pub modified: Option<Timestamp>,
    /// Its size in bytes, as it is stored.
    pub size: u64,
}

/// All variants of the checkpoint of a stack. There should be one.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection {
    /// The one that counts: the newest, of equally new ones the last by name.
    pub active: Option<Variant>,
    /// The others.
    pub others: Vec<Variant>,
    /// What should not be so.
    pub warnings: Vec<Warning>,
}

/// A checkpoint that was read. `Debug` shows no content.
#[derive(Clone)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The document, unpacked.
    pub bytes: Bytes,
    /// What is stored.
    pub stored: Bytes,
    /// Which content it is, for conditions.
    pub version: BlobVersion,
    /// Where it is stored.
    pub key: Key,
    /// How it is compressed, whatever its key says.
    pub compression: Compression,
    /// When it was written, if the store says.
    pub modified: Option<Timestamp>,
    /// What should not be so.
    pub warnings: Vec<Warning>,
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint")
            .field("bytes", &self.bytes.len())
            .field("version", &self.version)
            .field("key", &self.key)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

impl Stack {
    /// Finds out which checkpoint counts, by one list.
    ///
    /// # Errors
    ///
    /// Those of requests: a list that fails never means that there is no stack.
    pub async fn select(&self) -> Result<Selection> {
        let base = self.checkpoint_key(Op::Read, Compression::Plain)?;
        let listed = objects(&**self.backend().store(), base.as_str()).await?;
        self.select_among(&listed)
    }

    /// The same, in a list that was made before.
    pub(crate) fn select_among(&self, listed: &[Listed]) -> Result<Selection> {
        let mut variants = Vec::new();
        for compression in Compression::ALL {
            let key = self.checkpoint_key(Op::Read, compression)?;
            if let Some(listed) = listed.iter().find(|listed| listed.name == key.as_str()) {
                let (modified, size) = (listed.meta.last_modified, listed.meta.size);
                variants.push(Variant { key, compression, modified, size });
            }
        }
        // Of equal ones the last is taken.
        let newest = variants.iter().enumerate().max_by_key(|(at, one)| (one.modified, *at));
        let active = newest.map(|(at, _)| at).map(|at| variants.remove(at));
        let warnings = active.as_ref().map_or_else(Vec::new, |active| self.doubts(active, &variants));
        Ok(Selection { active, others: variants, warnings })
    }

    fn doubts(&self, active: &Variant, others: &[Variant]) -> Vec<Warning> {
        if others.is_empty() {
            return Vec::new();
        }
        let others = others.iter().map(|one| one.key.to_string()).collect();
        let mut warnings = vec![Warning::Variants { active: active.key.to_string(), others }];
        if active.modified.is_some_and(|modified| modified > self.backend().context().clock.now()) {
            warnings.push(Warning::FutureTime { key: active.key.to_string() });
        }
        warnings
    }

    /// Whether there is a checkpoint. It is not read.
    ///
    /// # Errors
    ///
    /// Those of [`select`](Self::select).
    pub async fn exists(&self) -> Result<bool> {
        Ok(self.select().await?.active.is_some())
    }

    /// Reads the checkpoint that counts; `None` where there is none.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](ErrorKind::Corrupt) for bytes that cannot be unpacked, and those of requests.
    pub async fn read(&self) -> Result<Option<Checkpoint>> {
        let work = async {
            let read = self.read_selected(self.select().await?).await?;
            read.iter().for_each(|checkpoint| traced::version(&checkpoint.version));
            Ok(read)
        };
        traced::run(Op::Read.as_str(), self, work).await
    }

    /// Reads the checkpoint that a selection says counts. If it has vanished, it is looked for again.
    pub(crate) async fn read_selected(&self, mut selection: Selection) -> Result<Option<Checkpoint>> {
        for _ in 0..ATTEMPTS {
            let Some(active) = selection.active else { return Ok(None) };
            // It may vanish meanwhile, when another process changes the compression.
            if let Some(mut checkpoint) = self.read_object(&active.key).await? {
                checkpoint.warnings = selection.warnings;
                return Ok(Some(checkpoint));
            }
            selection = self.select().await?;
        }
        Err(self.failed(ErrorKind::Changed, Op::Read).because("its checkpoint vanishes each time it is read"))
    }

    /// Reads any copy of a checkpoint.
    pub(crate) async fn read_object(&self, key: &Key) -> Result<Option<Checkpoint>> {
        let place = self.backend().place(key.as_str());
        let got = self.backend().store().get(key, &GetOptions::default()).await;
        let got = got.map_err(|error| Error::from_store(Op::Read, &place, error))?;
        let Some(blob) = got else { return Ok(None) };
        let stored = blob.bytes.clone();
        let bytes = unpacked(&stored).map_err(|error| {
            Error::new(ErrorKind::Corrupt, Op::Read, &place)
                .because(format!("it cannot be unpacked: {error}"))
                .next_step(restore_step(key))
        })?;
        let (version, modified) = (blob.meta.version, blob.meta.last_modified);
        let (key, compression) = (key.clone(), Compression::of(&stored));
        Ok(Some(Checkpoint { bytes, stored, version, key, compression, modified, warnings: Vec::new() }))
    }

    /// The document of a stack that has no state yet, as `pulumi stack init` writes it.
    pub fn new_document(&self) -> Bytes {
        // Names have no character that JSON escapes.
        Bytes::from(format!(r#"{{"version":0,"checkpoint":{{"stack":"{}"}}}}"#, self.reference()))
    }

    /// The checkpoint of a deployment of this stack: its name in it, no white space, no line break at its end.
    ///
    /// # Errors
    ///
    /// [`Broken`](ErrorKind::Broken) for a deployment that has no text.
    pub fn document(&self, file: &DeploymentFile) -> Result<Bytes> {
        let mut file = file.clone();
        let name = self.reference().to_string();
        match &mut file.envelope {
            Envelope::Checkpoint(checkpoint) => checkpoint.stack = Some(name.into()),
            envelope => *envelope = Envelope::checkpoint(name),
        }
        let layout = groundstate_pulumi_deployment::Layout::COMPACT
            .with_escapes(groundstate_pulumi_deployment::Escapes::Plain);
        let options = EncodeOptions::default().layout(layout).line_break(false);
        let text = encode(&file, &options).map_err(|error| {
            self.failed(ErrorKind::Broken, Op::Save).because("its deployment has no text").with_source(error)
        })?;
        Ok(text.into())
    }
}

impl Checkpoint {
    /// Reads the document.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](ErrorKind::Corrupt) with the place in the file, and with the copy to restore;
    /// [`Unsupported`](ErrorKind::Unsupported) for versions and features that are not known.
    pub fn decode(&self) -> Result<DeploymentFile> {
        use groundstate_pulumi_deployment::ReadError;
        let options = DecodeOptions::default().envelope(EnvelopeKind::Checkpoint);
        decode(&self.bytes, &options).map_err(|error| {
            let place = error.place().map_or_else(String::new, |at| {
                format!(" (line {}, column {}, byte {})", at.line, at.column, at.offset)
            });
            let (kind, step) = match error {
                ReadError::TooNew { .. }
                | ReadError::CheckpointVersion { .. }
                | ReadError::Features { .. } => {
                    (ErrorKind::Unsupported, "use a newer version of this program".to_owned())
                }
                _ => (ErrorKind::Corrupt, restore_step(&self.key)),
            };
            let reason = format!("{error}{place}");
            Error::new(kind, Op::Read, &self.key).because(reason).next_step(step).with_source(error)
        })
    }
}

fn unpacked(stored: &Bytes) -> std::io::Result<Bytes> {
    Ok(match Compression::unpack(stored)? {
        std::borrow::Cow::Borrowed(_) => stored.clone(),
        std::borrow::Cow::Owned(text) => text.into(),
    })
}

fn restore_step(key: &Key) -> String {
    format!("restore a copy of it, such as {key}.bak")
}
