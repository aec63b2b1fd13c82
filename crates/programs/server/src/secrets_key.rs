//! The key of the server, which wraps the keys of Pulumi stacks and those of an encrypted store: of a key service, or in a file, which is made
//! for states that lie in a directory.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_blobs::Context;
use groundstate_common::{Entropy, OsEntropy, hex, one_line};
use groundstate_durable::{Draft, Links, Taken, parent, small_text};
use groundstate_key_services::KeyContext;
use groundstate_pulumi_backends::{CloudSecrets, KeyUrl, KeyUrlError};
use groundstate_pulumi_service::BoxError;
use groundstate_pulumi_service::pulumi_secrets::Key;
use groundstate_pulumi_service::pulumi_secrets::cloud::CloudState;
use groundstate_pulumi_service::{LocalKey, ServiceKey, Stacks};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::config::{Config, StorePlace};

/// Prefix of the names of keys in files.
const LOCAL: &str = "local:";
/// File in the directory of the states, where earlier releases made the key.
const FILE: &str = "secrets.key";
/// No file with a key is longer.
const LONGEST: u64 = 1024;

/// Why there is no key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecretsKeyError {
    /// The file cannot be read or made.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said of the file.
        source: std::io::Error,
    },
    /// The file has no key in it.
    #[error("{} does not have 32 bytes in base64 in it; make it with `openssl rand -base64 32`", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The URL of the key cannot be used.
    #[error("`pulumi.secrets_key` cannot be used")]
    Url(#[from] KeyUrlError),
    /// The keys of stacks are wrapped by another key than that of the file.
    #[error(
        "the secrets of the stacks in this store are under the key {stored}, and the file has another one; restore the file, \
         or give that key up with `pulumi.lost_secrets_keys`"
    )]
    Other {
        /// Name of the key in the store.
        stored: String,
    },
    /// The store does not say which keys have wrapped those of stacks.
    #[error("cannot read which key the secrets of stacks are under")]
    Store(#[source] Box<groundstate_pulumi_service::Error>),
    /// There is no random generator.
    #[error("cannot make a key")]
    Entropy(#[from] groundstate_common::EntropyError),
}

/// The keys of a configuration: that which wraps new keys, and that which unwraps what it has wrapped before.
#[derive(Debug)]
struct ServiceKeys {
    cloud: Option<CloudKey>,
    local: OnceLock<LocalKey>,
    /// File that is made with a new key when the first stack needs one. Not before: the store then knows whether there was a key.
    file: Option<PathBuf>,
    /// Names of keys that the operator has given up.
    lost: BTreeSet<String>,
    entropy: Arc<dyn Entropy>,
}

impl ServiceKeys {
    /// Returns the key of the file, which another process may have made meanwhile.
    fn local(&self) -> Result<Option<&LocalKey>, SecretsKeyError> {
        if let (None, Some(path)) = (self.local.get(), &self.file)
            && let Some(key) = read(path)?
        {
            return Ok(Some(self.keep(&key)));
        }
        Ok(self.local.get())
    }

    fn keep(&self, key: &Key) -> &LocalKey {
        self.local.get_or_init(|| LocalKey::new(key, Arc::clone(&self.entropy)))
    }
}

/// A key of a key service.
struct CloudKey {
    url: String,
    secrets: CloudSecrets,
}

impl std::fmt::Debug for CloudKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CloudKey").finish_non_exhaustive()
    }
}

impl CloudKey {
    /// Checks the URL, and asks nothing yet.
    fn new(url: &str, context: &Context, entropy: &Arc<dyn Entropy>) -> Result<Self, SecretsKeyError> {
        KeyUrl::parse(url)?;
        let keys = KeyContext::new(
            Arc::clone(&context.clock),
            Arc::clone(&context.sleeper),
            Arc::clone(&context.ids),
            Arc::clone(entropy),
        );
        // The URL is the operator's, and no variable of the CLI overrides it.
        let variable = |name: &str| std::env::var(name).ok().filter(|_| !name.starts_with("PULUMI_"));
        let secrets = CloudSecrets::new(keys, variable).trusting(|_| true);
        Ok(Self { url: url.to_owned(), secrets })
    }
}

#[async_trait]
impl ServiceKey for ServiceKeys {
    fn name(&self) -> String {
        match &self.cloud {
            Some(cloud) => cloud.url.clone(),
            None => self.local.get().map(ServiceKey::name).unwrap_or_default(),
        }
    }

    async fn generate(&self) -> Result<(Key, Vec<u8>), BoxError> {
        match (&self.cloud, self.local()?, &self.file) {
            (Some(cloud), _, _) => {
                let (state, _, _) = cloud.secrets.create(&cloud.url).await?;
                Ok((cloud.secrets.data_key(&state).await?, state.encrypted_key().to_vec()))
            }
            (None, Some(local), _) => local.generate().await,
            (None, None, Some(path)) => {
                let made = make(path, &*self.entropy).map_err(|error| match error {
                    SecretsKeyError::File { path, source } => format!(
                        "the server cannot make its key in {}: {source}; name a file by `pulumi.secrets_key_file`",
                        path.display()
                    ),
                    error => error.to_string(),
                })?;
                self.keep(&made).generate().await
            }
            (None, None, None) => Err("the server has no key".into()),
        }
    }

    async fn unwrap(&self, name: &str, wrapped: &[u8]) -> Result<Key, BoxError> {
        match (&self.cloud, self.local()?) {
            (_, Some(local)) if name == local.name() => local.unwrap(name, wrapped).await,
            // The name is the URL by which this server, or one before it, has wrapped.
            (Some(cloud), _) if KeyUrl::parse(name).is_ok() => {
                Ok(cloud.secrets.data_key(&CloudState::new(name, wrapped.to_vec())).await?)
            }
            _ => Err("another key has wrapped it; give the server that key too, as a file or a URL".into()),
        }
    }

    fn opens(&self, name: &str) -> bool {
        let is_local = self.local().ok().flatten().is_some_and(|local| local.name() == name);
        is_local || self.lost.contains(name) || (self.cloud.is_some() && KeyUrl::parse(name).is_ok())
    }

    fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }
}

/// The key of a configuration. A server whose store is shared needs one that is given: nodes that each made their own could not read
/// each other's secrets.
pub(crate) fn secrets_key(
    config: &Config,
    context: &Context,
) -> Result<Option<Arc<dyn ServiceKey>>, SecretsKeyError> {
    let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy);
    let cloud = config.secrets_key.as_deref().map(|url| CloudKey::new(url, context, &entropy)).transpose()?;
    let (mut file, local) = match (&config.secrets_key_file, &config.store) {
        (Some(path), _) => {
            let missing = || SecretsKeyError::File { path: path.clone(), source: ErrorKind::NotFound.into() };
            (None, Some(read(path)?.ok_or_else(missing)?))
        }
        (None, StorePlace::Directory(folder)) => {
            let path = made_file(config, folder);
            let key = read(&path)?;
            (Some(path), key)
        }
        (None, StorePlace::Memory) if cloud.is_none() => (None, Some(Key::generate(&*entropy)?)),
        _ => (None, None),
    };
    if cloud.is_some() && local.is_none() {
        file = None;
    }
    if cloud.is_none() && local.is_none() && file.is_none() {
        return Ok(None);
    }
    let lost = config.lost_secrets_keys.iter().cloned().collect();
    let keys = ServiceKeys { cloud, local: OnceLock::new(), file, lost, entropy };
    if let Some(key) = local {
        keys.keep(&key);
    }
    Ok(Some(Arc::new(keys)))
}

/// Returns the file of the key that the server makes: that of an earlier release, or one that does not lie in the store.
fn made_file(config: &Config, folder: &Path) -> PathBuf {
    let inside = folder.join(FILE);
    match &config.made_key_file {
        Some(outside) if !inside.exists() => outside.clone(),
        _ => inside,
    }
}

/// Compares the key of a configuration with those that have wrapped keys of stacks in its store. Gives what the operator has to know.
///
/// # Errors
///
/// Returns an error if a file with another key than that of the store is given.
pub(crate) async fn check_secrets_key(
    config: &Config,
    stacks: &Stacks,
) -> Result<Vec<String>, SecretsKeyError> {
    let known = stacks.wrapping_keys().await.map_err(|error| SecretsKeyError::Store(Box::new(error)))?;
    let key = stacks.service_key();
    let lost: Vec<&str> = known
        .iter()
        .map(String::as_str)
        .filter(|name| !key.is_some_and(|key| key.opens(name)) && !config.lost_secrets_keys.contains(*name))
        .collect();
    let has_file = config.secrets_key_file.is_some()
        || matches!(&config.store, StorePlace::Directory(folder) if made_file(config, folder).exists());
    if has_file && let Some(wrapped) = lost.iter().find(|name| name.starts_with(LOCAL)) {
        return Err(SecretsKeyError::Other { stored: (*wrapped).to_owned() });
    }
    let mut notes: Vec<String> = lost
        .iter()
        .map(|name| {
            let name = one_line(name.split('?').next().unwrap_or_default());
            let place = match (&config.store, name.starts_with(LOCAL)) {
                (StorePlace::Directory(folder), true) => format!("restore {}", made_file(config, folder).display()),
                (_, true) => "give its file as `pulumi.secrets_key_file`".to_owned(),
                (_, false) => "give its URL as `pulumi.secrets_key`".to_owned(),
            };
            format!(
                "the secrets of Pulumi stacks are under the key {name}, which this server lacks, so they cannot be read and no new key is made: {place}; \
                 `pulumi.lost_secrets_keys` gives the key up"
            )
        })
        .collect();
    if key.is_none() && lost.is_empty() {
        notes.push(
            "there is no key for the secrets of Pulumi stacks, so stacks need a secrets provider of their own; \
             `pulumi.secrets_key_file` or `pulumi.secrets_key` gives one"
                .to_owned(),
        );
    }
    if let (StorePlace::Directory(folder), None, Some(outside)) =
        (&config.store, &config.secrets_key_file, &config.made_key_file)
        && folder.join(FILE).exists()
    {
        notes.push(format!(
            "the key of the server lies in the store that it protects: stop the server, and move {} to {}",
            folder.join(FILE).display(),
            outside.display()
        ));
    }
    Ok(notes)
}

fn read(path: &Path) -> Result<Option<Key>, SecretsKeyError> {
    let no_key = || SecretsKeyError::NoKey { path: path.to_owned() };
    let text = match small_text(path, LONGEST, Links::Follow) {
        Ok(Some(text)) => Zeroizing::new(text),
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => return Err(no_key()),
        Err(source) => return Err(SecretsKeyError::File { path: path.to_owned(), source }),
    };
    let bytes = STANDARD.decode(text.trim_ascii()).map(Zeroizing::new).map_err(|_| no_key())?;
    let bytes: [u8; Key::LENGTH] = bytes[..].try_into().map_err(|_| no_key())?;
    Ok(Some(Key::new(bytes)))
}

/// Makes a file with a new key, which only its owner can read, unless another process was faster: then that one's key counts. The
/// name outlasts a crash, or secrets that are encrypted meanwhile would be lost.
fn make(path: &Path, entropy: &dyn Entropy) -> Result<Key, SecretsKeyError> {
    let failed = |source| SecretsKeyError::File { path: path.to_owned(), source };
    let key = Key::generate(entropy)?;
    let text = Zeroizing::new(STANDARD.encode(key.expose()) + "\n");
    std::fs::create_dir_all(parent(path)).map_err(failed)?;
    let mut number = [0; 4];
    entropy.fill(&mut number)?;
    let draft = Draft::create(parent(path).join(format!(".{FILE}.{}", hex(&number)))).map_err(failed)?;
    draft.file().write_all(text.as_bytes()).map_err(failed)?;
    match draft.publish(path, Taken::Refuse) {
        Ok(_) => {
            tracing::warn!(file = %path.display(), "made a key of the server; keep a copy, since nothing that it encrypts can be read without it");
            Ok(key)
        }
        Err(refused) if refused.error.kind() == ErrorKind::AlreadyExists => {
            read(path)?.ok_or_else(|| failed(ErrorKind::NotFound.into()))
        }
        Err(refused) => Err(failed(refused.error)),
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
