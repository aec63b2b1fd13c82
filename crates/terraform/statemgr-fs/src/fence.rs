//! The count of tokens at a place, in a file beside the state.

use std::fs::File;
use std::io;

use groundstate_common::Timestamp;
use groundstate_statemgr::FencingToken;

use crate::files::read_text;
use crate::replace::put;
use crate::state_path::StatePath;

/// The newest token that was granted.
pub(crate) fn newest(place: &StatePath) -> io::Result<Option<FencingToken>> {
    let text = read_text(&place.fence())?;
    Ok(text.and_then(|text| text.trim().parse().ok()).map(FencingToken::new))
}

/// Grants the next token. The caller holds the lock.
///
/// Tokens are microseconds unless these do not grow, so they grow also where the file was lost, with its folder or to
/// a crash of the machine; that is why it is not synced.
pub(crate) fn grant(place: &StatePath, now: Timestamp, model: &File) -> io::Result<FencingToken> {
    let seconds = u64::try_from(now.seconds()).unwrap_or(0);
    let micros = seconds.saturating_mul(1_000_000).saturating_add(u64::from(now.nanos() / 1000));
    let next = newest(place)?.map_or(0, FencingToken::get).checked_add(1).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, "there is no larger token, remove the file with the count")
    })?;
    let token = FencingToken::new(next.max(micros));
    put(&place.fence(), format!("{token}\n").as_bytes(), model)?;
    Ok(token)
}
