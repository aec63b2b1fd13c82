//! Where a journal of its own lies: in a directory, or in an object store.

use std::env;
use std::path::Path;
use std::sync::Arc;

use groundstate_blobs::Context;
use groundstate_blobs_cloud::BlobUrl;
use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::TokioSleeper;
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::fs::FsJournal;
use groundstate_wal::{ErrorKind, JournalStore};

use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Result};

/// The journal that an argument names; `None` if it names a text.
pub(super) fn store(argument: &Path) -> Result<Option<Arc<dyn JournalStore>>> {
    match argument.to_str().filter(|text| text.contains("://")) {
        Some(url) => remote(url).map(Some),
        None if argument.is_dir() => Ok(Some(Arc::new(FsJournal::new(argument)))),
        None => Ok(None),
    }
}

fn remote(text: &str) -> Result<Arc<dyn JournalStore>> {
    let refused = |error: groundstate_blobs::Error| Failure::new(Kind::Usage, chain(&error));
    let url = BlobUrl::parse(text).map_err(refused)?;
    let Some(prefix) = url.key().map(ToString::to_string) else {
        let message = format!("{url} names no journal");
        return Err(
            Failure::new(Kind::Usage, message).hint("name the prefix of its objects behind the container")
        );
    };
    let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
    let blobs = url.open(&context, &|name| env::var(name).ok()).map_err(refused)?;
    let journal = BlobJournal::new(blobs, &prefix, Arc::new(OsIds)).map_err(|error| failure(&error))?;
    Ok(Arc::new(journal))
}

/// What keeps a journal from being used.
pub(super) fn failure(error: &groundstate_wal::Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::Corrupt => Kind::Unusable,
        ErrorKind::Locked => Kind::Locked,
        ErrorKind::Fenced | ErrorKind::Ambiguous => Kind::Conflict,
        ErrorKind::Denied => Kind::Denied,
        ErrorKind::Unavailable => Kind::Unreachable,
        _ => Kind::of_cause(error).unwrap_or(Kind::NoState),
    };
    Failure::new(kind, chain(error))
}
