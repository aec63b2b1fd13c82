//! The two envelopes, and the body that stands in checkpoints.

use std::sync::Arc;

use groundstate_deployments::Extra;
use groundstate_json::{Cursor, Kind, Stop};

use crate::file::Checkpoint;
use crate::reader::{Known, Reader};

/// What the outermost object says, with its body still to be read.
#[derive(Debug, Default)]
pub(crate) struct Outer<'a> {
    /// Kind, text and place of `version`.
    pub(crate) version: Option<(Kind, &'a [u8], usize)>,
    /// The names in `features`, and the place of the list.
    pub(crate) features: Option<(Vec<Arc<str>>, usize)>,
    /// Stands on the value of `deployment`.
    pub(crate) deployment: Option<Cursor<'a>>,
    /// Stands on the value of `checkpoint`.
    pub(crate) checkpoint: Option<Cursor<'a>>,
    /// Whether `latest` or `stack` stands there, as in checkpoints older than versions.
    pub(crate) unversioned: bool,
    pub(crate) extra: Extra,
}

/// Reads the outermost object, whose body is skipped; the cursor stands on its brace.
pub(crate) fn outer<'a>(reader: &mut Reader, cursor: &mut Cursor<'a>) -> Result<Outer<'a>, Stop> {
    let mut out = Outer::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        let kind = cursor.kind()?;
        let (at, offset) = (cursor.clone(), cursor.offset());
        Ok(Some(match name {
            b"version" => {
                out.version = Some((kind, cursor.raw()?, offset));
                0
            }
            b"features" => {
                out.features = Some((reader.list(cursor)?, offset));
                1
            }
            b"deployment" => {
                cursor.skip()?;
                out.deployment = Some(at);
                2
            }
            b"checkpoint" => {
                cursor.skip()?;
                out.checkpoint = Some(at);
                3
            }
            b"latest" | b"stack" => {
                out.unversioned = true;
                return Ok(None);
            }
            _ => return Ok(None),
        }))
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
    let extra = reader.object(cursor, |reader, name, cursor| -> Result<Known, Stop> {
        Ok(Some(match name {
            b"stack" => {
                out.stack = reader.text(cursor)?;
                0
            }
            b"config" => {
                out.config = reader.properties(cursor)?.as_raw().cloned();
                1
            }
            b"latest" => {
                latest = deployment(reader, cursor)?;
                2
            }
            b"version" if is_document => {
                cursor.skip()?;
                3
            }
            b"checkpoint" if is_document && cursor.kind()? == Kind::Null => {
                cursor.null()?;
                4
            }
            _ => return Ok(None),
        }))
    })?;
    out.extra = extra.unwrap_or_default();
    Ok((out, latest))
}
