//! The files of a directory: their names, what is known of them, and how they are read.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use groundstate_blobs::{
    Blob, BlobMeta, BlobVersion, Error, ErrorKind, GetOptions, Key, Op, Precondition, Result,
};
use groundstate_common::Timestamp;

use crate::bucket::escape;
use crate::folders::DurableFolders;
use crate::locking::{nanos, sweep};

/// How names begin that are the store's own.
pub(crate) const OWN: &str = ".groundstate-";

/// The end of the names of files that describe others, in a bucket.
pub(crate) const ATTRS: &str = ".attrs";

/// How the names of files come from those of blobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// They are the same.
    Plain,
    /// By the rules of go-cloud's `file` bucket.
    Bucket,
}

#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) naming: Naming,
    pub(crate) folders: DurableFolders,
    /// If `true`, files of this store may be in the directory beside the blobs.
    pub(crate) has_written: AtomicBool,
}

impl Drop for Tree {
    /// Leaves no files of its own in a bucket, which other programs list.
    fn drop(&mut self) {
        if self.naming == Naming::Bucket && self.has_written.load(Ordering::Acquire) {
            // The files are small and harmless, and a client that is done reports nothing.
            drop(sweep(&self.root));
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file://{}", self.root.display())
    }
}

impl Tree {
    pub(crate) fn new(root: PathBuf, naming: Naming) -> Self {
        let folders = DurableFolders::new(root.clone());
        Self { folders, root, naming, has_written: AtomicBool::new(false) }
    }

    /// The error for a failure of the file system.
    pub(crate) fn failed(&self, op: Op, error: io::Error) -> Error {
        self.failed_at(op, self.to_string(), error)
    }

    pub(crate) fn failed_at(&self, op: Op, place: String, error: io::Error) -> Error {
        let new = |kind| Error::new(kind, op, &place);
        let new = match error.kind() {
            io::ErrorKind::PermissionDenied => {
                new(ErrorKind::Denied).next_step("check who owns the directory and may write in it")
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                new(ErrorKind::Denied).because("the file system is read-only")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                new(ErrorKind::Unavailable).because("there is no room left").next_step("make room")
            }
            io::ErrorKind::InvalidFilename => new(ErrorKind::InvalidKey)
                .because("the file system does not take such a name")
                .next_step("choose another key"),
            _ => new(ErrorKind::Unavailable).because("the file system refuses"),
        };
        new.with_source(error)
    }

    pub(crate) fn place(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    /// Where the blob lies.
    pub(crate) fn path(&self, op: Op, key: &Key) -> Result<PathBuf> {
        let name = key.as_str();
        let is_own = name.split('/').any(|part| part.starts_with(OWN));
        let invalid = |reason| {
            let error = Error::new(ErrorKind::InvalidKey, op, self.place(key)).because(reason);
            Err(error.next_step("choose another key"))
        };
        match self.naming {
            _ if is_own => invalid("the key is not a valid file name"),
            Naming::Plain if cfg!(windows) && name.contains(['\\', ':']) => {
                invalid("the key is not a valid file name")
            }
            Naming::Plain => Ok(self.root.join(name)),
            Naming::Bucket if name.ends_with(ATTRS) => {
                invalid("files that end in .attrs describe other files")
            }
            Naming::Bucket => match escape::file_name(name) {
                Some(name) => Ok(self.root.join(name)),
                None => invalid("an escape such as __0x2f__ in the key would be read back as another key"),
            },
        }
    }

    /// Whether a file of this name is no blob.
    pub(crate) fn hides(&self, name: &str) -> bool {
        name.starts_with(OWN) || (self.naming == Naming::Bucket && name.ends_with(ATTRS))
    }

    /// What is known of a file.
    pub(crate) fn describe(&self, meta: &Metadata) -> io::Result<BlobMeta> {
        let mut described = describe(meta)?;
        if self.naming == Naming::Bucket {
            // The other programs take the time as it comes, which may be the same for files that follow quickly.
            let nanos = nanos(meta.modified()?);
            let tag = format!("\"{nanos:x}-{:x}-{:x}\"", meta.len(), file_number(meta));
            described.version = BlobVersion::default().with_e_tag(tag);
        }
        Ok(described)
    }

    /// What a missing file means: absence, if the directory is there.
    pub(crate) fn absent<T>(&self, op: Op) -> Result<Option<T>> {
        match fs::metadata(&self.root) {
            Ok(meta) if meta.is_dir() => Ok(None),
            Ok(_) => Err(Error::new(ErrorKind::NotFound, op, self).because("it is not a directory")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::new(ErrorKind::NotFound, op, self)
                    .because("there is no such directory")
                    .next_step("create it"))
            }
            Err(error) => Err(self.failed(op, error)),
        }
    }

    pub(crate) fn meta(&self, op: Op, key: &Key) -> Result<Option<BlobMeta>> {
        match fs::metadata(self.path(op, key)?) {
            Ok(meta) if meta.is_file() => self.described(op, key, &meta).map(Some),
            Ok(_) => Ok(None),
            Err(error) if is_absence(&error) => self.absent(op),
            Err(error) => Err(self.failed_at(op, self.place(key), error)),
        }
    }

    pub(crate) fn described(&self, op: Op, key: &Key, meta: &Metadata) -> Result<BlobMeta> {
        self.describe(meta).map_err(|error| self.failed_at(op, self.place(key), error))
    }

    pub(crate) fn read(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        const OP: Op = Op::Read;
        let failed = |error| self.failed_at(OP, self.place(key), error);
        let mut file = match File::open(self.path(OP, key)?) {
            Ok(file) => file,
            Err(error) if is_absence(&error) => return self.absent(OP),
            Err(error) => return Err(failed(error)),
        };
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Ok(None);
        }
        let meta = self.described(OP, key, &meta)?;
        if options.if_match.as_ref().is_some_and(|expected| !expected.same_as(&meta.version)) {
            return Err(Error::new(ErrorKind::PreconditionFailed, OP, self.place(key)));
        }
        if options.if_none_match.as_ref().is_some_and(|known| known.same_as(&meta.version)) {
            return Err(Error::new(ErrorKind::NotModified, OP, self.place(key)));
        }
        let mut bytes = Vec::new();
        let Some(range) = &options.range else {
            file.read_to_end(&mut bytes).map_err(failed)?;
            return Ok(Some(Blob::whole(bytes.into(), meta)));
        };
        let end = range.end.min(meta.size);
        let start = range.start.min(end);
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        file.take(end - start).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some(Blob::part(bytes.into(), start, meta)))
    }

    /// What is stored, if the condition allows it.
    pub(crate) fn checked(&self, op: Op, key: &Key, condition: &Precondition) -> Result<Option<BlobMeta>> {
        let stored = self.meta(op, key)?;
        if condition.is_met_by(stored.as_ref().map(|meta| &meta.version)) {
            return Ok(stored);
        }
        let there = stored.map_or_else(|| "nothing".to_owned(), |meta| meta.version.to_string());
        Err(Error::new(ErrorKind::PreconditionFailed, op, self.place(key))
            .because(format!("{there} is stored where {condition} was expected"))
            .with_found(self.read(key, &GetOptions::default()).ok().flatten()))
    }
}

/// Whether the file is not there; below a file there is none either.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(unix)]
fn file_number(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

/// Elsewhere files have no number that a description tells.
#[cfg(not(unix))]
fn file_number(_: &Metadata) -> u64 {
    0
}

fn describe(meta: &Metadata) -> io::Result<BlobMeta> {
    let nanos = nanos(meta.modified()?);
    let version =
        BlobVersion::default().with_generation(nanos).with_e_tag(format!("\"{nanos:x}-{:x}\"", meta.len()));
    let mut described = BlobMeta::new(version, meta.len());
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    described.last_modified = Timestamp::from_unix(seconds, u32::try_from(rest).unwrap_or_default()).ok();
    Ok(described)
}
