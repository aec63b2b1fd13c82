//! Contents of versions for reading, as whole models.

use bytes::Bytes;
use groundstate_statefile::{DecodeOptions, File, ReadError, decode};
use groundstate_versioned::{Document, Head, Version};

use crate::caller::Access;
use crate::problem::{Problem, ProblemType};
use crate::scan::aside;
use crate::terraform::Refusal;

/// A document with its head.
pub(super) struct Opened {
    pub(super) document: Document,
    pub(super) head: Head,
}

impl Opened {
    pub(super) async fn of(access: &Access) -> Result<Self, Refusal> {
        let document = access.document();
        let head = document.head().await?;
        Ok(Self { document, head })
    }

    /// The version of this number, or the present one.
    ///
    /// # Errors
    ///
    /// If the history does not have it, or there is none.
    pub(super) async fn version(&self, access: &Access, number: Option<u64>) -> Result<Version, Refusal> {
        match number {
            Some(number) => Ok(self.document.version(number).await?),
            None => match self.head.current() {
                Some(version) => Ok(version.clone()),
                None if self.head.number() > 0 => {
                    let detail = format!("{} was deleted; its history has what it was", access.path);
                    Err(Problem::new(ProblemType::NotFound, detail).into())
                }
                None => Err(super::state::never_written(&access.path).into()),
            },
        }
    }
}

/// Reads a content as a whole, and makes the model of it.
///
/// # Errors
///
/// If it is too large to be in memory, or is no state that can be read.
pub(super) async fn load(access: &Access, document: &Document, version: &Version) -> Result<File, Refusal> {
    let limit = access.app.limits().analysed_bytes;
    if version.size > limit as u64 {
        let detail = format!(
            "version {} has {} bytes, and {limit} are analysed at most",
            version.number, version.size
        );
        return Err(Problem::new(ProblemType::TooLarge, detail).into());
    }
    let bytes = collect(access, document, version).await?;
    let permit = access.app.analysis().await?;
    let number = version.number;
    let decoded = aside(move || {
        let decoded = decode(&bytes, &DecodeOptions::default());
        drop(permit);
        decoded
    });
    decoded.await?.map_err(|error| unreadable(number, &error).into())
}

/// A content in memory, with room for the model that is made of it; both are the request's until it is answered.
///
/// # Errors
///
/// If there is no memory for it, and those of the store.
pub(super) async fn collect(
    access: &Access,
    document: &Document,
    version: &Version,
) -> Result<Bytes, Refusal> {
    /// Copies of texts in the model and in what is made of it, and what each value takes beside its text.
    const PER_BYTE: u64 = 3;
    const PER_MARK: u64 = 128;
    let account = access.caller.account();
    account.take_first(version.size.saturating_mul(1 + PER_BYTE)).await.map_err(Problem::from)?;
    let bytes = document.open(version).await?.collect(access.app.limits().analysed_bytes).await?;
    let counting = aside(move || {
        let is_mark = |byte: &&u8| matches!(byte, b',' | b':' | b'[' | b'{');
        (bytes.iter().filter(is_mark).count() as u64, bytes)
    });
    let (marks, bytes) = counting.await?;
    account.take(marks.saturating_mul(PER_MARK)).map_err(Problem::from)?;
    Ok(bytes)
}

/// The problem of a content that is no readable state.
pub(super) fn unreadable(number: u64, error: &ReadError) -> Problem {
    let why = match error.problems() {
        [] => "it is empty".to_owned(),
        [first, ..] => first.to_string(),
    };
    Problem::new(ProblemType::Unreadable, format!("version {number} cannot be read as a state: {why}"))
}
