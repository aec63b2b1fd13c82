//! Small documents: JSON that is read and replaced whole.

use std::fmt;

use groundstate_versioned::{Document, Expect, WriteOptions, WriteOutcome};

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;

/// The JSON of a small document, and the number of its version.
pub(crate) async fn read_json<T: serde::de::DeserializeOwned>(
    op: Op,
    place: impl fmt::Display,
    document: &Document,
) -> Result<Option<(T, u64)>> {
    /// No document of this kind is longer.
    const LONGEST: usize = 1 << 20;
    let reader = document.read().await.map_err(|error| Error::of_document(op, &place, error))?;
    let Some(reader) = reader else { return Ok(None) };
    let number = reader.version().number;
    let bytes = reader.collect(LONGEST).await.map_err(|error| Error::of_document(op, &place, error))?;
    let value = serde_json::from_slice(&bytes).map_err(|error| {
        let failure = Error::new(ErrorKind::Corrupt, op, &place).because(format!("{document} is damaged"));
        failure.next_step("restore it from a backup of the store").with_source(error)
    })?;
    Ok(Some((value, number)))
}

/// Stores a small document as JSON, if the version is the expected one. Gives the number of the new version, none if it was another one.
pub(crate) async fn write_json(
    op: Op,
    place: impl fmt::Display,
    document: &Document,
    value: &impl serde::Serialize,
    by: &str,
    expect: Expect,
) -> Result<Option<u64>> {
    let text = serde_json::to_vec(value)
        .map_err(|error| Error::new(ErrorKind::Internal, op, &place).with_source(error))?;
    let written = async {
        let content = document.content(text).await?;
        document.write(&content, &WriteOptions::default().by(by).expect(expect)).await
    };
    match written.await.map_err(|error| Error::of_document(op, &place, error))? {
        WriteOutcome::Written(version) => Ok(Some(version.number)),
        WriteOutcome::Unchanged(version) => Ok(version.map(|version| version.number)),
        _ => Ok(None),
    }
}
