//! `FileBlobs`: implements `BlobStore`; each operation runs on a thread of its own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, LeaseId, Leases, ListOptions, Op, Page, PutOptions, Result, traced,
};
use groundstate_durable::offload;

use crate::folders::create_durably;
use crate::tree::{Naming, Tree};

/// A client of a directory whose files are the blobs.
///
/// - Names of blobs are paths below the directory. So a blob cannot have the name of another one and a slash behind it, no
///   part is longer than the file system takes, and names that begin with `.groundstate-` are the store's own.
/// - A write goes to a file aside, is made durable, and replaces the old file in one step.
/// - Versions are times: every write of a store is given a later one than all before, also where clocks go back. Other
///   programs may write too; what they write is seen as another version.
/// - Writers of one blob exclude each other by a lock that the system frees when a process ends, on this host and, as far as the
///   file system has it, on others. Writers of different blobs rarely wait for each other.
///
/// ```
/// use groundstate_blobs::{BlobStore, Key, Precondition, PutOptions};
/// use groundstate_blobs_fs::FileBlobs;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let store = FileBlobs::open(folder.path())?;
/// let once = PutOptions::expecting(Precondition::Absent);
/// store.put(&Key::parse("stacks/dev.json")?, "{}".into(), &once).await?;
/// assert_eq!(std::fs::read(folder.path().join("stacks/dev.json"))?, b"{}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FileBlobs {
    tree: Arc<Tree>,
}

impl FileBlobs {
    /// A client of a directory, which has to be there before the first operation.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the present directory, from which the path may lead, cannot be found.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self> {
        Self::named(directory.as_ref(), Naming::Plain)
    }

    /// A client of a directory whose files have names of this kind.
    pub(crate) fn named(directory: &Path, naming: Naming) -> Result<Self> {
        let root = std::path::absolute(directory).map_err(|error| {
            Error::new(ErrorKind::Unavailable, Op::Open, directory.display()).with_source(error)
        })?;
        Ok(Self { tree: Arc::new(Tree::new(root, naming)) })
    }

    /// Creates the directory with all above it, if it is not there.
    ///
    /// # Errors
    ///
    /// `Denied` and `Unavailable`.
    pub fn create(directory: impl AsRef<Path>) -> Result<Self> {
        let store = Self::open(directory)?;
        store.create_directory()?;
        Ok(store)
    }

    pub(crate) fn create_directory(&self) -> Result<()> {
        create_durably(&self.tree.root).map_err(|error| self.tree.failed(Op::Create, error))
    }

    /// The directory.
    pub fn directory(&self) -> &PathBuf {
        &self.tree.root
    }

    async fn run<T: Send + 'static>(
        &self,
        op: Op,
        work: impl FnOnce(&Tree) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let tree = Arc::clone(&self.tree);
        offload(op, &self.to_string(), move || work(&tree)).await
    }

    fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    fn needs_no_lease(&self, op: Op, key: &Key, lease: Option<&LeaseId>) -> Result<()> {
        match lease {
            None => Ok(()),
            Some(_) => Err(Error::unsupported(op, self.at(key)).because("files have no leases")),
        }
    }
}

impl fmt::Display for FileBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for FileBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        let mut can = BlobCapabilities::all();
        can.attributes = false;
        can.leases = false;
        can.nested_keys = false;
        can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.needs_no_lease(Op::Read, key, options.lease.as_ref())?;
        let (name, wanted) = (key.clone(), options.clone());
        let work = self.run(Op::Read, move |tree| tree.read(&name, &wanted));
        traced::get(self, key, options, work).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        let name = key.clone();
        traced::head(self, key, self.run(Op::LookAt, move |tree| tree.meta(Op::LookAt, &name))).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.needs_no_lease(Op::Write, key, options.lease.as_ref())?;
        if !options.attributes.is_empty() {
            let error = Error::unsupported(Op::Write, self.at(key));
            return Err(error.because("files keep no content types and no metadata"));
        }
        let (name, condition) = (key.clone(), options.precondition.clone());
        let work = self.run(Op::Write, move |tree| tree.write(&name, &bytes, &condition));
        traced::put(self, key, options, work).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.needs_no_lease(Op::Delete, key, options.lease.as_ref())?;
        options.check(self.at(key))?;
        let (name, condition) = (key.clone(), options.precondition.clone());
        let work = self.run(Op::Delete, move |tree| tree.remove(&name, &condition));
        traced::delete(self, key, options, work).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        let (begin, wanted) = (prefix.to_owned(), options.clone());
        let work = self.run(Op::List, move |tree| tree.list(&begin, &wanted));
        traced::list(self, prefix, options, work).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
