//! Removing old segments, so that what stays can still be verified.

use crate::checkpoint::Checkpoint;
use crate::error::{ErrorKind, Result};
use crate::event::{Event, Outcome};
use crate::head::Head;
use crate::location::{Location, segment_name};
use crate::log::AuditLog;
use crate::op::Op;
use crate::segment::Segment;

const OP: Op = Op::Retain;

/// The action of the entry that signs off what is removed.
pub(crate) const ACTION: &str = "audit.retain";

/// What was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// The number of segments.
    pub segments: u64,
    /// What stands before the first entry that is kept.
    pub start: Checkpoint,
}

/// Removes the segments that have no entry behind `signed`: a checkpoint that the operator has kept, and signs off. The last segment
/// always stays.
///
/// An entry in the chain says what was removed and why, before anything is; a log whose beginning is missing without such an
/// entry is not intact. Removal that is interrupted goes on with the next call.
///
/// # Errors
///
/// `Corrupt` when the log does not have the checkpoint, and for whatever else [`verify`](crate::verify) finds; those of the store and of [`AuditLog::record`].
pub async fn retain(log: &AuditLog, signed: Checkpoint, actor: &str, reason: &str) -> Result<Removed> {
    let location = log.location();
    let report = crate::verify(location, Some(signed)).await?;
    if let Some(finding) = report.findings.first() {
        let error = location.error(ErrorKind::Corrupt, OP);
        return Err(error.because(format!("it is not intact, so nothing is removed: {finding}")));
    }
    let (first, start) = first_to_stay(location, signed).await?;
    let old: Vec<u64> = location.segments(OP).await?.0.into_iter().filter(|number| *number < first).collect();
    if old.is_empty() {
        return Ok(Removed { segments: 0, start: report.start });
    }
    let event = Event::new(actor, ACTION, start.to_string(), Outcome::Done);
    log.record(event.reason(reason)).await?;
    let moved =
        |head: Head| (head.first_segment < first).then_some(Head { first_segment: first, start, ..head });
    location.change_head(OP, moved).await?;
    for number in &old {
        location.delete(OP, &segment_name(*number)).await?;
    }
    Ok(Removed { segments: old.len() as u64, start })
}

/// The segment that becomes the first: the last that begins at the checkpoint or before it.
async fn first_to_stay(location: &Location, signed: Checkpoint) -> Result<(u64, Checkpoint)> {
    let mut stay = (1, Checkpoint::default());
    for number in location.segments(OP).await?.0 {
        let Some(blob) = location.get(OP, &segment_name(number)).await? else { continue };
        let segment = Segment::parse(&blob.bytes).ok_or_else(|| location.error(ErrorKind::Corrupt, OP))?;
        let before = segment.start();
        if before.count > signed.count {
            break;
        }
        stay = (number, before);
    }
    Ok(stay)
}
