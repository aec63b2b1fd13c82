//! Bytes to a file: the envelope, its version, and the reader of that version.

use std::collections::BTreeSet;

use groundstate_json::{Cursor, Kind, SourcePos, Stop, describe};
use groundstate_pulumi_snapshot::{Feature, Snapshot};

use crate::file::{Checkpoint, DeploymentFile, Envelope, Style};
use crate::note::NoteKind;
use crate::problem::{Code, ReadError};
use crate::reader::Reader;
use crate::sink::{Sink, not_a_deployment, syntax_error};
use crate::upgrade::{v1_to_v2, v2_to_v3};
use crate::wire::checkpoint::{body, outer};
use crate::wire::{self, v1, v2, v3};

/// The version whose files have features; its shape is that of version 3.
pub(crate) const LATEST: i64 = 4;

/// Which envelope a document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnvelopeKind {
    /// `deployment`.
    Deployment,
    /// `checkpoint`, or the unversioned form of 2017.
    Checkpoint,
}

/// Options of the reader.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Reads the document as this one, whatever it looks like.
    pub envelope: Option<EnvelopeKind>,
}

impl DecodeOptions {
    /// Sets the envelope.
    #[must_use]
    pub fn envelope(mut self, envelope: EnvelopeKind) -> Self {
        self.envelope = Some(envelope);
        self
    }
}

/// Reads a deployment or a checkpoint of any known version.
///
/// Versions 1 and 2 are upgraded. Integrity is not looked at, so that broken snapshots can be read and repaired; inputs and
/// outputs stay text.
///
/// # Errors
///
/// [`ReadError::Empty`] for an empty input; the version and features that are not supported, by name; all problems of a
/// document that cannot be used.
pub fn decode(text: &[u8], options: &DecodeOptions) -> Result<DeploymentFile, ReadError> {
    if text.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    let mut reader = Reader::default();
    let outer = read_outer(&mut reader, text)?;
    let kind = match options.envelope {
        Some(kind) => kind,
        None => envelope_of(text, &outer).map_err(|error| newer(text, &outer).unwrap_or(error))?,
    };
    let version = version_of(text, &outer, kind)?;
    match kind {
        EnvelopeKind::Deployment => deployment(reader, text, outer, version),
        EnvelopeKind::Checkpoint => checkpoint(reader, text, outer, version),
    }
}

/// A body that was read in passing, because the version in front of it is a current one. It is used if nothing behind it
/// says otherwise.
struct Passing {
    kind: EnvelopeKind,
    version: i64,
    reader: Reader,
    checkpoint: Checkpoint,
    found: Option<Found>,
}

type Outer<'a> = wire::checkpoint::Outer<'a, Passing>;

fn in_passing(kind: EnvelopeKind, version: &[u8], cursor: &mut Cursor<'_>) -> Result<Option<Passing>, Stop> {
    let version = match version {
        b"3" => 3,
        b"4" => 4,
        _ => return Ok(None),
    };
    let mut reader = Reader::default();
    let (checkpoint, found) = match kind {
        EnvelopeKind::Deployment => (Checkpoint::default(), read_deployment(&mut reader, cursor, version)?),
        EnvelopeKind::Checkpoint => {
            body(&mut reader, cursor, false, |reader, cursor| read_deployment(reader, cursor, version))?
        }
    };
    Ok(Some(Passing { kind, version, reader, checkpoint, found }))
}

/// The body that was read in passing, if it was read as what the document turned out to be.
fn passing(outer: &mut Outer<'_>, reader: &mut Reader, kind: EnvelopeKind, version: i64) -> Option<Passing> {
    let mut read = outer.body.take().filter(|read| read.kind == kind && read.version == version)?;
    reader.sink.append(std::mem::take(&mut read.reader.sink));
    Some(read)
}

/// Reads the outermost object and makes sure that nothing follows it.
fn read_outer<'a>(reader: &mut Reader, text: &'a [u8]) -> Result<Outer<'a>, ReadError> {
    let mut cursor = Cursor::new(text);
    let read = |cursor: &mut Cursor<'a>, reader: &mut Reader| {
        let kind = cursor.kind()?;
        let start = cursor.offset();
        if kind != Kind::Object {
            let raw = cursor.raw()?;
            cursor.end()?;
            return Ok(Err((describe(kind, raw), start)));
        }
        let outer = outer(reader, cursor, &mut in_passing)?;
        cursor.end()?;
        Ok(Ok(outer))
    };
    match read(&mut cursor, reader) {
        Err(stop) => Err(syntax_error(text, stop)),
        Ok(Err((found, start))) => {
            let detail = format!("the document is {found}, an object is needed");
            Err(not_a_deployment(text, Code::NotAnObject, start, detail))
        }
        Ok(Ok(outer)) => Ok(outer),
    }
}

fn envelope_of(text: &[u8], outer: &Outer<'_>) -> Result<EnvelopeKind, ReadError> {
    match (&outer.deployment, &outer.checkpoint) {
        (Some(_), None) => Ok(EnvelopeKind::Deployment),
        (None, Some(_)) => Ok(EnvelopeKind::Checkpoint),
        (Some(_), Some(second)) => {
            let detail = "the document has both `deployment` and `checkpoint`; say which of them it is";
            Err(not_a_deployment(text, Code::EnvelopeAmbiguous, second.offset(), detail))
        }
        (None, None) if outer.unversioned => Ok(EnvelopeKind::Checkpoint),
        (None, None) => {
            let detail =
                "neither `deployment`, as in an export, nor `checkpoint`, as in a stack's file, is there";
            Err(not_a_deployment(text, Code::EnvelopeUnknown, 0, detail))
        }
    }
}

/// That a document of a later version is too new, where only its features tell that it is one of Pulumi.
fn newer(text: &[u8], outer: &Outer<'_>) -> Option<ReadError> {
    let (_, _, offset) = outer.version.filter(|_| outer.features.is_some())?;
    let has_body = outer.deployment.is_some() || outer.checkpoint.is_some();
    let version = version_of(text, outer, EnvelopeKind::Deployment).ok()?;
    (version > LATEST && !has_body).then(|| ReadError::TooNew { version, place: SourcePos::of(text, offset) })
}

/// The version; 0 if there is none, as Go reads it.
fn version_of(text: &[u8], outer: &Outer<'_>, kind: EnvelopeKind) -> Result<i64, ReadError> {
    let Some((found, raw, offset)) = outer.version else { return Ok(0) };
    let number = match found {
        Kind::Null => Some(0),
        Kind::Number => str::from_utf8(raw).ok().and_then(|text| text.parse().ok()),
        _ => None,
    };
    number.ok_or_else(|| {
        let detail = format!("expected a whole number, found {}", describe(found, raw));
        let prefix = if kind == EnvelopeKind::Checkpoint { "place 1: " } else { "" };
        not_a_deployment(text, Code::VersionType, offset, format!("{prefix}{detail}"))
    })
}

fn deployment(
    mut reader: Reader,
    text: &[u8],
    mut outer: Outer<'_>,
    version: i64,
) -> Result<DeploymentFile, ReadError> {
    let place = || SourcePos::of(text, outer.version.map_or(0, |(_, _, offset)| offset));
    match version {
        ..1 => return Err(ReadError::TooOld { version, place: place() }),
        1..=LATEST => {}
        _ => return Err(ReadError::TooNew { version, place: place() }),
    }
    let features = features(&mut reader, text, &outer, version)?;
    let found = match (passing(&mut outer, &mut reader, EnvelopeKind::Deployment, version), &outer.deployment)
    {
        (Some(read), _) => Ok(read.found),
        (None, Some(cursor)) => read_deployment(&mut reader, &mut cursor.clone(), version),
        (None, None) => Ok(None),
    };
    let found = found.map_err(|stop| syntax_error(text, stop))?;
    let mut extra = outer.extra;
    if let Some(cursor) = outer.checkpoint {
        extra.push("checkpoint", raw_at(text, &cursor)?);
    }
    let parts = Parts { envelope: Envelope::Deployment, found, features, extra, version };
    finish(reader.sink, text, parts)
}

fn checkpoint(
    mut reader: Reader,
    text: &[u8],
    mut outer: Outer<'_>,
    version: i64,
) -> Result<DeploymentFile, ReadError> {
    let mut at = outer.checkpoint.clone();
    if at.is_none() && (0..=LATEST).contains(&version) && !(version == 0 && outer.unversioned) {
        // What another program wrote would be taken for a stack without resources.
        let detail = "there is no `checkpoint`, as a stack's file has it";
        return Err(not_a_deployment(text, Code::EnvelopeUnknown, 0, detail));
    }
    let is_document = version == 0 && !matches!(&at, Some(cursor) if !outer.unversioned && !is_null(cursor));
    match version {
        0 if is_document => at = Some(Cursor::new(text)),
        0 => contradicted(text, &outer)?,
        1..=LATEST => {}
        _ => {
            let place = SourcePos::of(text, outer.version.map_or(0, |(_, _, offset)| offset));
            return Err(ReadError::CheckpointVersion { version, place });
        }
    }
    let passed = passing(&mut outer, &mut reader, EnvelopeKind::Checkpoint, version);
    let read = || -> Result<(Checkpoint, Option<Found>), Stop> {
        if let Some(passed) = passed {
            return Ok((passed.checkpoint, passed.found));
        }
        let Some(mut cursor) = at else { return Ok((Checkpoint::default(), None)) };
        cursor.kind()?;
        let version = version.max(1);
        body(&mut reader, &mut cursor, is_document, |reader, cursor| read_deployment(reader, cursor, version))
    };
    let (body, found) = read().map_err(|stop| syntax_error(text, stop))?;
    let features = match version {
        LATEST => features(&mut reader, text, &outer, version)?,
        _ => dropped_features(&mut reader, &outer),
    };
    // Where the body is the document, its unknown members have been read as those of the body.
    let mut extra = if is_document { Default::default() } else { outer.extra };
    if let (Some(cursor), false) = (&outer.deployment, is_document) {
        extra.push("deployment", raw_at(text, cursor)?);
    }
    let parts = Parts { envelope: Envelope::Checkpoint(body), found, features, extra, version };
    finish(reader.sink, text, parts)
}

/// A checkpoint of version 0 names its stack at most: the original would overlook anything else.
fn contradicted(text: &[u8], outer: &Outer<'_>) -> Result<(), ReadError> {
    let Some(cursor) = &outer.checkpoint else { return Ok(()) };
    let mut reader = Reader::default();
    let mut cursor = cursor.clone();
    let offset = cursor.offset();
    let read = body(&mut reader, &mut cursor, false, |_, cursor| {
        let kind = cursor.kind()?;
        cursor.skip().map(|()| (kind != Kind::Null).then_some(()))
    });
    match read {
        Err(stop) => Err(syntax_error(text, stop)),
        Ok((_, None)) => Ok(()),
        Ok((_, Some(()))) => {
            let detail = "version 0 stands for a stack without a deployment, and yet there is one; \
                          put in the version that wrote it";
            Err(not_a_deployment(text, Code::VersionContradicted, offset, detail))
        }
    }
}

fn is_null(cursor: &Cursor<'_>) -> bool {
    cursor.clone().kind() == Ok(Kind::Null)
}

/// The text of a value that has been skipped before.
fn raw_at(text: &[u8], cursor: &Cursor<'_>) -> Result<groundstate_pulumi_snapshot::RawJson, ReadError> {
    let raw = cursor.clone().raw().map_err(|stop| syntax_error(text, stop))?;
    Ok(crate::reader::raw_json(raw))
}

/// A deployment, and whether its metadata was there.
type Found = (Snapshot, bool);

fn read_deployment(
    reader: &mut Reader,
    cursor: &mut Cursor<'_>,
    version: i64,
) -> Result<Option<Found>, Stop> {
    cursor.kind()?;
    match version {
        1 => {
            let old = v1::deployment(reader, cursor)?;
            let next = old.map(|old| v1_to_v2::deployment(old, &mut reader.sink));
            Ok(next.map(|next| (v2_to_v3::deployment(next, &mut reader.sink), true)))
        }
        2 => {
            let old = v2::deployment(reader, cursor)?;
            Ok(old.map(|old| (v2_to_v3::deployment(old, &mut reader.sink), true)))
        }
        _ => {
            let found = v3::deployment(reader, cursor)?;
            Ok(found.map(|found| (found.snapshot, found.metadata)))
        }
    }
}

/// The features of a file of version 4, all of which must be known. Older versions have none.
fn features(
    reader: &mut Reader,
    text: &[u8],
    outer: &Outer<'_>,
    version: i64,
) -> Result<BTreeSet<Feature>, ReadError> {
    if version < LATEST {
        return Ok(dropped_features(reader, outer));
    }
    let Some((names, offset)) = &outer.features else { return Ok(BTreeSet::new()) };
    let unknown: Vec<String> =
        names.iter().filter(|name| Feature::from_name(name).is_none()).map(|name| name.to_string()).collect();
    if !unknown.is_empty() {
        return Err(ReadError::Features { features: unknown, place: SourcePos::of(text, *offset) });
    }
    Ok(names.iter().filter_map(|name| Feature::from_name(name)).collect())
}

/// Features that stand where none can be.
fn dropped_features(reader: &mut Reader, outer: &Outer<'_>) -> BTreeSet<Feature> {
    if let Some((names, offset)) = &outer.features
        && !names.is_empty()
    {
        let message = "only format 4 has features, those named here are ignored";
        reader.sink.note(NoteKind::Dropped, *offset, message);
    }
    BTreeSet::new()
}

/// What has been read of a file.
struct Parts {
    envelope: Envelope,
    found: Option<Found>,
    features: BTreeSet<Feature>,
    extra: groundstate_pulumi_snapshot::Extra,
    version: i64,
}

fn finish(mut sink: Sink, text: &[u8], parts: Parts) -> Result<DeploymentFile, ReadError> {
    let mut notes = std::mem::take(&mut sink.notes);
    notes.sort_by_key(|note| note.offset);
    // Where the body is the document, its members have been looked at twice.
    notes.dedup();
    if let Some(problems) = sink.into_problems(text) {
        return Err(ReadError::Unusable(problems));
    }
    let (snapshot, metadata) =
        parts.found.map_or((None, true), |(snapshot, metadata)| (Some(snapshot), metadata));
    let style = Style { source_version: parts.version, empty_metadata: metadata, ..Style::found_in(text) };
    let (envelope, features, extra) = (parts.envelope, parts.features, parts.extra);
    Ok(DeploymentFile { envelope, snapshot, features, style, extra, notes })
}
