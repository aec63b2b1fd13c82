//! Small steps on files and folders that several parts share.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Creates the folder of a journal with those above it. Only its owner may look into it.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => sync_folder(
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")),
        ),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a file that must not exist, readable by its owner alone, for reading and writing.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// What is to be done about a name that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is an error, `AlreadyExists`.
    Refuse,
    Replace,
}

/// A file that was not published.
#[derive(Debug)]
pub(crate) struct Unpublished {
    pub(crate) error: io::Error,
    /// Whether the name may be the file's after all. Otherwise everything is as it was.
    pub(crate) may_be_named: bool,
}

impl From<io::Error> for Unpublished {
    fn from(error: io::Error) -> Self {
        Self { error, may_be_named: false }
    }
}

/// Gives a file with this content its name, so that the name is never seen without all of the content. Gives it open, to be
/// written on.
pub(crate) fn publish(
    folder: &Path,
    draft: &str,
    name: &str,
    content: &[u8],
    taken: Taken,
) -> Result<File, Unpublished> {
    let (draft, path) = (folder.join(draft), folder.join(name));
    remove(&draft)?;
    let mut file = create_new(&draft)?;
    let give_name = || match taken {
        Taken::Replace => fs::rename(&draft, &path),
        Taken::Refuse => match fs::hard_link(&draft, &path) {
            Ok(()) => remove(&draft),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Some file systems have no second names.
            Err(_) if !path.try_exists()? => fs::rename(&draft, &path),
            Err(error) => Err(error),
        },
    };
    if let Err(error) = file.write_all(content).and_then(|()| file.sync_all()) {
        // What stays of it has no name that means anything.
        drop(remove(&draft));
        return Err(error.into());
    }
    let named = give_name().and_then(|()| sync_folder(folder));
    named.map_err(|error| {
        let may_be_named = names(&path, &file).unwrap_or(true);
        drop(remove(&draft));
        Unpublished { error, may_be_named }
    })?;
    Ok(file)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    // Windows has no call for this; its file systems journal names by themselves.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes a file that may not be there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// Whether `path` is still the name of `file`.
pub(crate) fn names(path: &Path, file: &File) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(meta) => same(&meta, &file.metadata()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems cannot tell")]
fn same(one: &fs::Metadata, other: &fs::Metadata) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Elsewhere open files keep their names, and numbers of writers are not given twice while one is open.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it is the same call on all systems")]
fn same(_: &fs::Metadata, _: &fs::Metadata) -> io::Result<bool> {
    Ok(true)
}
