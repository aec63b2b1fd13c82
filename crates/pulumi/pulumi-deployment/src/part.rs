//! Parts of deployments that stand in other documents, such as the entries of journals.

use std::io;

use groundstate_json::{Cursor, Layout, Stop, Writer};
use groundstate_pulumi_snapshot::{Extension, Operation, Resource, SecretsProvider, Snapshot, Snippet};

use crate::encode::{EncodeError, Encoder, Secrets};
use crate::note::Note;
use crate::problem::Code;
use crate::reader::Reader;
use crate::wire::{parts, resource, v3};

/// Reads parts of deployments wherever a cursor stands.
///
/// What is wrong with them is collected, like by [`decode`](crate::decode), while errors of the syntax stop the reading.
///
/// ```
/// use groundstate_pulumi_deployment::PartReader;
/// use groundstate_json::Cursor;
///
/// let text = br#"{"urn":"u","custom":"yes","type":"t"}"#;
/// let mut reader = PartReader::default();
/// let resource = reader.resource(&mut Cursor::new(text))?;
/// assert_eq!(resource.resource_type.as_str(), "t");
///
/// let (problems, _notes) = reader.finish();
/// assert_eq!(problems[0].detail, "expected true or false, found string");
/// assert_eq!(problems[0].offset, 20);
/// # Ok::<(), groundstate_json::Stop>(())
/// ```
#[derive(Debug, Default)]
pub struct PartReader(Reader);

/// One thing that is wrong with a part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartProblem {
    /// Which kind of problem.
    pub code: Code,
    /// What exactly is wrong, without values of inputs or outputs.
    pub detail: String,
    /// Name of the resource it belongs to, if there is one.
    pub urn: Option<String>,
    /// Index of the byte it belongs to, in the text of the cursor.
    pub offset: usize,
}

impl PartReader {
    /// Reads a resource; `null` is one that says nothing.
    ///
    /// # Errors
    ///
    /// What stands there is not JSON; this holds for all others too.
    pub fn resource(&mut self, cursor: &mut Cursor<'_>) -> Result<Resource, Stop> {
        resource::resource(&mut self.0, cursor)
    }

    /// Reads an operation with its resource.
    ///
    /// # Errors
    ///
    /// See [`PartReader::resource`].
    pub fn operation(&mut self, cursor: &mut Cursor<'_>) -> Result<Operation, Stop> {
        v3::operation(&mut self.0, cursor)
    }

    /// Reads a secrets provider; nothing for `null`.
    ///
    /// # Errors
    ///
    /// See [`PartReader::resource`].
    pub fn secrets_provider(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<SecretsProvider>, Stop> {
        parts::secrets_provider(&mut self.0, cursor)
    }

    /// Reads a list of snippets; `null` has none.
    ///
    /// # Errors
    ///
    /// See [`PartReader::resource`].
    pub fn snippets(&mut self, cursor: &mut Cursor<'_>) -> Result<Vec<Snippet>, Stop> {
        let mut snippets = Vec::new();
        self.0.objects(cursor, |reader, cursor| {
            snippets.push(parts::snippet(reader, cursor)?);
            Ok(())
        })?;
        Ok(snippets)
    }

    /// Reads an extension; nothing for `null`.
    ///
    /// # Errors
    ///
    /// See [`PartReader::resource`].
    pub fn extension(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Extension>, Stop> {
        parts::extension(&mut self.0, cursor)
    }

    /// Reads a deployment of version 3 or 4 without its envelope; nothing for `null`.
    ///
    /// # Errors
    ///
    /// See [`PartReader::resource`].
    pub fn deployment(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Snapshot>, Stop> {
        Ok(v3::deployment(&mut self.0, cursor)?.map(|found| found.snapshot))
    }

    /// Reads a text; nothing for `null`.
    ///
    /// # Errors
    ///
    /// See [`PartReader::resource`].
    pub fn text(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<std::sync::Arc<str>>, Stop> {
        self.0.shared(cursor)
    }

    /// Reads `true` or `false`; `null` is `false`.
    ///
    /// # Errors
    ///
    /// See [`PartReader::resource`].
    pub fn flag(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
        self.0.flag(cursor)
    }

    /// Takes note of a problem that is found beside the parts.
    pub fn problem(&mut self, code: Code, offset: usize, detail: impl Into<String>) {
        self.0.sink.problem(code, offset, detail);
    }

    /// What was wrong with all parts so far, and what could not be kept of them, in the order of the text.
    pub fn finish(self) -> (Vec<PartProblem>, Vec<Note>) {
        self.0.sink.into_parts()
    }
}

/// A part of a deployment, to be written.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Part<'a> {
    /// A resource.
    Resource(&'a Resource),
    /// An operation with its resource.
    Operation(&'a Operation),
    /// A secrets provider.
    SecretsProvider(&'a SecretsProvider),
    /// A snippet.
    Snippet(&'a Snippet),
    /// An extension.
    Extension(&'a Extension),
    /// A deployment of the current version, without its envelope.
    Deployment(&'a Snapshot),
}

/// Writes documents that hold parts of deployments.
///
/// ```
/// use groundstate_pulumi_deployment::{Layout, Part, PartWriter, Secrets};
/// use groundstate_pulumi_snapshot::Resource;
///
/// let mut writer = PartWriter::new(Vec::new(), Layout::COMPACT, Secrets::Sealed);
/// writer.json().open('{');
/// writer.json().name("state");
/// writer.part(Part::Resource(&Resource::new("u", "t")))?;
/// writer.json().close('}')?;
/// assert_eq!(writer.end()?, br#"{"state":{"urn":"u","custom":false,"type":"t"}}"#);
/// # Ok::<(), groundstate_pulumi_deployment::EncodeError>(())
/// ```
#[derive(Debug)]
pub struct PartWriter<W>(Encoder<W>);

impl<W: io::Write> PartWriter<W> {
    /// A writer at the start of a document.
    pub fn new(out: W, layout: Layout, secrets: Secrets) -> Self {
        Self(Encoder { writer: Writer::new(out, layout), layout, secrets })
    }

    /// The writer of all that stands around the parts.
    pub fn json(&mut self) -> &mut Writer<W> {
        &mut self.0.writer
    }

    /// Writes a part where the writer stands.
    ///
    /// # Errors
    ///
    /// A property has no form, or the output fails. What was written so far is no document then.
    pub fn part(&mut self, part: Part<'_>) -> Result<(), EncodeError> {
        match part {
            Part::Resource(resource) => self.0.resource(resource),
            Part::Operation(operation) => self.0.operation(operation),
            Part::SecretsProvider(provider) => Ok(self.0.secrets_provider(provider)?),
            Part::Snippet(snippet) => Ok(self.0.snippet(snippet)?),
            Part::Extension(extension) => Ok(self.0.extension(extension)?),
            Part::Deployment(snapshot) => self.0.deployment(snapshot, true),
        }
    }

    /// Ends the text without a line break and gives the output back.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn end(self) -> Result<W, EncodeError> {
        Ok(self.0.writer.end()?)
    }
}
