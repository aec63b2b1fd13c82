//! Writes and deletions.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use groundstate_blobs::{BlobMeta, BlobVersion, Error, ErrorKind, Key, Op, Precondition, Result};
use groundstate_durable::{Draft, Taken, Unpublished, remove, sync_folder};

use crate::locking::Guard;
use crate::tree::{ATTRS, Naming, Tree, is_absence};

/// How often a write begins again because a deletion removed the folder that it had found empty.
const ATTEMPTS: usize = 100;

impl Tree {
    pub(crate) fn write(&self, key: &Key, bytes: &Bytes, condition: &Precondition) -> Result<BlobVersion> {
        const OP: Op = Op::Write;
        let failed = |error| self.failed_at(OP, self.place(key), error);
        let path = self.path(OP, key)?;
        self.absent::<()>(OP)?;
        let mut guard = self.guard(key).map_err(failed)?;
        let stored = self.checked(OP, key, condition)?;
        for _ in 0..ATTEMPTS {
            let Unpublished { error, may_be_named } =
                match self.published(&mut guard, &path, bytes, stored.as_ref()) {
                    Ok(meta) => return Ok(self.described(OP, key, &meta)?.version),
                    Err(unpublished) => unpublished,
                };
            if may_be_named {
                return Err(Error::new(ErrorKind::Ambiguous, OP, self.place(key)).with_source(error));
            }
            if fs::metadata(&path).is_ok_and(|meta| meta.is_dir()) || self.is_in_the_way(&path) {
                return Err(Error::new(ErrorKind::InvalidKey, OP, self.place(key))
                    .because(
                        "a blob cannot have the name of another one and a slash behind it in a directory",
                    )
                    .next_step("choose another key"));
            }
            // A folder that is there when it is to be made, and gone when it is looked at, is said to be taken.
            if error.kind() != io::ErrorKind::NotFound && !is_taken(&error) {
                return Err(failed(error));
            }
            // The directory itself may have been removed.
            self.absent::<()>(OP)?;
        }
        Err(Error::new(ErrorKind::Unavailable, OP, self.place(key))
            .because("its folder is removed again and again"))
    }

    /// Gives the content its name, durably.
    fn published(
        &self,
        guard: &mut Guard,
        path: &Path,
        bytes: &Bytes,
        stored: Option<&BlobMeta>,
    ) -> std::result::Result<fs::Metadata, Unpublished> {
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)?;
        if fs::metadata(path).is_ok_and(|meta| meta.is_dir()) {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let draft = self.draft(guard)?;
        draft.file().write_all(bytes)?;
        let replaced = stored.and_then(|_| fs::metadata(path).and_then(|meta| meta.modified()).ok());
        guard.date(draft.file(), replaced)?;
        let meta = draft.file().metadata()?;
        self.remove_attributes(path)?;
        draft.publish(path, Taken::Replace)?;
        match self.folders.sync_names(folder) {
            Ok(()) => Ok(meta),
            Err(error) => Err(Unpublished { error, may_be_named: true }),
        }
    }

    pub(crate) fn remove(&self, key: &Key, condition: &Precondition) -> Result<bool> {
        const OP: Op = Op::Delete;
        let failed = |error| self.failed_at(OP, self.place(key), error);
        let path = self.path(OP, key)?;
        self.absent::<()>(OP)?;
        let guard = self.guard(key).map_err(failed)?;
        if self.meta(OP, key)?.is_none() {
            return Ok(false);
        }
        self.checked(OP, key, condition)?;
        fs::remove_file(&path).map_err(failed)?;
        self.remove_attributes(&path)
            .and_then(|()| self.remove_folders(&path))
            .map_err(|error| Error::new(ErrorKind::Ambiguous, OP, self.place(key)).with_source(error))?;
        drop(guard);
        Ok(true)
    }

    /// Removes the folders that were there for this file alone, and makes that durable. In a bucket they stay.
    fn remove_folders(&self, path: &Path) -> io::Result<()> {
        let mut left = path.ancestors().skip(1).take_while(|folder| *folder != self.root).peekable();
        // The first that has others ends the way up; another deletion may have removed some of them.
        let is_gone = |folder: &Path| match fs::remove_dir(folder) {
            Ok(()) => true,
            Err(error) => is_absence(&error),
        };
        while self.naming == Naming::Plain && left.next_if(|folder| is_gone(folder)).is_some() {}
        for folder in left.chain([self.root.as_path()]) {
            match sync_folder(folder) {
                // Its last file was deleted meanwhile.
                Err(error) if is_absence(&error) => {}
                synced => return synced,
            }
        }
        Ok(())
    }

    /// Whether a file, or a link that leads to no folder, has the name of a folder that is needed.
    fn is_in_the_way(&self, path: &Path) -> bool {
        let mut folders = path.ancestors().skip(1).take_while(|folder| *folder != self.root);
        folders.any(|folder| {
            fs::symlink_metadata(folder).is_ok_and(|meta| match meta.is_symlink() {
                true => !folder.is_dir(),
                false => !meta.is_dir(),
            })
        })
    }

    fn guard(&self, key: &Key) -> io::Result<Guard> {
        self.has_written.store(true, Ordering::Release);
        // Buckets are shared with the programs of other users.
        Guard::take(&self.root, key.as_str(), self.naming == Naming::Plain)
    }

    /// The file that is going to be the blob.
    fn draft(&self, guard: &Guard) -> io::Result<Draft> {
        let path = guard.draft();
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
}

/// Whether a folder cannot be made because its name is taken.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory)
}
