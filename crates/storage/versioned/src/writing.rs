//! The head and the record that an attempt writes.

use std::convert::Infallible;

use bytes::Bytes;

use crate::content;
use crate::digest::Digests;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::head::{Head, Pin};
use crate::ids::{AttemptId, UploadId, VersionId};
use crate::layout::RecordKey;
use crate::op::Op;
use crate::reader::read_record;
use crate::record::{self, Body};
use crate::step::{PinStep, Refused, Step, VersionStep};
use crate::stepping::{Attempt, Stepped};
use crate::version::Version;
use crate::wire::Extra;

impl Document {
    /// Makes the head of an attempt, and stores the record of its version.
    pub(crate) async fn prepare(&self, op: Op, head: &Head, step: &Step) -> Result<Attempt> {
        let refused = |refused: Refused| self.refused(op, &refused);
        step.check().map_err(refused)?;
        let id = AttemptId::new(&*self.context().ids).map_err(|error| self.no_id(op, error))?;
        let mut next = head.next(id.clone());
        step.apply_before(&mut next).map_err(refused)?;
        let (mut written, mut record) = (None, None);
        if let Some(change) = &step.version {
            let (version, body) = self.new_version(op, &next, change).await?;
            let bytes =
                record::write(self.name(), &version, &body).map_err(|error| self.unwritable(op, error))?;
            let key = self.layout().record(&RecordKey::of(&version));
            record = Some(self.put_once(op, &key, bytes).await?);
            written = Some(version.clone());
            Step::apply_version(&mut next, version);
        }
        let lock = step.lock.is_some().then(|| next.lock.clone()).flatten();
        let pin = match step.pin {
            Some(PinStep::Pin(number)) => Some(Pin { number, id: self.version_id(op, &next, number).await? }),
            _ => None,
        };
        step.apply_after(&mut next, pin).map_err(refused)?;
        let stepped = Stepped { head: next, version: written, lock, changed: true };
        Ok(Attempt { id, stepped, record, may_arrive: false })
    }

    async fn new_version(&self, op: Op, head: &Head, change: &VersionStep) -> Result<(Version, Body)> {
        let options = change.options();
        let lock = match &options.lock {
            None => None,
            Some(id) => Some(
                head.lock_of(id)
                    .ok_or(Refused::Invalid("the document has not the lock of this id"))
                    .map_err(|refused| self.refused(op, &refused))?,
            ),
        };
        let (body, restored, upload, size, sha256, md5) = match change {
            VersionStep::Write(content, _) => {
                let content = &*content.0;
                self.check_content(op, head, content)?;
                (
                    content.body.clone(),
                    None,
                    content.upload.clone(),
                    content.size,
                    content.sha256,
                    content.md5,
                )
            }
            VersionStep::Delete(_) => {
                let nothing = Digests::default();
                let (sha256, md5) = nothing.finish();
                (Body::Inline(Bytes::new()), None, None, 0, sha256, md5)
            }
            VersionStep::Restore(number, _) => {
                let old = self.version_of(op, head, *number).await?;
                if old.deleted {
                    let error = Error::new(ErrorKind::Invalid, op, self.place());
                    return Err(error.because(format!("version {number} is a deletion, it has no content")));
                }
                let (old, body) = read_record(self, &old).await?;
                (body, Some(*number), old.upload, old.size, old.sha256, old.md5)
            }
        };
        let id = VersionId::new(&*self.context().ids, head.now).map_err(|error| self.no_id(op, error))?;
        let version = Version {
            number: head.number() + 1,
            id,
            previous: head.last().map(|last| last.id.clone()),
            time: head.now,
            by: options.by.clone(),
            deleted: matches!(change, VersionStep::Delete(_)),
            size,
            sha256,
            md5,
            lock: options.lock.clone(),
            token: lock.map(|lock| lock.token),
            restored,
            note: options.note.clone(),
            upload,
            extra: Extra::new(),
        };
        Ok((version, body))
    }

    /// The id of an upload that begins now. The document has a head then, by which sweeps find the parts.
    pub(crate) async fn begin_upload(&self) -> Result<UploadId> {
        const OP: Op = Op::Upload;
        let mut decide = |head: &Head| match head.revision {
            0 => Ok::<_, Infallible>(Step::fence()),
            _ => Ok(Step::nothing()),
        };
        let Ok(stepped) = self.step_as(OP, &mut decide).await?;
        let epoch = stepped.head.uploads.epoch;
        UploadId::new(&*self.context().ids, epoch).map_err(|error| self.no_id(OP, error))
    }

    fn refused(&self, op: Op, refused: &Refused) -> Error {
        let (kind, why) = match refused {
            Refused::Invalid(why) => (ErrorKind::Invalid, why),
            Refused::TooLarge(why) => (ErrorKind::TooLarge, why),
        };
        Error::new(kind, op, self.place()).because(*why)
    }

    /// Refuses a content of another document, and one that a sweep may have removed.
    fn check_content(&self, op: Op, head: &Head, content: &content::Inner) -> Result<()> {
        if content.document != *self.name() {
            let error = Error::new(ErrorKind::Invalid, op, self.place());
            return Err(error.because("the content was uploaded for another document"));
        }
        match &content.upload {
            Some(upload) if upload.epoch() < head.uploads.given_up_before => {
                let error = Error::new(ErrorKind::Expired, op, self.place());
                Err(error.next_step("upload the content again"))
            }
            _ => Ok(()),
        }
    }
}
