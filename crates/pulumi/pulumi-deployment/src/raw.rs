//! From one envelope to the other without a look inside: numbers, repeated members and members of later releases stay.

use groundstate_json::{Cursor, Escapes, Kind, Layout, Stop, Writer};
use groundstate_pulumi_snapshot::RawJson;

use crate::decode::EnvelopeKind;
use crate::problem::{Code, ReadError};
use crate::reader::{Reader, raw_json};
use crate::sink::{not_a_deployment, syntax_error};
use crate::wire::checkpoint::outer;

/// A deployment as text, taken out of its envelope.
///
/// Nothing is upgraded, and of the deployment no more is checked than that it is JSON, so this works for broken
/// deployments and for those of later releases.
///
/// ```
/// use groundstate_pulumi_deployment::RawDeployment;
///
/// let export = br#"{"version": 3, "deployment": {"big": 100000000000000000000000000000000000000000}}"#;
/// let raw = RawDeployment::read(export)?;
/// let stored = raw.to_checkpoint("organization/shop/dev");
/// let expected = r#"{"version":3,"checkpoint":{"stack":"organization/shop/dev","latest":{"big":100000000000000000000000000000000000000000}}}"#;
/// assert_eq!(std::str::from_utf8(&stored).unwrap(), expected);
/// # Ok::<(), groundstate_pulumi_deployment::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawDeployment {
    /// The envelope it was in.
    pub envelope: EnvelopeKind,
    /// The version, which may be one that is not known.
    pub version: i64,
    /// The names of its features, which may be unknown as well.
    pub features: Vec<String>,
    /// The full name of the stack, if the envelope has it.
    pub stack: Option<String>,
    /// The configuration of the stack, if the envelope has one.
    pub config: Option<RawJson>,
    /// The deployment; nothing for a stack that has never been updated.
    pub deployment: Option<RawJson>,
}

impl RawDeployment {
    /// Takes the deployment out of its envelope.
    ///
    /// # Errors
    ///
    /// The text is not JSON, has neither envelope, or a version that is not a whole number.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        if text.trim_ascii().is_empty() {
            return Err(ReadError::Empty);
        }
        let mut reader = Reader::default();
        let mut cursor = Cursor::new(text);
        let stop = |stop| syntax_error(text, stop);
        let is_object = cursor.kind().map_err(stop)? == Kind::Object;
        let found = outer::<()>(&mut reader, &mut cursor, &mut |_, _, _| Ok(None)).map_err(stop)?;
        cursor.end().map_err(stop)?;
        let wrong = |code, detail: &str| Err(not_a_deployment(text, code, 0, detail));
        if !is_object {
            return wrong(Code::NotAnObject, "the document is not an object, as every deployment is");
        }
        let number = found.version.map(|(_, raw, offset)| (str::from_utf8(raw).unwrap_or_default(), offset));
        let version = match number {
            None | Some(("null", _)) => 0,
            Some((digits, offset)) => digits.parse().map_err(|_| {
                not_a_deployment(text, Code::VersionType, offset, "a whole number is needed for the version")
            })?,
        };
        let features =
            found.features.iter().flat_map(|(names, _)| names).map(|name| name.to_string()).collect();
        let mut out = Self {
            envelope: EnvelopeKind::Deployment,
            version,
            features,
            stack: None,
            config: None,
            deployment: None,
        };
        let body = match (found.deployment, found.checkpoint) {
            (Some(_), Some(_)) => {
                return wrong(Code::EnvelopeAmbiguous, "the document has both `deployment` and `checkpoint`");
            }
            (Some(mut deployment), None) => {
                let raw = deployment.raw().map_err(stop)?;
                out.deployment = (raw != b"null").then(|| raw_json(raw));
                return Ok(out);
            }
            (None, Some(checkpoint)) => checkpoint,
            (None, None) if found.unversioned => Cursor::new(text),
            (None, None) => {
                return wrong(Code::EnvelopeUnknown, "neither `deployment` nor `checkpoint` is there");
            }
        };
        // A checkpoint without a version is one of the first.
        out.version = if version == 0 { 1 } else { version };
        out.envelope = EnvelopeKind::Checkpoint;
        out.body(body).map_err(stop)?;
        Ok(out)
    }

    fn body(&mut self, mut cursor: Cursor<'_>) -> Result<(), Stop> {
        if cursor.kind()? != Kind::Object {
            return Ok(());
        }
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let kind = cursor.kind()?;
            match (&*name.decode(), kind) {
                ("stack", Kind::String) => self.stack = Some(cursor.string()?.decode().into_owned()),
                ("config", Kind::Object) => self.config = Some(raw_json(cursor.raw()?)),
                ("latest", _) => {
                    let raw = cursor.raw()?;
                    self.deployment = (kind != Kind::Null).then(|| raw_json(raw));
                }
                _ => cursor.skip()?,
            }
        }
        Ok(())
    }

    /// Puts the deployment into the envelope of an export, in the layout of exports.
    pub fn to_deployment(&self) -> Vec<u8> {
        self.write(EnvelopeKind::Deployment, Layout::indented(4), true, "")
    }

    /// Puts the deployment into the envelope of a stack's file, without white space.
    pub fn to_checkpoint(&self, stack: &str) -> Vec<u8> {
        self.write(EnvelopeKind::Checkpoint, Layout::COMPACT, false, stack)
    }

    fn write(&self, envelope: EnvelopeKind, layout: Layout, line_break: bool, stack: &str) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), layout.with_escapes(Escapes::Plain));
        let written = (|| {
            writer.open('{');
            writer.name("version");
            writer.scalar(&self.version.to_string());
            if !self.features.is_empty() {
                writer.name("features");
                writer.open('[');
                self.features.iter().for_each(|name| writer.string(name));
                writer.close(']')?;
            }
            let deployment = self.deployment.as_ref().map(RawJson::as_str);
            match envelope {
                EnvelopeKind::Deployment => {
                    writer.name("deployment");
                    writer.raw(deployment.unwrap_or("null"))?;
                }
                EnvelopeKind::Checkpoint => {
                    writer.name("checkpoint");
                    writer.open('{');
                    if !stack.is_empty() {
                        writer.name("stack");
                        writer.string(stack);
                    }
                    if let Some(config) = &self.config {
                        writer.name("config");
                        writer.raw(config.as_str())?;
                    }
                    if let Some(deployment) = deployment {
                        writer.name("latest");
                        writer.raw(deployment)?;
                    }
                    writer.close('}')?;
                }
            }
            writer.close('}')?;
            if line_break { writer.finish() } else { writer.end() }
        })();
        // A vector takes whatever is written to it.
        written.unwrap_or_default()
    }
}
