//! A file to bytes: the current version, in the order and with the omissions of the original.

mod parts;
pub(crate) mod resource;

use std::collections::BTreeSet;
use std::io;

use groundstate_json::{Escapes, Layout, Writer};
use groundstate_pulumi_snapshot::{Extra, Feature, RawJson, Resource, Snapshot};

use crate::features;
use crate::file::{Checkpoint, DeploymentFile, Envelope};
use crate::note::NoteKind;
use crate::property::PropertyError;

/// Options of the writer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// White space and escapes, instead of those of the file.
    pub layout: Option<Layout>,
    /// Whether a line break ends the file, instead of what the file had.
    pub line_break: Option<bool>,
    /// Writes although something would be lost that the file held.
    pub allow_loss: bool,
    /// How decoded secrets are written.
    pub secrets: Secrets,
}

/// How secrets that have been decoded are written. Those that are still text stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Secrets {
    /// Encrypted: each must have its ciphertext.
    #[default]
    Sealed,
    /// Readable: each must have been opened.
    Shown,
}

impl EncodeOptions {
    /// Sets white space and escapes.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// Sets whether a line break ends the file.
    #[must_use]
    pub fn line_break(mut self, yes: bool) -> Self {
        self.line_break = Some(yes);
        self
    }

    /// Sets whether losses are allowed.
    #[must_use]
    pub fn allow_loss(mut self, yes: bool) -> Self {
        self.allow_loss = yes;
        self
    }

    /// Sets how decoded secrets are written.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Something that the file held would be lost.
    #[error("writing would lose {what} (at byte {offset}); allow losses to write it")]
    Loss {
        /// What is lost, without values.
        what: String,
        /// Where it stands in the source.
        offset: usize,
    },
    /// A property has no form in a file.
    #[error("the properties of {urn} cannot be stored")]
    Property {
        /// The resource.
        urn: String,
        /// Which property, and why not.
        source: PropertyError,
    },
    /// Writing failed.
    #[error("cannot write the deployment")]
    Io(#[from] io::Error),
}

/// Writes a file as version 3, or 4 if it has features.
///
/// # Errors
///
/// [`EncodeError::Loss`] unless losses are allowed, [`EncodeError::Property`] for values that have no form. Nothing has
/// been written then.
pub fn encode(file: &DeploymentFile, options: &EncodeOptions) -> Result<Vec<u8>, EncodeError> {
    encode_to(file, options, Vec::new())
}

/// Writes a file to `out`, block by block; gives `out` back.
///
/// # Errors
///
/// As [`encode`], and [`EncodeError::Io`] when `out` fails. A property that cannot be stored is found when its turn comes.
pub fn encode_to<W: io::Write>(
    file: &DeploymentFile,
    options: &EncodeOptions,
    out: W,
) -> Result<W, EncodeError> {
    if let (false, Some(lost)) = (options.allow_loss, file.notes.iter().find(|n| n.kind == NoteKind::Lost)) {
        return Err(EncodeError::Loss { what: lost.message.clone(), offset: lost.offset });
    }
    let layout = options.layout.unwrap_or(file.style.layout);
    let writer = Writer::new(out, layout);
    let mut encoder = Encoder { writer, layout, secrets: options.secrets };
    encoder.document(file)?;
    let line_break = options.line_break.unwrap_or(file.style.line_break);
    Ok(if line_break { encoder.writer.finish()? } else { encoder.writer.end()? })
}

/// Writes one resource as compact JSON, its members in the order they have in a file.
///
/// # Errors
///
/// A property has no form.
pub fn encode_resource(resource: &Resource, secrets: Secrets) -> Result<RawJson, EncodeError> {
    let layout = Layout::COMPACT.with_escapes(Escapes::Plain);
    let mut encoder = Encoder { writer: Writer::new(Vec::new(), layout), layout, secrets };
    encoder.resource(resource)?;
    let bytes = encoder.writer.end()?;
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    Ok(RawJson::from_validated(&text))
}

/// Writes the parts of a document.
#[derive(Debug)]
pub(crate) struct Encoder<W> {
    pub(crate) writer: Writer<W>,
    pub(crate) layout: Layout,
    pub(crate) secrets: Secrets,
}

impl<W: io::Write> Encoder<W> {
    fn document(&mut self, file: &DeploymentFile) -> Result<(), EncodeError> {
        let features = features::needed(file);
        self.writer.open('{');
        self.writer.name("version");
        self.writer.scalar(&version(file, &features).to_string());
        if !features.is_empty() {
            self.writer.name("features");
            self.writer.open('[');
            features.iter().for_each(|feature| self.writer.string(feature.as_str()));
            self.writer.close(']')?;
        }
        match &file.envelope {
            Envelope::Deployment => {
                self.writer.name("deployment");
                match &file.snapshot {
                    Some(snapshot) => self.deployment(snapshot, file.style.empty_metadata)?,
                    None => self.writer.scalar("null"),
                }
            }
            Envelope::Checkpoint(checkpoint) => self.checkpoint(checkpoint, file)?,
        }
        self.extra(&file.extra)?;
        Ok(self.writer.close('}')?)
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint, file: &DeploymentFile) -> Result<(), EncodeError> {
        self.writer.name("checkpoint");
        self.writer.open('{');
        if let Some(stack) = &checkpoint.stack {
            self.writer.name("stack");
            self.writer.string(stack);
        }
        if let Some(config) = &checkpoint.config {
            self.writer.name("config");
            self.writer.raw(config.as_str())?;
        }
        if let Some(snapshot) = &file.snapshot {
            self.writer.name("latest");
            self.deployment(snapshot, file.style.empty_metadata)?;
        }
        self.extra(&checkpoint.extra)?;
        Ok(self.writer.close('}')?)
    }

    pub(crate) fn deployment(
        &mut self,
        snapshot: &Snapshot,
        empty_metadata: bool,
    ) -> Result<(), EncodeError> {
        self.writer.open('{');
        self.writer.name("manifest");
        self.manifest(&snapshot.manifest)?;
        if let Some(provider) = &snapshot.secrets_provider {
            self.writer.name("secrets_providers");
            self.secrets_provider(provider)?;
        }
        if !snapshot.resources.is_empty() {
            self.writer.name("resources");
            self.writer.open('[');
            snapshot.resources.iter().try_for_each(|resource| self.resource(resource))?;
            self.writer.close(']')?;
        }
        if !snapshot.pending_operations.is_empty() {
            self.writer.name("pending_operations");
            self.writer.open('[');
            snapshot.pending_operations.iter().try_for_each(|operation| self.operation(operation))?;
            self.writer.close(']')?;
        }
        self.metadata(&snapshot.metadata, empty_metadata)?;
        if !snapshot.snippets.is_empty() {
            self.writer.name("snippets");
            self.writer.open('[');
            snapshot.snippets.iter().try_for_each(|snippet| self.snippet(snippet))?;
            self.writer.close(']')?;
        }
        if !snapshot.extensions.is_empty() {
            self.writer.name("extensions");
            self.writer.open('{');
            for (reference, extension) in &snapshot.extensions {
                self.writer.name(reference.as_str());
                self.extension(extension)?;
            }
            self.writer.close('}')?;
        }
        self.extra(&snapshot.extra)?;
        Ok(self.writer.close('}')?)
    }

    /// Members that are not understood, behind the others of their object.
    fn extra(&mut self, extra: &Extra) -> io::Result<()> {
        for (name, value) in extra.iter() {
            self.writer.name(name);
            self.writer.raw(value.as_str())?;
        }
        Ok(())
    }
}

/// 4 with features, 3 without; 0 for the file of a stack that has never been updated.
fn version(file: &DeploymentFile, features: &BTreeSet<Feature>) -> i64 {
    let is_new = match &file.envelope {
        Envelope::Checkpoint(checkpoint) => checkpoint.config.is_none() && file.snapshot.is_none(),
        Envelope::Deployment => false,
    };
    match file.style.source_version {
        0 if is_new => 0,
        _ if features.is_empty() => 3,
        _ => 4,
    }
}
