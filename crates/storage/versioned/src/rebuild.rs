//! Making the head of a document anew from the records of its versions.

use groundstate_blobs::{Precondition, PutOptions};

use crate::check::leads_to;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::head::{Head, Uploads};
use crate::ids::{AttemptId, VersionId};
use crate::layout::RecordKey;
use crate::op::Op;
use crate::sweep::{Data, unexplained};
use crate::traced;

/// How far revision and token of a head that is made anew are beyond all that the lost one can have had.
const BEYOND: u64 = 1 << 32;

/// A head that was made anew, or would be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rebuilt {
    /// The head. A lock that the lost head had is not in it.
    pub head: Head,
    /// How many records of versions there are.
    pub records: u64,
    /// The blob that has what lay in place of the head; none if nothing did.
    pub copy: Option<String>,
}

impl Document {
    /// Says which head [`rebuild`](Self::rebuild) would store. Nothing is changed.
    ///
    /// # Errors
    ///
    /// Errors of [`rebuild`](Self::rebuild).
    pub async fn plan_rebuild(&self, last: Option<&VersionId>) -> Result<Rebuilt> {
        traced::run(Op::Repair, self, async { Ok(self.plan(last).await?.0) }).await
    }

    /// Makes the head anew, where it is missing, damaged, or was put back to an earlier state. The last version is the one with the largest number.
    /// Where several records have that number, `last` says which; writes that were never accepted leave such records.
    ///
    /// Every version whose record is there is in the history again. The fencing token is larger than any that the lost head can have given. The damaged head
    /// is kept under another key.
    ///
    /// # Errors
    ///
    /// `Invalid` if the head is whole, or if it is not known which version is the last; `Corrupt` if records contradict the
    /// head that is there; and those of the store.
    pub async fn rebuild(&self, last: Option<&VersionId>) -> Result<Rebuilt> {
        const OP: Op = Op::Repair;
        traced::run(OP, self, async {
            let (rebuilt, found) = self.plan(last).await?;
            if let (Some(copy), Some(blob)) = (&rebuilt.copy, &found) {
                self.put_once(OP, copy, blob.bytes.clone()).await?;
            }
            let bytes = rebuilt.head.write(self.name()).map_err(|error| self.unwritable(OP, error))?;
            let version = found.as_ref().map(|blob| blob.version());
            let condition = PutOptions::expecting(Precondition::of(version));
            let key = self.key(OP, self.layout().head())?;
            self.store().put(&key, bytes, &condition).await.map_err(|error| self.failed(OP, error))?;
            Ok(rebuilt)
        })
        .await
    }

    /// The head that would be stored, and what is in its place.
    async fn plan(&self, last: Option<&VersionId>) -> Result<(Rebuilt, Option<groundstate_blobs::Blob>)> {
        const OP: Op = Op::Repair;
        let found = self.head_blob(OP).await?;
        let present = found.as_ref().and_then(|blob| self.stored(OP, blob).ok()).map(|stored| stored.head);
        let data = self.data(OP).await?;
        let invalid = |why: String| Error::new(ErrorKind::Invalid, OP, self.place()).because(why);
        let is_nothing = found.is_none() && data.records.is_empty() && data.parts.is_empty();
        if is_nothing || present.as_ref().is_some_and(|head| unexplained(head, &data).is_none()) {
            return Err(invalid("its head is whole".to_owned()));
        }
        let chain = chain(&data, last).map_err(invalid)?;
        if let Some(head) = present.as_ref().filter(|head| !leads_to(head, &chain)) {
            let last = head.number();
            return Err(Error::new(ErrorKind::Corrupt, OP, self.place())
                .because(format!(
                    "two histories of it are there: version {last} of its head is in none of the other"
                ))
                .next_step("read the versions of both, and restore the head from a backup of the store"));
        }
        let id = AttemptId::new(&*self.context().ids).map_err(|error| self.no_id(OP, error))?;
        let copy = found.as_ref().map(|_| self.layout().lost_head(&id));
        let base = present.unwrap_or_else(|| Head::absent(self.now()));
        let head = self.head_of(base, id, &chain, &data).await?;
        let records = data.records.values().map(Vec::len).sum::<usize>() as u64;
        Ok((Rebuilt { head, records, copy }, found))
    }

    async fn head_of(&self, base: Head, id: AttemptId, chain: &[RecordKey], data: &Data) -> Result<Head> {
        const OP: Op = Op::Repair;
        let mut head = base;
        head.attempts.push(id);
        let mut token = head.token;
        for (key, _) in data.records.values().flatten() {
            // A damaged record of an old version is a finding of its own.
            if let Ok(Some(version)) = self.read_line(OP, key).await {
                token = token.max(version.token.unwrap_or_default());
            }
        }
        head.token = token.saturating_add(BEYOND);
        head.last = match chain.first() {
            Some(key) => Some(self.read_line(OP, key).await?.ok_or_else(|| self.lost(OP, key.number))?),
            None => None,
        };
        head.revision = head.revision.saturating_add(head.number()).saturating_add(BEYOND);
        head.oldest = data.records.keys().next().copied().unwrap_or(1);
        let of_records = data.records.values().flatten().filter_map(|(key, _)| key.upload.as_ref());
        let epoch = data.parts.keys().chain(of_records).map(|upload| upload.epoch()).max();
        let epoch = epoch.unwrap_or_default().max(head.uploads.epoch);
        head.uploads = Uploads { epoch, given_up_before: head.uploads.given_up_before, since: None };
        head.problem().map_or(Ok(head), |problem| {
            Err(Error::new(ErrorKind::Corrupt, OP, self.place()).because(problem))
        })
    }
}

/// The records from the last version back, as far as each names the one before.
fn chain(data: &Data, last: Option<&VersionId>) -> Result<Vec<RecordKey>, String> {
    let Some((&number, records)) = data.records.iter().next_back() else { return Ok(Vec::new()) };
    let of_last = || records.iter().filter(|(key, _)| last.is_none_or(|id| key.id == *id));
    let mut key = match (of_last().count(), of_last().next()) {
        (1, Some((key, _))) => key.clone(),
        _ => {
            let ids: Vec<&str> = records.iter().map(|(key, _)| key.id.as_str()).collect();
            return Err(format!(
                "version {number} is the last, and it has the ids {}: it is not known which was accepted",
                ids.join(" and ")
            ));
        }
    };
    let mut chain = vec![key.clone()];
    while let Some(previous) = key.previous.clone() {
        let before = data.records.get(&(key.number - 1));
        let Some((found, _)) = before.and_then(|records| records.iter().find(|(key, _)| key.id == previous))
        else {
            break;
        };
        key = found.clone();
        chain.push(key.clone());
    }
    Ok(chain)
}
