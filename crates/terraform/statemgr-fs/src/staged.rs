//! New content on its way to the disk, before anything of what is stored is touched.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use groundstate_durable::{Draft, create_new, parent, remove, sync_folder};

use crate::digest::Digester;
use crate::files;
use crate::journal::{Form, HEADER, Header};
use crate::parallel::in_parallel;

/// Content that is being collected in a file without a name, on the disk where it is needed.
///
/// It takes no lock, and whatever happens to the process nothing is left of it.
pub(crate) struct Staged {
    file: File,
    /// Where the content begins: behind the header of a journal, or at once.
    offset: u64,
    digester: Digester,
    len: u64,
}

/// The same under a name. Dropping it removes the name.
pub(crate) struct Named {
    pub(crate) draft: Draft,
    digest: String,
    len: u64,
}

impl Staged {
    /// Begins a file in the folder of `target`; with room for a header if it is to be a journal.
    pub(crate) fn create(target: &Path, is_journal: bool) -> io::Result<Self> {
        files::create_parent(target)?;
        let file = files::create_nameless(parent(target))?;
        let offset = if is_journal { HEADER as u64 } else { 0 };
        Ok(Self { file, offset, digester: Digester::default(), len: 0 })
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Self { file, offset, digester, len } = self;
        let at = *offset + *len;
        in_parallel(bytes.len(), || digester.update(bytes), || files::write_at(file, at, bytes))?;
        *len += bytes.len() as u64;
        Ok(())
    }

    /// Appends what a file has.
    pub(crate) fn append_file(&mut self, from: &File) -> io::Result<()> {
        self.len += files::copy_at(from, 0, &self.file, self.offset + self.len)?;
        Ok(())
    }

    /// Makes what has been collected durable, so that little is left to do once it has a name.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// The digest of the content so far; that of files is not part of it.
    pub(crate) fn digest(&self) -> String {
        self.digester.clone().finish()
    }

    /// Gives it a name, in place of what has it. Only users that may read `model` may read it.
    pub(crate) fn name(self, path: PathBuf, model: &File) -> io::Result<Named> {
        files::copy_access(model, &self.file)?;
        self.link(path)
    }

    /// Gives it a name, in place of `before`. Only the owner of `model` may read it.
    pub(crate) fn name_private(
        self,
        path: PathBuf,
        model: &File,
        before: Option<&Metadata>,
    ) -> io::Result<Named> {
        files::make_private(model, &self.file, before)?;
        self.link(path)
    }

    /// Gives it a name. Everybody may read it.
    pub(crate) fn name_readable(self, path: PathBuf) -> io::Result<Named> {
        files::make_readable(&self.file)?;
        self.link(path)
    }

    fn link(self, path: PathBuf) -> io::Result<Named> {
        remove(&path)?;
        let file = match files::link(&self.file, &path) {
            Ok(()) => self.file,
            // Where files without a name cannot be given one.
            Err(_) => {
                let copy = create_new(&path)?;
                let filled = files::copy_access(&self.file, &copy)
                    .and_then(|()| files::copy_at(&self.file, 0, &copy, 0));
                filled.inspect_err(|_| drop(remove(&path)))?;
                copy
            }
        };
        Ok(Named { draft: Draft::of(file, path), digest: self.digester.finish(), len: self.len })
    }
}

impl Named {
    /// Makes a journal of it: writes the header, and makes file and name durable. Before this it counts for nothing.
    pub(crate) fn seal(&self) -> io::Result<Header> {
        let header = Header::new(Form::Redo, self.digest.clone(), self.len, self.draft.path());
        files::write_at(self.draft.file(), 0, header.bytes())?;
        self.draft.file().sync_all()?;
        sync_folder(parent(self.draft.path()))?;
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::Staged;

    #[test]
    fn nothing_is_left_of_what_was_not_named_or_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x");
        let mut staged = Staged::create(&target, false).unwrap();
        staged.append(b"new").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let model = File::create(folder.path().join("model")).unwrap();
        drop(staged.name(target.clone(), &model).unwrap());
        assert!(!target.exists());
    }

    /// Another disk stands for a system that cannot name such files.
    #[test]
    fn what_cannot_be_linked_is_copied() {
        let (Ok(other), folder) = (tempfile::tempdir_in("/dev/shm"), tempfile::tempdir().unwrap()) else {
            return println!("not run: there is no folder in memory");
        };
        let mut staged = Staged::create(&other.path().join("x"), true).unwrap();
        staged.append(b"new").unwrap();
        let model = File::create(folder.path().join("model")).unwrap();
        let named = staged.name(folder.path().join("x"), &model).unwrap();
        let header = named.seal().unwrap();
        drop(named.draft.keep());
        let written = fs::read(folder.path().join("x")).unwrap();
        assert_eq!(written, [header.bytes(), b"new"].concat());
    }
}
