//! The two envelopes, and the body that stands in checkpoints.

use std::sync::Arc;

use groundstate_json::{Cursor, Kind, Stop};
use groundstate_pulumi_snapshot::Extra;

use crate::decode::EnvelopeKind;
use crate::file::Checkpoint;
use crate::reader::Reader;

/// What the outermost object says, with its body still to be read.
#[derive(Debug)]
pub(crate) struct Outer<'a, B> {
    /// Kind, text and place of `version`.
    pub(crate) version: Option<(Kind, &'a [u8], usize)>,
    /// The names in `features`, and the place of the list.
    pub(crate) features: Option<(Vec<Arc<str>>, usize)>,
    /// Stands on the value of `deployment`.
    pub(crate) deployment: Option<Cursor<'a>>,
    /// Stands on the value of `checkpoint`.
    pub(crate) checkpoint: Option<Cursor<'a>>,
    /// What the body said that was read in passing, if there was one.
    pub(crate) body: Option<B>,
    /// Whether `latest` or `stack` stands there, as in checkpoints older than versions.
    pub(crate) unversioned: bool,
    pub(crate) extra: Extra,
}

/// Reads a body in passing, given its envelope and the text of the version in front of it; nothing if it would not.
pub(crate) type BodyReader<'r, 'a, B> =
    dyn FnMut(EnvelopeKind, &[u8], &mut Cursor<'a>) -> Result<Option<B>, Stop> + 'r;

/// Reads the outermost object; the cursor stands on its brace. A body behind its version is read by the function, all others
/// are skipped.
pub(crate) fn outer<'a, B>(
    reader: &mut Reader,
    cursor: &mut Cursor<'a>,
    read: &mut BodyReader<'_, 'a, B>,
) -> Result<Outer<'a, B>, Stop> {
    let mut out = Outer {
        version: None,
        features: None,
        deployment: None,
        checkpoint: None,
        body: None,
        unversioned: false,
        extra: Extra::new(),
    };
    let extra = reader.object(cursor, |reader, name, cursor| {
        let kind = cursor.kind()?;
        let (at, offset) = (cursor.clone(), cursor.offset());
        match name {
            b"version" => {
                out.version = Some((kind, cursor.raw()?, offset));
            }
            b"features" => {
                out.features = Some((reader.list(cursor)?, offset));
            }
            b"deployment" | b"checkpoint" => {
                let is_deployment = name == b"deployment";
                let kind = if is_deployment { EnvelopeKind::Deployment } else { EnvelopeKind::Checkpoint };
                out.body = match out.version {
                    Some((_, version, _)) => read(kind, version, cursor)?,
                    None => None,
                };
                if out.body.is_none() {
                    *cursor = at.clone();
                    cursor.skip()?;
                }
                *(if is_deployment { &mut out.deployment } else { &mut out.checkpoint }) = Some(at);
            }
            b"latest" | b"stack" => {
                out.unversioned = true;
                return Ok(false);
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out)
}

/// Reads the body of a checkpoint, its deployment by the reader of its version. `null` is an empty body.
///
/// Where the body is the document itself, `version` is no part of it.
pub(crate) fn body<T>(
    reader: &mut Reader,
    cursor: &mut Cursor<'_>,
    is_document: bool,
    deployment: impl Fn(&mut Reader, &mut Cursor<'_>) -> Result<Option<T>, Stop>,
) -> Result<(Checkpoint, Option<T>), Stop> {
    let mut out = Checkpoint::default();
    let mut latest = None;
    let extra = reader.object(cursor, |reader, name, cursor| -> Result<bool, Stop> {
        match name {
            b"stack" => {
                out.stack = reader.text(cursor)?;
            }
            b"config" => {
                out.config = reader.properties(cursor)?.as_raw().cloned();
            }
            b"latest" => {
                latest = deployment(reader, cursor)?;
            }
            b"version" if is_document => {
                cursor.skip()?;
            }
            b"checkpoint" if is_document && cursor.kind()? == Kind::Null => {
                cursor.null()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    Ok((out, latest))
}
