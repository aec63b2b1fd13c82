//! Checkpoints of buckets as exports, and back.

use bytes::Bytes;
use groundstate_common::{Timestamp, hex};
use groundstate_pulumi_backends::pulumi_diy::pulumi_deployment::RawDeployment;
use groundstate_pulumi_backends::pulumi_diy::{self, Checkpoint, Compression, ORGANIZATION};
use groundstate_pulumi_service::{BucketState, Error, ErrorKind, Op, Result, StackPath};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::failed;

/// The newest version of checkpoints that is known.
const NEWEST: i64 = 4;

/// What a checkpoint says of its last update.
#[derive(Deserialize)]
struct Deployment {
    #[serde(default)]
    manifest: Option<Manifest>,
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    time: Option<String>,
}

/// A checkpoint as an export.
pub(super) fn of_checkpoint(path: &StackPath, checkpoint: &Checkpoint) -> Result<BucketState> {
    let damaged = |kind, why: String| {
        let error = pulumi_diy::Error::new(kind, pulumi_diy::Op::Read, &checkpoint.key).because(why);
        let step = format!("restore a copy of it, such as {}.bak", checkpoint.key);
        failed(Op::Read, path, error.next_step(step))
    };
    let raw = RawDeployment::read(&checkpoint.bytes)
        .map_err(|error| damaged(pulumi_diy::ErrorKind::Corrupt, error.to_string()))?;
    if raw.version > NEWEST {
        let why = format!("checkpoints up to version {NEWEST} are known, and this one has {}", raw.version);
        return Err(damaged(pulumi_diy::ErrorKind::Unsupported, why));
    }
    let updated = raw.deployment.as_ref().and_then(|deployment| updated(deployment.as_str()));
    let export = raw.deployment.is_some().then(|| Bytes::from(raw.to_deployment()));
    Ok(BucketState::new(token(checkpoint), sha256(&checkpoint.bytes), export, updated))
}

/// When a deployment was made; none for Go's zero time, which is that of a stack that was never updated.
fn updated(deployment: &str) -> Option<Timestamp> {
    /// The year 1, in seconds since 1970.
    const ZERO: i64 = -62_135_596_800;
    let deployment: Deployment = serde_json::from_str(deployment).ok()?;
    let time = Timestamp::parse(&deployment.manifest?.time?).ok()?;
    Some(time).filter(|time| time.seconds() > ZERO)
}

/// What a checkpoint is known by: where it is stored, and what is stored.
pub(super) fn token(checkpoint: &Checkpoint) -> String {
    format!("{} {}", checkpoint.key, sha256(&checkpoint.stored))
}

/// The digest of a document.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// An export as a checkpoint.
pub(super) fn document(op: Op, path: &StackPath, export: &[u8]) -> Result<Bytes> {
    let raw = RawDeployment::read(export).map_err(|error| {
        Error::new(ErrorKind::Invalid, op, path).because(format!("the state is no deployment: {error}"))
    })?;
    let name = format!("{ORGANIZATION}/{}/{}", path.project(), path.stack());
    Ok(raw.to_checkpoint(&name).into())
}

/// How a checkpoint is compressed by its key, which decides where the next one is stored.
pub(super) fn compression(key: &str) -> Compression {
    let named = Compression::ALL.into_iter().rev().find(|one| key.ends_with(one.ending()));
    named.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use groundstate_pulumi_backends::pulumi_diy::Compression;

    use super::{compression, updated};

    #[test]
    fn checkpoints_keep_the_compression_of_their_keys() {
        for (key, expected) in [
            ("a/s.json", Compression::Plain),
            ("a/s.json.gz", Compression::Gzip),
            ("a/s.json.zst", Compression::Zstd),
        ] {
            assert_eq!(compression(key), expected);
        }
    }

    #[test]
    fn the_time_of_a_stack_that_was_never_updated_is_none() {
        assert!(updated(r#"{"manifest":{"time":"0001-01-01T00:00:00Z"}}"#).is_none());
        assert!(updated(r#"{"manifest":{"time":7}}"#).is_none() && updated("{}").is_none());
        let time = updated(r#"{"manifest":{"time":"2026-01-02T03:04:05.5+01:00"}}"#).unwrap();
        assert_eq!(time.seconds(), 1_767_319_445);
    }
}
