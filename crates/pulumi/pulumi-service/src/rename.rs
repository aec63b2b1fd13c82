//! Giving a stack another name: its place in lists, the names of its resources, and where its secrets say they belong.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use groundstate_json::RawJson;
use groundstate_pulumi_integrity::{RenameStack, rename_stack};
use groundstate_versioned::{Head, Lock, NewLock, Step};

use crate::deployment;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::path::StackPath;
use crate::record::{Holder, UpdateResult, VersionNote};
use crate::stack::Stack;
use crate::traced;

const OP: Op = Op::Rename;
/// How long a node has. Another one goes on behind that.
const LEASE: Duration = Duration::from_secs(60);

impl Stack {
    /// Gives the stack another name, and its resources the names that belong to it. Its id, its history and its secrets stay.
    /// The former name leads to it for its secrets until another stack takes it. A rename that is interrupted is carried on by the next
    /// request for the stack.
    ///
    /// # Errors
    ///
    /// `Exists` for a name that is taken, `Invalid` for another owner, `Running`, and those of the store.
    pub async fn rename(&self, to: &StackPath, by: &str) -> Result<Self> {
        Box::pin(traced::on_stack(OP, self, self.renaming(to, by))).await
    }

    async fn renaming(&self, to: &StackPath, by: &str) -> Result<Self> {
        if to.owner() != self.path().owner() {
            return Err(self.error(ErrorKind::Invalid, OP).because("a stack cannot have another owner"));
        }
        if to == self.path() {
            return Ok(self.clone());
        }
        self.settled(OP).await?;
        if let Some(bucket) = self.bucket()
            && bucket.exists(to).await?
        {
            let exists = Error::new(ErrorKind::Exists, OP, to);
            return Err(exists.because(format!("stack {to} already exists in {bucket}")));
        }
        let id = format!("rename-{}", self.stacks.new_id(OP, self.path())?);
        let document = serde_json::to_vec(&Holder::Rename { from: self.path().clone(), to: to.clone() })
            .map_err(|error| self.error(ErrorKind::Internal, OP).with_source(error))?;
        let lock = NewLock::new(&id).document(document).lease(Some(LEASE)).by(by);
        let decide = |head: &Head| {
            self.check_free(OP, head)?;
            Ok::<_, Error>(Step::lock(lock.clone()))
        };
        let stepped = self.versions_document().step(decide).await;
        let head = stepped.map_err(|error| self.failed(OP, error))??.head;
        let lock = head.lock_of(&id).cloned().ok_or_else(|| self.is_running(OP))?;
        match self.stacks.claim(OP, to, self.id(), by).await {
            Ok(true) => self.carry_through(OP, &lock, [self.path(), to]).await,
            taken => {
                self.release(OP, &lock).await?;
                taken?;
                Err(Error::new(ErrorKind::Exists, OP, to).because(format!("stack {to} already exists")))
            }
        }
    }

    /// Goes on with a rename whose node has gone: to its end if the new name leads here, else back.
    pub(crate) async fn resume_rename(&self, op: Op, lock: &Lock, names: [&StackPath; 2]) -> Result<()> {
        let found = self.stacks.find_known(op, names[1]).await?;
        let leads_here = found.is_some_and(|stack| stack.id() == self.id());
        match leads_here {
            true => self.carry_through(op, lock, names).await.map(drop),
            false => match self.bucket() {
                Some(bucket) => self.give_rename_up(op, bucket, lock, names).await,
                None => self.release(op, lock).await,
            },
        }
    }

    /// Whether it has this name, or a rename to it has begun and is not over. A stack that is gone has none.
    pub(crate) async fn is_called(&self, op: Op, path: &StackPath) -> Result<bool> {
        let head = self.head(op).await?;
        if head.current().is_none() || self.path() == path {
            // One that another program has removed from its bucket is gone.
            let is_removed = match self.bucket().filter(|_| head.recorded_lock().is_none()) {
                Some(bucket) => !bucket.exists(path).await?,
                None => false,
            };
            return Ok(head.current().is_some() && !is_removed);
        }
        let holder = head.recorded_lock().and_then(crate::stack::holder);
        Ok(matches!(holder, Some(Holder::Rename { to, .. }) if to == *path))
    }

    async fn carry_through(&self, op: Op, lock: &Lock, [from, to]: [&StackPath; 2]) -> Result<Self> {
        if let Some(bucket) = self.bucket() {
            return self.rename_in_bucket(op, bucket, lock, [from, to]).await;
        }
        let reader = self.versions_document().read().await.map_err(|error| self.failed(op, error))?;
        let reader = reader.ok_or_else(|| self.error(ErrorKind::NotFound, op))?;
        let before = VersionNote::of(reader.version());
        let state = reader.collect(usize::MAX).await.map_err(|error| self.failed(op, error))?;
        let renamed = self.renamed_state(op, &state, from, to)?;
        let stack = self.change_record(op, &lock.by, |record| record.path = to.clone()).await?;
        let content = self.versions_document().content(renamed).await;
        let content = content.map_err(|error| self.failed(op, error))?;
        let now = self.stacks.now();
        let note =
            VersionNote::new("rename", UpdateResult::Succeeded, lock.taken, now).counted(&before.counts());
        let options = note.options(op, to, &lock.by)?.lock(&lock.id);
        let decide = |head: &Head| match head.lock_of(&lock.id) {
            Some(_) => Ok::<_, Error>(Step::write(content.clone(), options.clone()).and(Step::release())),
            // Another node carried it through.
            None => Ok(Step::nothing()),
        };
        self.versions_document().step(decide).await.map_err(|error| self.failed(op, error))??;
        Ok(stack)
    }

    /// Releases the lock, also if its lease is over. If it is another one's by now, there is nothing to release.
    async fn release(&self, op: Op, lock: &Lock) -> Result<()> {
        self.versions_document().unlock(&lock.id).await.map(drop).map_err(|error| self.failed(op, error))
    }

    /// The state with the names of resources that belong to another name of the stack.
    fn renamed_state(&self, op: Op, state: &Bytes, from: &StackPath, to: &StackPath) -> Result<Bytes> {
        let mut file = deployment::read(op, self.path(), state)?;
        let Some(snapshot) = &mut file.snapshot else { return Ok(state.clone()) };
        let rename = RenameStack::new(from.stack(), to.stack())
            .old_project(from.project())
            .new_project(to.project())
            .force(true);
        rename_stack(snapshot, &rename).map_err(|error| {
            let failure = self.error(ErrorKind::Conflict, op).because(error.to_string());
            failure.next_step("repair the state first").with_source(error)
        })?;
        if let Some(provider) = &mut snapshot.secrets_provider
            && *provider.kind == *"service"
            && let Some(state) = provider.state.as_ref().and_then(|state| renamed_secrets(state, from, to))
        {
            provider.state = Some(state);
        }
        deployment::write(op, to, file)
    }
}

/// What the secrets provider of the service says of the stack, under another name; none if it does not speak of this stack.
fn renamed_secrets(state: &RawJson, from: &StackPath, to: &StackPath) -> Option<RawJson> {
    let mut members: BTreeMap<String, serde_json::Value> = serde_json::from_str(state.as_str()).ok()?;
    let names = [("owner", from.owner()), ("project", from.project()), ("stack", from.stack())];
    if !names
        .iter()
        .all(|(member, name)| members.get(*member).and_then(|value| value.as_str()) == Some(*name))
    {
        return None;
    }
    for (member, name) in [("owner", to.owner()), ("project", to.project()), ("stack", to.stack())] {
        members.insert(member.to_owned(), name.into());
    }
    RawJson::parse_as_written(&serde_json::to_string(&members).ok()?).ok()
}
