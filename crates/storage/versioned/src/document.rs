//! One document: its head, and what is read of it.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobStore, BlobVersion, Context, ErrorKind as BlobKind, GetOptions, Key, ListOptions, PutOptions,
};
use groundstate_common::{IdSourceError, Timestamp, one_line};

use crate::content::Content;
use crate::documents::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::head::Head;
use crate::layout::Layout;
use crate::name::Name;
use crate::op::Op;
use crate::reader::Reader;
use crate::settings::Settings;
use crate::traced;
use crate::upload::Upload;
use crate::version::Version;
use crate::wire::Unreadable;

/// How often the present version is looked for before it is given up.
const ATTEMPTS: usize = 20;
/// The next step where a head is damaged or missing.
pub(crate) const REPAIR: &str =
    "change nothing, and restore it from a backup or make it anew with `groundstate store repair`";
/// How often a write that may be repeated is tried when its answer gets lost.
const WRITES: usize = 3;

/// A client of one document. Any number of clients may use it at a time, in one process or many.
#[derive(Clone)]
pub struct Document {
    shared: Arc<Shared>,
    name: Name,
    layout: Arc<Layout>,
}

/// A head as it is stored.
pub(crate) struct Stored {
    pub(crate) head: Head,
    pub(crate) version: Option<BlobVersion>,
}

impl Document {
    pub(crate) fn new(shared: Arc<Shared>, name: Name) -> Self {
        let layout = Arc::new(Layout::new(shared.settings.prefix(), &name));
        Self { shared, name, layout }
    }

    /// The name under which the store keeps the document.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// When the head was last replaced, by the clock of the store; none if there is no head, or the store does not say.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub async fn replaced(&self) -> Result<Option<Timestamp>> {
        let key = self.key(Op::Read, self.layout.head())?;
        let meta = self.store().head(&key).await.map_err(|error| self.failed(Op::Read, error))?;
        Ok(meta.and_then(|meta| meta.last_modified))
    }

    /// What is true of the document now.
    ///
    /// # Errors
    ///
    /// `Corrupt` for a head that is damaged, and for one that is missing where versions of the document are, `Unsupported` for one of a later release, and those of the store.
    pub async fn head(&self) -> Result<Head> {
        Ok(traced::run(Op::Read, self, self.load(Op::Read)).await?.head)
    }

    /// Begins to store a content.
    pub fn upload(&self) -> Upload {
        Upload::new(self.clone())
    }

    /// Stores a content that is in memory.
    ///
    /// # Errors
    ///
    /// Those of [`Upload::push`].
    pub async fn content(&self, bytes: impl Into<Bytes>) -> Result<Content> {
        let mut upload = self.upload();
        upload.push(bytes).await?;
        upload.finish().await
    }

    /// Reads the present version; none if the document was never written or is deleted.
    ///
    /// # Errors
    ///
    /// `Busy` when newer versions replaced each one before it could be read; those of [`head`](Self::head) and of [`open`](Self::open).
    pub async fn read(&self) -> Result<Option<Reader>> {
        traced::run(Op::Read, self, async {
            for _ in 0..ATTEMPTS {
                let head = self.load(Op::Read).await?.head;
                let Some(version) = head.current() else { return Ok(None) };
                traced::version(version);
                match Reader::open(self, version).await {
                    // Newer versions came, and retention was quick.
                    Err(error) if error.kind() == ErrorKind::NotKept => {}
                    reader => return reader.map(Some),
                }
            }
            Err(Error::new(ErrorKind::Busy, Op::Read, self.place()))
        })
        .await
    }

    /// Reads the content of a version.
    ///
    /// # Errors
    ///
    /// `NotKept` for a deletion and for a version that was removed, `Corrupt` for one that is damaged, and those of the store.
    pub async fn open(&self, version: &Version) -> Result<Reader> {
        if version.deleted {
            let error = Error::new(ErrorKind::NotKept, Op::Read, self.place());
            return Err(error.because(format!("version {} is a deletion, it has no content", version.number)));
        }
        traced::run(Op::Read, self, async {
            traced::version(version);
            Reader::open(self, version).await
        })
        .await
    }

    pub(crate) fn store(&self) -> &dyn BlobStore {
        &*self.shared.store
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn context(&self) -> &Context {
        &self.shared.context
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.context.clock.now()
    }

    /// The document in messages.
    pub(crate) fn place(&self) -> String {
        format!("{} in {}", one_line(self.name.as_str()), self.shared.store)
    }

    pub(crate) fn failed(&self, op: Op, error: groundstate_blobs::Error) -> Error {
        Error::of_store(op, self.place(), error)
    }

    pub(crate) fn key(&self, op: Op, text: &str) -> Result<Key> {
        Key::parse(text).map_err(|error| self.failed(op, error))
    }

    /// Reads the head. A document without a head is one that was never written, unless there is data of it.
    pub(crate) async fn load(&self, op: Op) -> Result<Stored> {
        if let Some(blob) = self.head_blob(op).await? {
            return self.stored(op, &blob);
        }
        if !self.has_data(op).await? {
            return Ok(Stored { head: Head::absent(self.now()), version: None });
        }
        // Data follows a head, so another client may have made both since.
        match self.head_blob(op).await? {
            Some(blob) => self.stored(op, &blob),
            None => Err(Error::new(ErrorKind::Corrupt, op, self.place())
                .because("its head is missing, and versions of it are there")
                .next_step(REPAIR)),
        }
    }

    /// The head as it is stored.
    pub(crate) async fn head_blob(&self, op: Op) -> Result<Option<Blob>> {
        let key = self.key(op, self.layout.head())?;
        let blob = self.store().get(&key, &GetOptions::default()).await;
        blob.map_err(|error| self.failed(op, error))
    }

    /// Returns `true` if anything lies where the data of the document is.
    async fn has_data(&self, op: Op) -> Result<bool> {
        let mut page = None;
        loop {
            let options = ListOptions::default().limit(1).page(page);
            let listed = self.store().list(self.layout.data(), &options).await;
            let listed = listed.map_err(|error| self.failed(op, error))?;
            page = listed.next;
            if !listed.blobs.is_empty() || page.is_none() {
                return Ok(!listed.blobs.is_empty());
            }
        }
    }

    /// What a blob says that is a head.
    pub(crate) fn stored(&self, op: Op, blob: &Blob) -> Result<Stored> {
        let head = Head::read(&blob.bytes, &self.name, self.now()).map_err(|problem| match problem {
            Unreadable::Damaged(problem) => Error::new(ErrorKind::Corrupt, op, self.place())
                .because(format!("its head is damaged: {problem}"))
                .next_step(REPAIR),
            Unreadable::Newer(format) => Error::new(ErrorKind::Unsupported, op, self.place())
                .because(format!("its head has the format {format}, which a later release wrote"))
                .next_step("upgrade"),
        })?;
        Ok(Stored { head, version: Some(blob.version().clone()) })
    }

    /// Stores a blob whose key nothing else has.
    pub(crate) async fn put_once(&self, op: Op, key: &str, bytes: Bytes) -> Result<Key> {
        let key = self.key(op, key)?;
        let mut tries = 1;
        loop {
            match self.store().put(&key, bytes.clone(), &PutOptions::default()).await {
                Ok(_) => return Ok(key),
                // Writing the same again changes nothing.
                Err(error) if error.kind() == BlobKind::Ambiguous && tries < WRITES => tries += 1,
                Err(error) => return Err(self.failed(op, error)),
            }
        }
    }

    pub(crate) fn no_id(&self, op: Op, error: IdSourceError) -> Error {
        Error::new(ErrorKind::Unavailable, op, self.place())
            .because("there is no random id")
            .with_source(error)
    }

    pub(crate) fn unwritable(&self, op: Op, error: serde_json::Error) -> Error {
        Error::new(ErrorKind::Internal, op, self.place()).with_source(error)
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("name", &self.name)
            .field("store", &self.shared.store)
            .finish_non_exhaustive()
    }
}
