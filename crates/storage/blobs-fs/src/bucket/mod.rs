//! `BucketFiles`: a directory that is shared with go-cloud's `file` bucket, as the `pulumi` command keeps stacks in one.

use std::fmt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, GetOptions, Key, Leases,
    ListOptions, Page, PutOptions, Result,
};

use crate::store::FileBlobs;
use crate::tree::Naming;

pub(crate) mod escape;

/// A client of a directory that programs on go-cloud's `file` bucket read and write too.
///
/// - Keys become paths by the bucket's rules: control characters, the slash of `../` and the second one of `//` are written
///   as `__0x2f__`. A key that has such an escape in its text would be read back as another one and is `InvalidKey`; a file whose
///   name no key is written as is listed under that name, and cannot be read.
/// - Files `KEY.attrs` hold content types and check sums, which no reader needs. They are not listed, never read, so that
///   a damaged one hides nothing, and never written: a write removes the one that described the old content
///   before the new content gets its name, and a bucket without it is a valid one.
/// - The other programs' temporary files `KEY.HEX.tmp` are listed like any file. Our own are in the directory itself, under names that
///   begin with `.groundstate-` and are not listed here; a prefix such as `.pulumi/` never matches them in
///   any program.
/// - Files get the permissions that the process's mask leaves, like those of the other programs. Empty folders stay.
/// - Conditions hold among clients of this type. The other programs know none, so one that replaces a file between our check
///   and our write loses its content; a lock that both sides know has to keep them apart. Versions consist of the time, the size and
///   the number of the file, so a replaced file is another version however quickly it came.
///
/// ```
/// use groundstate_blobs_fs::BucketFiles;
/// use groundstate_blobs_fs::blobs::{BlobStore, Key, PutOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let store = BucketFiles::open(folder.path())?;
/// store.put(&Key::parse("x../dev.json")?, "{}".into(), &PutOptions::default()).await?;
/// assert_eq!(std::fs::read(folder.path().join("x..__0x2f__dev.json"))?, b"{}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BucketFiles {
    files: FileBlobs,
}

impl BucketFiles {
    /// A client of a directory, which has to be there before the first operation.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the present directory, from which the path may lead, cannot be found.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { files: FileBlobs::named(directory.as_ref(), Naming::Bucket)? })
    }

    /// Creates the directory with all above it, if it is not there.
    ///
    /// # Errors
    ///
    /// `Denied` and `Unavailable`.
    pub fn create(directory: impl AsRef<Path>) -> Result<Self> {
        let store = Self::open(directory)?;
        store.files.create_directory()?;
        Ok(store)
    }

    /// The directory.
    pub fn directory(&self) -> &PathBuf {
        self.files.directory()
    }
}

impl fmt::Display for BucketFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for BucketFiles {
    fn capabilities(&self) -> BlobCapabilities {
        let mut can = self.files.capabilities();
        can.generations = false;
        can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.files.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.files.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.files.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.files.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.files.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.files.leases()
    }
}
