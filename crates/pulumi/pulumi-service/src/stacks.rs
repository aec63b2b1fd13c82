//! All stacks of a service.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groundstate_blobs::{BlobStore, Context, Key, Prefixed};
use groundstate_common::{Clock as _, IdSource as _, Timestamp};
use groundstate_json::RawJson;
use groundstate_pulumi_protocol::UntypedDeployment;
use groundstate_versioned::{Document, Documents, Expect, ListFilter, Name, WriteOptions};

use crate::bucket::StackBucket;
use crate::deployment::{self, Counts};
use crate::error::{Error, ErrorKind, Result};
use crate::gate;
use crate::keys::ServiceKey;
use crate::lease::LeaseToken;
use crate::live::Live;
use crate::op::Op;
use crate::path::StackPath;
use crate::record::{NameRecord, StackRecord, UpdateResult, VersionNote};
use crate::room::{Endless, Room};
use crate::small::{read_json, write_json};
use crate::stack::Stack;
use crate::update::Update;

/// What the keys of what belongs to updates begin with.
pub(crate) const UPDATES: &str = "pulumi/updates/";
/// What the names of the documents of stacks begin with.
const STACKS: &str = "pulumi/stacks/";
/// What the names of the documents begin with that have what is kept of stacks beside their versions.
pub(crate) const RECORDS: &str = "pulumi/records/";
/// How often a change is tried that others are faster with.
const ATTEMPTS: usize = 8;

/// How the service works.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How long a lease lasts after it was granted or renewed. Pulumi's CLI expects 300 seconds and renews at half of that.
    pub lease: Duration,
    /// The largest state in bytes, decompressed.
    pub state_bytes: usize,
}

impl Default for Options {
    /// Leases of 300 seconds, states of 512 MiB.
    fn default() -> Self {
        Self { lease: Duration::from_secs(300), state_bytes: 512 << 20 }
    }
}

/// The stacks in one container. Clones share it, and any number of processes use one container at a time.
#[derive(Clone)]
pub struct Stacks(Arc<Inner>);

struct Inner {
    documents: Documents,
    blobs: Arc<dyn BlobStore>,
    context: Context,
    key: Option<Arc<dyn ServiceKey>>,
    /// By the owners whose stacks are in them.
    buckets: BTreeMap<String, Arc<dyn StackBucket>>,
    options: Options,
    room: Arc<dyn Room>,
    live: Live,
}

/// How a stack begins. `Debug` does not show the state.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct NewStack {
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// The state it begins with, as an export; none for an empty one.
    pub state: Option<Bytes>,
}

impl fmt::Debug for NewStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewStack")
            .field("tags", &self.tags)
            .field("state_bytes", &self.state.as_ref().map(Bytes::len))
            .finish()
    }
}

impl NewStack {
    /// Sets its tags.
    #[must_use]
    pub fn tags(mut self, tags: BTreeMap<String, String>) -> Self {
        self.tags = tags;
        self
    }

    /// Sets the state it begins with, as an export.
    #[must_use]
    pub fn state(mut self, state: impl Into<Bytes>) -> Self {
        self.state = Some(state.into());
        self
    }
}

impl Stacks {
    /// The stacks in a container, of which the documents are one part and what belongs to updates another.
    pub fn new(documents: Documents, blobs: Arc<dyn BlobStore>, context: Context) -> Self {
        let (key, buckets) = (None, BTreeMap::new());
        let (options, live) = (Options::default(), Live::default());
        Self(Arc::new(Inner {
            documents,
            blobs: Prefixed::wrap(blobs, UPDATES.to_owned()),
            context,
            key,
            buckets,
            options,
            room: Arc::new(Endless),
            live,
        }))
    }

    /// Wraps the data keys of stacks by this key. Without one, secrets cannot be encrypted by the service.
    #[must_use]
    pub fn with_key(self, key: Arc<dyn ServiceKey>) -> Self {
        self.changed(|inner| inner.key = Some(key))
    }

    /// Serves the stacks of a bucket as those of this owner. Every node has to have the same buckets.
    #[must_use]
    pub fn with_bucket(self, owner: impl Into<String>, bucket: Arc<dyn StackBucket>) -> Self {
        self.changed(|inner| drop(inner.buckets.insert(owner.into(), bucket)))
    }

    /// Sets how it works.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        self.changed(|inner| inner.options = options)
    }

    /// Takes the memory of large work from this room. Without one it has no limit.
    #[must_use]
    pub fn with_room(self, room: Arc<dyn Room>) -> Self {
        self.changed(|inner| inner.room = room)
    }

    fn changed(self, change: impl FnOnce(&mut Inner)) -> Self {
        let Inner { documents, blobs, context, key, buckets, options, room, .. } = &*self.0;
        let (documents, blobs, context) = (documents.clone(), Arc::clone(blobs), context.clone());
        let (key, buckets) = (key.clone(), buckets.clone());
        let (options, room, live) = (options.clone(), Arc::clone(room), Live::default());
        let mut inner = Inner { documents, blobs, context, key, buckets, options, room, live };
        change(&mut inner);
        Self(Arc::new(inner))
    }

    /// How it works.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn documents(&self) -> &Documents {
        &self.0.documents
    }

    pub(crate) fn blobs(&self) -> &Arc<dyn BlobStore> {
        &self.0.blobs
    }

    pub(crate) fn context(&self) -> &Context {
        &self.0.context
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.context.clock.now()
    }

    /// Provider that wraps the data keys of stacks.
    pub fn service_key(&self) -> Option<&dyn ServiceKey> {
        self.key().map(|key| &**key)
    }

    pub(crate) fn key(&self) -> Option<&Arc<dyn ServiceKey>> {
        self.0.key.as_ref()
    }

    /// The buckets, by their owners.
    pub(crate) fn buckets(&self) -> &BTreeMap<String, Arc<dyn StackBucket>> {
        &self.0.buckets
    }

    pub(crate) fn room(&self) -> &dyn Room {
        &*self.0.room
    }

    pub(crate) fn live(&self) -> &Live {
        &self.0.live
    }

    pub(crate) fn new_id(&self, op: Op, place: impl fmt::Display) -> Result<String> {
        self.0.context.ids.uuid().map_err(|error| {
            Error::new(ErrorKind::Internal, op, place).because("there is no random id").with_source(error)
        })
    }

    pub(crate) fn versions(&self, id: &str) -> Document {
        self.document(STACKS, id)
    }

    pub(crate) fn record(&self, id: &str) -> Document {
        self.document(RECORDS, id)
    }

    /// The name of the document that has what is kept of a stack beside its versions.
    pub(crate) fn record_name(&self, id: &str) -> Name {
        name_of(RECORDS, id)
    }

    fn document(&self, folder: &str, id: &str) -> Document {
        self.0.documents.document(&name_of(folder, id))
    }

    pub(crate) fn name(&self, path: &StackPath) -> Document {
        self.0.documents.document(&path.document())
    }

    /// The stack of a name.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn stack(&self, path: &StackPath) -> Result<Stack> {
        self.stack_for(Op::Read, path).await
    }

    pub(crate) async fn stack_for(&self, op: Op, path: &StackPath) -> Result<Stack> {
        match self.find(op, path).await? {
            Some(stack) if stack.path() == path => Ok(stack),
            _ => Err(Error::new(ErrorKind::NotFound, op, path).because(format!("there is no stack {path}"))),
        }
    }

    /// An update that runs under this lease, or a preview with this token, as far as this process knows: what it saw of the lease last counts
    /// until that is over, so that a client that goes on costs no request. [`Update::append`] and [`Update::save`] ask the store.
    ///
    /// # Errors
    ///
    /// `LeaseLost` for another token and for an update that has ended, `NotFound`, and those of the store.
    pub async fn leased_update(&self, path: &StackPath, update: &str, token: &LeaseToken) -> Result<Update> {
        let known = self.live().stack(update).filter(|stack| stack.path() == path);
        let stack = match known {
            Some(stack) => stack,
            None => self.stack_for(Op::Save, path).await?,
        };
        let found = stack.update(update);
        found.admit(Op::Save, token).await?;
        Ok(found)
    }

    /// The stack that has a name or had it: states keep the old name of a stack for its secrets.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn stack_of_any_name(&self, path: &StackPath) -> Result<Stack> {
        let found = self.find(Op::Read, path).await?;
        found.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, Op::Read, path).because(format!("there is no stack {path}"))
        })
    }

    /// The stack that the document of a name leads to, whatever it is called now; for an owner with a bucket, the one that is there.
    async fn find(&self, op: Op, path: &StackPath) -> Result<Option<Stack>> {
        match self.buckets().get(path.owner()) {
            Some(bucket) => self.find_in_bucket(op, path, bucket).await,
            None => self.find_known(op, path).await,
        }
    }

    /// The stack that the document of a name leads to.
    pub(crate) async fn find_known(&self, op: Op, path: &StackPath) -> Result<Option<Stack>> {
        let Some((name, _)) = read_json::<NameRecord>(op, path, &self.name(path)).await? else {
            return Ok(None);
        };
        self.by_id(op, &name.stack).await
    }

    /// The stack of an id; none if there is none any more.
    pub(crate) async fn by_id(&self, op: Op, id: &str) -> Result<Option<Stack>> {
        let Some((record, number)) = read_json::<StackRecord>(op, id, &self.record(id)).await? else {
            return Ok(None);
        };
        let bucket = self.bucket_of(op, &record)?;
        Ok(Some(Stack::new(self.clone(), id.to_owned(), record, number).in_bucket(bucket)))
    }

    /// Makes a stack.
    ///
    /// # Errors
    ///
    /// `Exists`, `Invalid` for a state that is no export, and those of the store.
    pub async fn create(&self, path: &StackPath, by: &str, new: NewStack) -> Result<Stack> {
        const OP: Op = Op::Create;
        if let Some(bucket) = self.buckets().get(path.owner()) {
            return self.create_in_bucket(path, bucket, by, new).await;
        }
        let exists =
            || Error::new(ErrorKind::Exists, OP, path).because(format!("stack {path} already exists"));
        // Before anything is stored, for the usual case.
        if let Some(stack) = self.find(OP, path).await?
            && stack.path() == path
            && stack.is_there(OP).await?
        {
            return Err(exists());
        }
        let state = match &new.state {
            Some(state) => {
                let state = deployment::normal(OP, path, state)?;
                if gate::check(OP, path, &state)? != gate::Readable::None {
                    // The stack has no key before it is there.
                    let failure = Error::new(ErrorKind::Invalid, OP, path);
                    let failure = failure.because("secrets of the state stand readable (GS0637)");
                    return Err(failure.next_step("create the stack without a state, then import the state"));
                }
                state
            }
            None => deployment::assemble(3, &[], &RawJson::from_validated(UntypedDeployment::EMPTY)),
        };
        match self.make(OP, path, by, state, StackRecord::new(path, new.tags, self.now())).await? {
            Some(stack) => Ok(stack),
            None => Err(exists()),
        }
    }

    /// Makes what is kept of a stack, and its name; none if the name is another one's.
    pub(crate) async fn make(
        &self,
        op: Op,
        path: &StackPath,
        by: &str,
        state: Bytes,
        record: StackRecord,
    ) -> Result<Option<Stack>> {
        let id = self.new_id(op, path)?;
        let counts = Counts::of(op, path, &state)?;
        let now = self.now();
        let note = VersionNote::new("create", UpdateResult::Succeeded, now, now).counted(&counts);
        let versions = self.versions(&id);
        let content = versions.content(state).await.map_err(|error| Error::of_document(op, path, error))?;
        let options = WriteOptions::default().by(by).note(note.to_note(op, path)?).expect(Expect::Absent);
        versions.write(&content, &options).await.map_err(|error| Error::of_document(op, path, error))?;
        let number = write_json(op, path, &self.record(&id), &record, by, Expect::Absent).await?;
        if self.claim(op, path, &id, by).await? {
            let bucket = self.bucket_of(op, &record)?;
            return Ok(Some(Stack::new(self.clone(), id, record, number.unwrap_or(1)).in_bucket(bucket)));
        }
        // Another client was faster. What was stored for this stack leads nowhere.
        for document in [versions, self.record(&id)] {
            let deleted = document.delete(&WriteOptions::default().by(by)).await;
            deleted.map_err(|error| Error::of_document(op, path, error))?;
        }
        Ok(None)
    }

    /// Makes a name lead to a stack, unless it is the name of another one. Tells whether it does.
    pub(crate) async fn claim(&self, op: Op, path: &StackPath, id: &str, by: &str) -> Result<bool> {
        let document = self.name(path);
        for _ in 0..ATTEMPTS {
            let stored = read_json::<NameRecord>(op, path, &document).await?;
            let expect = match stored {
                Some((name, _)) if name.stack == id => return Ok(true),
                Some((name, number)) => match self.by_id(op, &name.stack).await? {
                    Some(other) if other.is_called(op, path).await? => return Ok(false),
                    // It was the name of a stack that is gone or has another name, and secrets may name it so.
                    _ => {
                        self.note_former(op, path, &name.stack, by).await?;
                        Expect::Number(number)
                    }
                },
                None => Expect::Absent,
            };
            let record = NameRecord { stack: id.to_owned() };
            if write_json(op, path, &document, &record, by, expect).await?.is_some() {
                return Ok(true);
            }
        }
        Err(Error::new(ErrorKind::Unavailable, op, path).because("other clients change it all the time"))
    }

    /// Lets a name go that leads to this stack.
    pub(crate) async fn let_go(&self, op: Op, path: &StackPath, id: &str, by: &str) -> Result<()> {
        let document = self.name(path);
        let Some((name, number)) = read_json::<NameRecord>(op, path, &document).await? else { return Ok(()) };
        if name.stack == id {
            let options = WriteOptions::default().by(by).expect(Expect::Number(number));
            document.delete(&options).await.map_err(|error| Error::of_document(op, path, error))?;
        }
        Ok(())
    }

    /// Ends updates whose leases are over, of all stacks. Gives how many.
    ///
    /// # Errors
    ///
    /// Those of the store when it is listed. A stack that fails does not end it; it is logged.
    pub async fn settle_all(&self) -> Result<usize> {
        const OP: Op = Op::Complete;
        let (mut settled, mut page) = (0, None);
        loop {
            let listed = self.0.documents.list(&ListFilter::prefix(STACKS).page(page)).await;
            let listed = listed.map_err(|error| Error::of_document(OP, "stacks", error))?;
            for document in listed.documents {
                let is_over =
                    document.head.recorded_lock().is_some_and(|lock| !lock.is_in_force(document.head.time()));
                let Some(id) = document.name.as_str().strip_prefix(STACKS).filter(|_| is_over) else {
                    continue;
                };
                let result = async {
                    let Some(stack) = self.by_id(OP, id).await? else { return Ok(false) };
                    stack.settle(OP).await.map(|_| true)
                };
                match result.await {
                    Ok(true) => settled += 1,
                    Ok(false) => {}
                    Err(error) => {
                        tracing::warn!(error = %error, stack = id, "an update whose lease is over is not ended yet")
                    }
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(settled);
            }
        }
    }

    /// The key of a blob that belongs to an update.
    pub(crate) fn blob_key(&self, op: Op, place: impl fmt::Display, text: &str) -> Result<Key> {
        Key::parse(text).map_err(|error| Error::of_blobs(op, place, error))
    }
}

/// The name of a document of the stack with this id.
fn name_of(folder: &str, id: &str) -> Name {
    // Ids are UUIDs that this crate makes; what is stored in their place by others is refused where it is read.
    Name::parse(&format!("{folder}{id}")).unwrap_or_else(|_| no_stack())
}

/// A name that no document has that this crate writes.
fn no_stack() -> Name {
    Name::parse("pulumi/none").expect("it has no control characters, dots and empty segments")
}

impl fmt::Debug for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stacks").field("documents", &self.0.documents.to_string()).finish_non_exhaustive()
    }
}
