//! The files of a directory, and what can be done to one.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobMeta, BlobVersion, Error, ErrorKind, GetOptions, Key, Op, Precondition, Result,
};
use groundstate_common::Timestamp;
use groundstate_durable::{Draft, Taken, Unpublished, remove, sync_folder};

use crate::bucket::escape;
use crate::locking::{Guard, nanos};

/// How names begin that are the store's own.
pub(crate) const OWN: &str = ".groundstate-";

/// The end of the names of files that describe others, in a bucket.
const ATTRS: &str = ".attrs";

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
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file://{}", self.root.display())
    }
}

impl Tree {
    pub(crate) fn new(root: PathBuf, naming: Naming) -> Self {
        Self { root, naming }
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

    fn place(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    /// Where the blob lies.
    fn path(&self, op: Op, key: &Key) -> Result<PathBuf> {
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

    /// The file that is going to be the blob. All writes use one name, so the next write overwrites what a crash left.
    fn draft(&self) -> io::Result<Draft> {
        let path = self.root.join(format!("{OWN}new"));
        match self.naming {
            Naming::Plain => Draft::create(path),
            Naming::Bucket => {
                remove(&path)?;
                let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
                Ok(Draft::of(file, path))
            }
        }
    }

    /// Removes what describes the content at `path`, if anything does.
    fn remove_attributes(&self, path: &Path) -> io::Result<()> {
        match self.naming {
            Naming::Plain => Ok(()),
            Naming::Bucket => {
                let mut attributes = path.as_os_str().to_owned();
                attributes.push(ATTRS);
                remove(Path::new(&attributes))
            }
        }
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

    fn described(&self, op: Op, key: &Key, meta: &Metadata) -> Result<BlobMeta> {
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

    pub(crate) fn write(&self, key: &Key, bytes: &Bytes, condition: &Precondition) -> Result<BlobVersion> {
        const OP: Op = Op::Write;
        let failed = |error| self.failed_at(OP, self.place(key), error);
        let path = self.path(OP, key)?;
        self.absent::<()>(OP)?;
        let mut guard = self.guard().map_err(failed)?;
        let stored = self.checked(OP, key, condition)?;
        let folder = path.parent().unwrap_or(&self.root);
        let made = fs::create_dir_all(folder);
        if fs::metadata(&path).is_ok_and(|meta| meta.is_dir()) || made.as_ref().is_err_and(is_taken) {
            return Err(Error::new(ErrorKind::InvalidKey, OP, self.place(key))
                .because("a blob cannot have the name of another one and a slash behind it in a directory")
                .next_step("choose another key"));
        }
        made.map_err(failed)?;
        let draft = self.draft().map_err(failed)?;
        draft.file().write_all(bytes).map_err(failed)?;
        let replaced =
            stored.is_some().then(|| fs::metadata(&path).and_then(|meta| meta.modified()).ok()).flatten();
        guard.date(draft.file(), replaced).map_err(failed)?;
        let meta = draft.file().metadata().map_err(failed)?;
        self.remove_attributes(&path).map_err(failed)?;
        draft.publish(&path, Taken::Replace).map_err(
            |Unpublished { error, may_be_named }| match may_be_named {
                true => Error::new(ErrorKind::Ambiguous, OP, self.place(key)).with_source(error),
                false => failed(error),
            },
        )?;
        Ok(self.described(OP, key, &meta)?.version)
    }

    pub(crate) fn remove(&self, key: &Key, condition: &Precondition) -> Result<bool> {
        const OP: Op = Op::Delete;
        let failed = |error| self.failed_at(OP, self.place(key), error);
        let path = self.path(OP, key)?;
        self.absent::<()>(OP)?;
        let guard = self.guard().map_err(failed)?;
        if self.meta(OP, key)?.is_none() {
            return Ok(false);
        }
        self.checked(OP, key, condition)?;
        fs::remove_file(&path).map_err(failed)?;
        // Folders are there for their blobs; the first that has others ends the way up. In a bucket they stay.
        let keeps = |folder: &&Path| self.naming == Naming::Bucket || fs::remove_dir(folder).is_err();
        let folders = path.ancestors().skip(1).take_while(|folder| *folder != self.root);
        let left = folders.into_iter().find(keeps).unwrap_or(&self.root);
        self.remove_attributes(&path)
            .and_then(|()| sync_folder(left))
            .map_err(|error| Error::new(ErrorKind::Ambiguous, OP, self.place(key)).with_source(error))?;
        drop(guard);
        Ok(true)
    }

    fn guard(&self) -> io::Result<Guard> {
        Guard::take(&self.root.join(format!("{OWN}lock")))
    }

    /// What is stored, if the condition allows it.
    fn checked(&self, op: Op, key: &Key, condition: &Precondition) -> Result<Option<BlobMeta>> {
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

/// Whether a folder cannot be made because a file has its name.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory)
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
