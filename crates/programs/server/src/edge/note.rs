//! A note outside of stores: which id the store at a place has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use groundstate_blobs::sealed::{seal, unseal};
use groundstate_common::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::mark::StoreId;
use super::open::OpenError;
use crate::config::StorePlace;

/// End of the name of a note, behind the name of the configuration.
const SUFFIX: &str = ".store.json";
/// End of the name of the file beside it with the key that the server makes.
const KEY: &str = ".secrets.key";

#[derive(Serialize, Deserialize)]
struct Remembered {
    /// The place, without secrets.
    store: String,
    id: StoreId,
}

/// The file that remembers which store lies where, so that an empty place is not taken for a new one.
#[derive(Clone, Debug)]
pub struct StoreNote {
    path: PathBuf,
}

impl StoreNote {
    /// The note of a configuration, which is beside it: `server.toml.store.json`.
    pub fn beside(configuration: &Path) -> Self {
        let mut name = configuration.file_name().map_or_else(OsString::new, OsString::from);
        name.push(SUFFIX);
        Self { path: configuration.with_file_name(name) }
    }

    /// The note on a place for servers without a file of configuration, in `$XDG_STATE_HOME/groundstate/stores`, which is
    /// `~/.local/state/groundstate/stores` as a rule.
    pub fn of_user(place: &StorePlace, variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
        let digest = hex(&Sha256::digest(name(place).as_bytes())[..8]);
        Some(Self { path: state.join(format!("groundstate/stores/{digest}.json")) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file beside the note for the key that a server makes if none is configured: not in the store, which the key protects.
    pub fn key_file(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(SUFFIX).or_else(|| name.strip_suffix(".json")).unwrap_or(&name);
        self.path.with_file_name(format!("{name}{KEY}"))
    }

    /// The id of the store at a place, if it is remembered.
    pub(super) fn id(&self, place: &StorePlace) -> Result<Option<StoreId>, OpenError> {
        let known = self.read()?.filter(|known| known.store == name(place));
        Ok(known.map(|known| known.id))
    }

    /// Remembers the id of the store at a place.
    pub(super) fn remember(&self, place: &StorePlace, id: &StoreId) -> Result<(), OpenError> {
        if self.id(place)?.as_ref() == Some(id) {
            return Ok(());
        }
        let known = Remembered { store: name(place), id: id.clone() };
        let text = seal(&serde_json::to_string(&known).unwrap_or_default());
        let write = || {
            if let Some(folder) = self.path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let mut draft = self.path.clone().into_os_string();
            draft.push(format!(".{}", std::process::id()));
            std::fs::write(&draft, &text)?;
            std::fs::rename(&draft, &self.path)
        };
        write().map_err(|error| self.unusable(error.to_string()))
    }

    fn read(&self) -> Result<Option<Remembered>, OpenError> {
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unusable(error.to_string())),
        };
        let unsealed = unseal(&text).map_err(|error| self.unusable(error.to_string()))?;
        let object = unsealed.ok_or_else(|| self.unusable("it has no checksum".to_owned()))?;
        serde_json::from_slice(&object).map(Some).map_err(|error| self.unusable(error.to_string()))
    }

    fn unusable(&self, reason: String) -> OpenError {
        OpenError::Note { path: self.path.clone(), reason }
    }
}

/// The place as another working directory finds it.
fn name(place: &StorePlace) -> String {
    match place {
        StorePlace::Directory(path) => {
            std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string()
        }
        place => place.to_string(),
    }
}
