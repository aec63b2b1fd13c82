//! Configurations of stacks, and the URLs of key services that the user names.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use groundstate_durable::{Links, small_text};
use groundstate_pulumi_backends::StackConfig;

use crate::input::environment::Environment;
use crate::report::error::{Failure, Kind, Result, chain};

/// Largest size of a configuration, in bytes.
const LIMIT: u64 = 1 << 20;

/// URLs of key services that the command line names; they hold for the whole run.
static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn known<T>(with: impl FnOnce(&mut BTreeSet<String>) -> T) -> T {
    with(&mut KNOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Trusts a URL that the command line names.
pub(crate) fn confirm(url: &str) {
    known(|known| known.insert(url.to_owned()));
}

/// Returns `true` if the URL of a key service is the user's own: the command line names it, or the user trusts the directory. A
/// `Pulumi.STACK.yaml` confirms no URL, since it is a part of the checkout.
pub(crate) fn is_confirmed(url: &str) -> bool {
    Environment::of_process().trusts || known(|known| known.contains(url))
}

/// The configuration of a stack in a file, and what the file holds.
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    /// The text; nothing if there is no file.
    pub(crate) text: Option<String>,
    pub(crate) config: StackConfig,
}

impl ConfigFile {
    /// Reads a configuration. A missing file is an empty one.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text =
            small_text(path, LIMIT, Links::Follow).map_err(|error| Failure::unreadable(path, &error))?;
        let config = StackConfig::parse(text.as_deref().unwrap_or_default()).map_err(|error| {
            Failure::new(Kind::Unusable, format!("{}: {}", path.display(), chain(&error)))
        })?;
        Ok(Self { path: path.to_owned(), text, config })
    }

    /// Whether the file still holds what was read.
    pub(crate) fn is_unchanged(&self) -> bool {
        small_text(&self.path, LIMIT, Links::Follow).is_ok_and(|text| text == self.text)
    }
}

/// Without the text, which may have secrets in it.
impl fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigFile")
            .field("path", &self.path)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::ConfigFile;

    #[test]
    fn debug_shows_nothing_of_the_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("Pulumi.dev.yaml");
        std::fs::write(&path, "encryptionsalt: v1:hush\nconfig:\n  shop:password: swordfish\n").unwrap();
        let read = ConfigFile::read(&path).unwrap();
        assert!(read.text.is_some());
        let shown = format!("{read:?}");
        assert!(!shown.contains("hush") && !shown.contains("swordfish"), "{shown}");
    }
}
