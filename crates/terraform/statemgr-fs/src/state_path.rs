//! Where a state lies, and the files that belong to it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_durable::parent;

use crate::stamp::FileId;

/// A state file by name, whether it exists or not.
#[derive(Clone, Debug)]
pub(crate) struct StatePath {
    /// The path as it was given, for lock documents.
    given: PathBuf,
    /// The same, independent of the working directory.
    path: PathBuf,
}

impl StatePath {
    pub(crate) fn new(given: &Path) -> io::Result<Self> {
        let path = std::path::absolute(given)?;
        if path.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
        }
        Ok(Self { given: given.to_owned(), path })
    }

    pub(crate) fn given(&self) -> &Path {
        &self.given
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file that is meant where the path is a symbolic link, also one to a file that does not exist yet.
    ///
    /// What must be found under every name of a state is beside this one.
    pub(crate) fn target(&self) -> PathBuf {
        let mut path = self.path.clone();
        // The system gives up after 40 links too; a loop is then reported when the path is opened.
        for _ in 0..40 {
            match fs::read_link(&path) {
                Ok(next) => path = parent(&path).join(next),
                Err(_) => return path,
            }
        }
        path
    }

    /// The lock documents: beside the name that is used, where Terraform looks for it, and beside the file itself.
    pub(crate) fn documents(&self) -> Vec<PathBuf> {
        let named = beside(&self.path, "lock.info");
        let real = beside(&self.target(), "lock.info");
        if named == real { vec![named] } else { vec![named, real] }
    }

    pub(crate) fn journal(&self) -> PathBuf {
        beside(&self.target(), "groundstate-journal")
    }

    pub(crate) fn fence(&self) -> PathBuf {
        beside(&self.target(), "groundstate-fence")
    }

    /// The backup that Terraform makes: the path with `.backup` after it.
    pub(crate) fn backup(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".backup");
        PathBuf::from(name)
    }

    /// Whether both are names of one file, or would be if it existed.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.path == other.path
            || resolve(&self.target()) == resolve(&other.target())
            || FileId::same(&self.path, &other.path)
    }

    /// Whether the other is one of the files that locks and writes make and remove beside this one.
    pub(crate) fn keeps(&self, other: &Self) -> bool {
        let mut own = self.documents();
        own.extend([self.journal(), self.fence()]);
        let other = resolve(&other.target());
        own.iter().any(|path| resolve(path) == other)
    }
}

impl fmt::Display for StatePath {
    /// The absolute path in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display().to_string();
        f.write_str(&path.replace(char::is_control, "\u{fffd}"))
    }
}

/// The path without links among its folders, as far as they exist.
fn resolve(path: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(parent(path)).unwrap_or_else(|_| parent(path).to_owned());
    path.file_name().map(|name| folder.join(name))
}

/// A hidden file beside `path`: Terraform's own naming, one leading dot of the name left out.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let mut hidden = OsString::from(".");
    hidden.push(without_dot(name));
    hidden.push(".");
    hidden.push(suffix);
    parent(path).join(hidden)
}

/// Names that are no UTF-8 keep their dot: they get a second one, which does no harm.
fn without_dot(name: &OsStr) -> &OsStr {
    name.to_str().and_then(|text| text.strip_prefix('.')).map_or(name, OsStr::new)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{StatePath, beside};

    #[test]
    fn what_lies_beside_is_named_as_terraform_names_it() {
        for (path, expected) in [
            ("/a/terraform.tfstate", "/a/.terraform.tfstate.lock.info"),
            ("/a/.x", "/a/.x.lock.info"),
            ("/a/..x", "/a/..x.lock.info"),
            ("x", "./.x.lock.info"),
        ] {
            assert_eq!(beside(Path::new(path), "lock.info"), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_path_that_names_no_file_is_refused() {
        for path in ["", "/", "..", "a/.."] {
            assert!(StatePath::new(Path::new(path)).is_err(), "{path:?}");
        }
    }

    #[test]
    fn control_characters_do_not_reach_messages() {
        assert_eq!(StatePath::new(Path::new("/a\nb")).unwrap().to_string(), "/a\u{fffd}b");
    }
}
