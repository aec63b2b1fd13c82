//! Planning a move: reads, and no write.

use bytes::Bytes;
use groundstate_pulumi_integrity::{IntegrityError, IntegrityOperation, RenameStack, rename_stack};

use super::objects::Naming;
use super::{Intent, NewCheckpoint, OP, RelocateOptions, Relocation};
use crate::journal::digest;
use crate::stack::{Checkpoint, Selection, Variant};
use crate::{Compression, ErrorKind, Result, Stack};

/// The checkpoint under the new name, as far as names go.
struct Rewritten {
    bytes: Bytes,
    compression: Compression,
    changed: usize,
    warnings: Vec<String>,
}

impl Stack {
    /// Plans to move this stack: to another name in the same bucket, or to another bucket under any name. URNs and the name of the
    /// root follow the name, wherever they stand; tags, history, backups and other copies go along. Encrypted values are not
    /// looked into.
    ///
    /// The locks of both stacks have to be held from here to the end of [`Relocation::carry_out`]; to show a plan none is needed.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound); [`Exists`](ErrorKind::Exists) if the name is taken; [`Invalid`](ErrorKind::Invalid) if the
    /// target is the stack itself, or if the source is to be kept within one bucket;
    /// [`Changed`](ErrorKind::Changed) while the journal of a killed update waits, while another move of this stack has begun, and if a
    /// move was killed and both stacks have changed since; [`Corrupt`](ErrorKind::Corrupt) and [`Broken`](ErrorKind::Broken) for a
    /// checkpoint that cannot be rewritten; those of requests.
    pub async fn relocation(&self, target: &Self, options: RelocateOptions) -> Result<Relocation> {
        self.checked(OP)?;
        target.checked(OP)?;
        let is_same_bucket = self.backend().to_string() == target.backend().to_string();
        if is_same_bucket && self.backend().layout() == target.backend().layout() {
            if self.reference() == target.reference() {
                let failure = self.failed(ErrorKind::Invalid, OP).because("it is there already");
                return Err(failure.next_step("choose another name"));
            }
            if options.keep_source {
                let failure = self.failed(ErrorKind::Invalid, OP);
                return Err(failure.because("a stack is copied to another bucket only"));
            }
        }
        for stack in [self, target] {
            if stack.has_journal().await? {
                return Err(stack.unrecovered(OP));
            }
        }
        let begun = self.begun(target, is_same_bucket).await?;
        let Selection { active, others, .. } = self.select().await?;
        let present = match active {
            Some(active) => self.read_object(&active.key).await?,
            None => None,
        };
        let there = target.select().await?.active;
        match (present, there, begun) {
            (None, _, None) => Err(self.failed(ErrorKind::NotFound, OP)),
            (None, None, Some(_)) => {
                let failure = self.failed(ErrorKind::Corrupt, OP);
                let reason =
                    format!("a move to {} has begun, and neither stack is there", target.reference());
                Err(failure.because(reason).next_step("restore a copy of one of them"))
            }
            (Some(_), Some(there), None) => {
                let failure = target.failed(ErrorKind::Exists, OP);
                let reason = format!("{} has a state", there.key);
                Err(failure.because(reason).next_step("choose another name, or remove that stack first"))
            }
            (present, Some(_), Some(intent)) => {
                self.refuse_two_states(target, present.as_ref(), &intent)?;
                let plan = Relocation::new([self, target], options, intent, present, others);
                plan.resumed().with_objects().await
            }
            (Some(present), None, begun) => {
                let rewritten = self.rewritten(target, &present, options)?;
                let stamp = begun.as_ref().map_or_else(|| target.backend().stamp(), |begun| begun.stamp);
                let intent = Intent::new(self, target, [&present.stored, &rewritten.bytes], stamp);
                let is_resumed = begun.as_ref() == Some(&intent);
                let key = target.checkpoint_key(OP, rewritten.compression)?;
                let mut plan = Relocation::new([self, target], options, intent, Some(present), others);
                plan.document = Some(NewCheckpoint { key, bytes: rewritten.bytes });
                (plan.changed, plan.warnings) = (rewritten.changed, rewritten.warnings);
                plan.is_resumed = is_resumed;
                plan.with_objects().await
            }
        }
    }

    /// Refuses to go on if the stack was updated under its old name after it was written under the new one.
    fn refuse_two_states(&self, target: &Self, present: Option<&Checkpoint>, intent: &Intent) -> Result<()> {
        if present.is_none_or(|present| digest(&present.stored) == intent.source) {
            return Ok(());
        }
        let failure = self.failed(ErrorKind::Changed, OP);
        let reason = format!(
            "its move to {} was killed, and it has been updated since, so both have a state of their own",
            target.reference()
        );
        let step = "compare them, and remove the one that is outdated; then repeat the move";
        Err(failure.because(reason).next_step(step))
    }

    /// The move to this target that has begun, if it is of this stack. Any other one of either is an error.
    async fn begun(&self, target: &Self, is_same_bucket: bool) -> Result<Option<Intent>> {
        let busy = |intent: &Intent| {
            let failure = self.failed(ErrorKind::Changed, OP);
            failure
                .because(format!("{intent} and was killed"))
                .next_step("end that one first: give the same command again")
        };
        if let Some(intent) = Intent::of(target).await? {
            return match intent.is_from(self, target.backend()) {
                true => Ok(Some(intent)),
                false => Err(busy(&intent)),
            };
        }
        if is_same_bucket {
            let (from, own) = (self.reference().to_string(), target.backend());
            let all = Intent::all(own).await?;
            if let Some(other) = all.iter().find(|one| one.is_from(self, own) || one.to == from) {
                return Err(busy(other));
            }
        }
        Ok(None)
    }

    fn rewritten(&self, target: &Self, present: &Checkpoint, options: RelocateOptions) -> Result<Rewritten> {
        let compression = present.compression;
        if self.reference() == target.reference() {
            let bytes = present.stored.clone();
            let (changed, warnings) = (0, Vec::new());
            return Ok(Rewritten { bytes, compression, changed, warnings });
        }
        let mut file = present.decode()?;
        let (mut changed, mut warnings) = (0, Vec::new());
        if let Some(snapshot) = &mut file.snapshot {
            let was_whole = IntegrityError::check(snapshot, IntegrityOperation::Write).is_ok();
            let (old, new) = (self.reference(), target.reference());
            let mut rename =
                RenameStack::new(old.stack().as_str(), new.stack().as_str()).force(options.force);
            let first = snapshot.resources.first().map(|resource| resource.urn.project().to_owned());
            if let Some(project) = old.project().map(ToString::to_string).or(first) {
                rename = rename.old_project(project);
            }
            if let Some(project) = new.project() {
                rename = rename.new_project(project.as_str());
            }
            let renamed = rename_stack(snapshot, &rename).map_err(|error| {
                let failure = self.failed(ErrorKind::Broken, OP).because(error.to_string());
                failure.next_step("repair the stack first, or force the move").with_source(error)
            })?;
            if let Err(error) = IntegrityError::check(snapshot, IntegrityOperation::Write) {
                let failure = self.failed(ErrorKind::Broken, OP);
                match was_whole {
                    true => {
                        let reason = format!("the state under the new name would not be valid: {error}");
                        return Err(failure.because(reason).with_source(error));
                    }
                    false => warnings.push(format!("the state is not valid, and stays so: {error}")),
                }
            }
            changed = renamed.changed;
            warnings.extend(renamed.warnings);
            if renamed.sealed > 0 && old.stack() != new.stack() {
                warnings.push(format!(
                    "{} encrypted values were not looked into; names of resources in them stay as they are",
                    renamed.sealed
                ));
            }
        }
        let document = target.document(&file)?;
        let packed = compression.pack(&document).map_err(|error| {
            self.failed(ErrorKind::Internal, OP).because("it cannot be compressed").with_source(error)
        })?;
        let bytes = Bytes::from(packed.into_owned());
        Ok(Rewritten { bytes, compression, changed, warnings })
    }
}

impl Relocation {
    fn new(
        [source, target]: [&Stack; 2],
        options: RelocateOptions,
        intent: Intent,
        present: Option<Checkpoint>,
        outdated: Vec<Variant>,
    ) -> Self {
        Self {
            source: source.clone(),
            target: target.clone(),
            options,
            intent,
            is_resumed: false,
            present,
            outdated,
            document: None,
            objects: Vec::new(),
            changed: 0,
            warnings: Vec::new(),
        }
    }

    fn resumed(mut self) -> Self {
        self.is_resumed = true;
        self
    }

    async fn with_objects(mut self) -> Result<Self> {
        let naming = Naming {
            source: &self.source,
            target: &self.target,
            stamp: self.intent.stamp,
            is_rewritten: self.intent.is_rewritten(),
            outdated: &self.outdated,
        };
        self.objects = naming.objects().await?;
        Ok(self)
    }
}
