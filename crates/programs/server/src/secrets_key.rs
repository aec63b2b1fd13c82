//! The key that wraps the keys of Pulumi stacks: in a file, which is made beside states that lie in a directory.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_common::{Entropy, OsEntropy};
use groundstate_pulumi_service::pulumi_secrets::Key;
use groundstate_pulumi_service::{LocalKey, ServiceKey};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::config::{Config, StorePlace};

/// The file in the directory of the states, where no other is given.
const FILE: &str = "secrets.key";
/// No file with a key is longer.
const LONGEST: usize = 1024;

/// Why there is no key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecretsKeyError {
    /// The file cannot be read or made.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file has no key in it.
    #[error("{} does not have 32 bytes in base64 in it; make it with `openssl rand -base64 32`", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// There is no random generator.
    #[error("cannot make a key")]
    Entropy(#[from] groundstate_common::EntropyError),
}

/// The key of a configuration. A server whose store is shared needs one that is given: nodes that each made their own could not read
/// each other's secrets.
pub(crate) fn secrets_key(config: &Config) -> Result<Option<Arc<dyn ServiceKey>>, SecretsKeyError> {
    let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy);
    let key = match (&config.secrets_key_file, &config.store) {
        (Some(path), _) => read(path)?.ok_or_else(|| SecretsKeyError::File {
            path: path.clone(),
            source: ErrorKind::NotFound.into(),
        })?,
        (None, StorePlace::Directory(folder)) => {
            let path = folder.join(FILE);
            match read(&path)? {
                Some(key) => key,
                None => make(&path, &*entropy)?,
            }
        }
        (None, StorePlace::Memory) => Key::generate(&*entropy)?,
        _ => return Ok(None),
    };
    Ok(Some(Arc::new(LocalKey::new(&key, entropy))))
}

fn read(path: &Path) -> Result<Option<Key>, SecretsKeyError> {
    let text = match std::fs::read(path) {
        Ok(text) => Zeroizing::new(text),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(SecretsKeyError::File { path: path.to_owned(), source }),
    };
    let no_key = || SecretsKeyError::NoKey { path: path.to_owned() };
    if text.len() > LONGEST {
        return Err(no_key());
    }
    let bytes = STANDARD.decode(text.trim_ascii()).map(Zeroizing::new).map_err(|_| no_key())?;
    let bytes: [u8; Key::LENGTH] = bytes[..].try_into().map_err(|_| no_key())?;
    Ok(Some(Key::new(bytes)))
}

/// Makes a file with a new key, which only its owner can read, unless another process was faster: then that one's key counts.
fn make(path: &Path, entropy: &dyn Entropy) -> Result<Key, SecretsKeyError> {
    let failed = |source| SecretsKeyError::File { path: path.to_owned(), source };
    let key = Key::generate(entropy)?;
    let text = Zeroizing::new(STANDARD.encode(key.expose()) + "\n");
    let folder = path.parent().unwrap_or(Path::new("."));
    let number = {
        let mut bytes = [0; 4];
        entropy.fill(&mut bytes)?;
        u32::from_ne_bytes(bytes)
    };
    let staged = folder.join(format!(".{FILE}.{number:08x}"));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&staged).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let linked = written.and_then(|()| std::fs::hard_link(&staged, path));
    drop(std::fs::remove_file(&staged));
    match linked {
        Ok(()) => {
            // The name has to outlast a crash, or secrets that are encrypted meanwhile would be lost.
            std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
            Ok(key)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            read(path)?.ok_or_else(|| failed(ErrorKind::NotFound.into()))
        }
        Err(source) => Err(failed(source)),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use groundstate_common::OsEntropy;

    use super::{make, read};

    #[test]
    fn processes_that_start_at_once_have_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.key");
        let keys: Vec<_> = thread::scope(|scope| {
            let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| make(&path, &OsEntropy).unwrap())).collect();
            makers.into_iter().map(|maker| *maker.join().unwrap().expose()).collect()
        });
        let stored = read(&path).unwrap().unwrap();
        assert!(keys.iter().all(|key| key == stored.expose()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn other_files_are_no_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.key");
        assert!(read(&path).unwrap().is_none());
        for text in ["", "hunter2", "aGk=", &"A".repeat(5000)] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(!error.contains("hunter2") && error.contains("base64"), "{error}");
        }
    }
}
