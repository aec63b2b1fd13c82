//! Configurations of stacks, which say whose URLs of key services are: those in the projects that the user works in are the user's own.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use groundstate_durable::{Links, small_text};
use groundstate_pulumi_backends::{Project, StackConfig};

use crate::input::environment::Environment;
use crate::report::error::{Failure, Kind, Result, chain};

/// How large a configuration may be.
const LIMIT: u64 = 1 << 20;

/// What is known of this run to be the user's own.
static KNOWN: Mutex<Known> = Mutex::new(Known { folders: BTreeSet::new(), urls: BTreeSet::new() });

struct Known {
    /// Where configurations of stacks are.
    folders: BTreeSet<PathBuf>,
    /// URLs of key services.
    urls: BTreeSet<String>,
}

fn known<T>(with: impl FnOnce(&mut Known) -> T) -> T {
    with(&mut KNOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Has the configurations of a project count, which the command line names.
pub(crate) fn remember(project: &Project) {
    known(|known| known.folders.insert(project.stack_config_folder()));
}

/// Has a URL count that the command line or a configuration names.
pub(crate) fn confirm(url: &str) {
    known(|known| known.urls.insert(url.to_owned()));
}

/// Whether a URL of a key service is the user's own: the command line names it, or a configuration of a project that the command line
/// names or in which it runs, or the directory is trusted.
pub(crate) fn is_confirmed(url: &str) -> bool {
    if Environment::of_process().trusts || known(|known| known.urls.contains(url)) {
        return true;
    }
    let mut folders: BTreeSet<PathBuf> = known(|known| known.folders.clone());
    let here = std::env::current_dir().ok().and_then(|here| Project::find(&here).ok().flatten());
    folders.extend(here.map(|project| project.stack_config_folder()));
    folders.iter().any(|folder| configurations(folder).any(|path| names(&path, url)))
}

fn configurations(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = path.extension().and_then(|ending| ending.to_str());
        name.starts_with("Pulumi.") && matches!(ending, Some("yaml" | "yml" | "json"))
    })
}

fn names(path: &Path, url: &str) -> bool {
    let text = small_text(path, LIMIT, Links::Follow).ok().flatten();
    let config = text.and_then(|text| StackConfig::parse(&text).ok());
    config.is_some_and(|config| config.secrets_provider() == Some(url))
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
