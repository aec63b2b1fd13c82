//! Data keys of a store, wrapped by the key of the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_blobs::sealed::{seal, unseal};
use groundstate_blobs::{
    BlobStore, BlobVersion, Error as BlobError, GetOptions, Key as BlobKey, Precondition, PutOptions,
};
use groundstate_common::hex;
use groundstate_pulumi_service::pulumi_secrets::Key;
use groundstate_pulumi_service::{BoxError, ServiceKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::EncryptionError;
use super::envelope::{self, KeyId};

/// The blob with the data keys, and a copy of it: without them nothing of the store can be read.
pub(crate) const KEYRING: &str = "groundstate/keys.json";
const COPY: &str = "groundstate/keys.copy.json";
const FORMAT: u64 = 1;

/// Data keys as they are stored, oldest first. New blobs get the last.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: u64,
    keys: Vec<Entry>,
}

/// A data key in an envelope, by a key that the server's key has wrapped. So a key service never sees the data key, and another key of the
/// server needs no other data key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    /// Name of the server's key.
    by: String,
    wrapped: String,
    key: String,
}

/// The stored keyring.
#[derive(Debug)]
pub(super) struct StoredKeyring {
    document: Document,
    /// Version of the keyring itself, also if the document was read from the copy.
    version: Option<BlobVersion>,
}

/// A data key.
pub(super) struct DataKey {
    pub(super) id: KeyId,
    pub(super) key: Key,
}

impl StoredKeyring {
    /// Reads the keyring, or its copy if it is missing or damaged. Returns `None` if the store has none.
    pub(super) async fn read(store: &dyn BlobStore) -> Result<Option<Self>, EncryptionError> {
        let stored = get(store, KEYRING).await?;
        let version = stored.as_ref().map(|blob| blob.meta.version.clone());
        if let Some(document) = stored.as_ref().and_then(|blob| parse(&blob.bytes)) {
            return Ok(Some(Self { document, version }));
        }
        let copy = get(store, COPY).await?;
        match copy.as_ref().and_then(|blob| parse(&blob.bytes)) {
            Some(document) => Ok(Some(Self { document, version })),
            None if stored.is_none() && copy.is_none() => Ok(None),
            None => Err(EncryptionError::DamagedKeyring),
        }
    }

    /// Names of the server's keys that are needed.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.document.keys.iter().map(|entry| entry.by.as_str())
    }

    /// Unwraps all data keys.
    pub(super) async fn unwrap(&self, key: &dyn ServiceKey) -> Result<Vec<DataKey>, EncryptionError> {
        let mut keys = Vec::new();
        for entry in &self.document.keys {
            let failed = |source| EncryptionError::Unwrap { name: shown(&entry.by), source };
            keys.push(entry.open(key).await.map_err(failed)?);
        }
        Ok(keys)
    }

    /// Wraps every data key by the present key of the server, and adds a new one for what is written from now on.
    pub(super) async fn rewrap(
        &self,
        store: &dyn BlobStore,
        key: &dyn ServiceKey,
        keys: &[DataKey],
    ) -> Result<(), EncryptionError> {
        let mut entries = Vec::new();
        for data in keys {
            entries.push(Entry::of(data, key).await?);
        }
        entries.push(Entry::of(&new_key(key)?, key).await?);
        write(store, &Document { format: FORMAT, keys: entries }, self.version.as_ref()).await
    }
}

/// Makes a keyring with one data key. If another node is quicker, its keyring counts.
pub(super) async fn create(store: &dyn BlobStore, key: &dyn ServiceKey) -> Result<(), EncryptionError> {
    let entry = Entry::of(&new_key(key)?, key).await?;
    write(store, &Document { format: FORMAT, keys: vec![entry] }, None).await
}

impl Entry {
    async fn of(data: &DataKey, key: &dyn ServiceKey) -> Result<Self, EncryptionError> {
        let wrapping = key.generate().await;
        // The name of a key in a file is known when there is a file.
        let by = key.name();
        let failed = |source| EncryptionError::Wrap { name: shown(&by), source };
        let (wrapping, wrapped) = wrapping.map_err(failed)?;
        let sealed = envelope::seal(&wrapping, &data.id, KEYRING, data.key.expose(), key.entropy());
        let sealed = sealed.map_err(failed)?;
        let (wrapped, sealed) = (STANDARD.encode(wrapped), STANDARD.encode(sealed));
        Ok(Self { id: hex(&data.id), by, wrapped, key: sealed })
    }

    async fn open(&self, key: &dyn ServiceKey) -> Result<DataKey, BoxError> {
        let wrapping = key.unwrap(&self.by, &STANDARD.decode(&self.wrapped)?).await?;
        let sealed = STANDARD.decode(&self.key)?;
        let id =
            envelope::key_id(&sealed).filter(|id| hex(id) == self.id).ok_or("the data key is damaged")?;
        let plain = envelope::open(&wrapping, KEYRING, sealed.into()).ok_or("the data key is damaged")?;
        let plain = Zeroizing::new(Vec::from(plain));
        let bytes: [u8; Key::LENGTH] = plain[..].try_into().map_err(|_| "the data key has another length")?;
        Ok(DataKey { id, key: Key::new(bytes) })
    }
}

/// The name of a key without the parameters of its URL.
pub(super) fn shown(name: &str) -> String {
    groundstate_common::one_line(name.split('?').next().unwrap_or_default()).into_owned()
}

fn new_key(key: &dyn ServiceKey) -> Result<DataKey, EncryptionError> {
    let mut id = KeyId::default();
    key.entropy().fill(&mut id).map_err(EncryptionError::Entropy)?;
    Ok(DataKey { id, key: Key::generate(key.entropy()).map_err(EncryptionError::Entropy)? })
}

fn parse(bytes: &[u8]) -> Option<Document> {
    let object = unseal(bytes).ok()??;
    let document: Document = serde_json::from_slice(&object).ok()?;
    (document.format == FORMAT && !document.keys.is_empty()).then_some(document)
}

async fn get(store: &dyn BlobStore, name: &str) -> Result<Option<groundstate_blobs::Blob>, EncryptionError> {
    let found = async { store.get(&BlobKey::parse(name)?, &GetOptions::default()).await };
    found.await.map_err(EncryptionError::Store)
}

/// Writes the keyring, and then its copy.
async fn write(
    store: &dyn BlobStore,
    document: &Document,
    instead_of: Option<&BlobVersion>,
) -> Result<(), EncryptionError> {
    let text = seal(&serde_json::to_string(document).unwrap_or_default());
    let written = async {
        let options = PutOptions::expecting(Precondition::of(instead_of));
        store.put(&BlobKey::parse(KEYRING)?, text.clone().into(), &options).await?;
        store.put(&BlobKey::parse(COPY)?, text.into(), &PutOptions::default()).await?;
        Ok::<_, BlobError>(())
    };
    match written.await {
        // Another node was quicker.
        Err(error) if error.kind() == groundstate_blobs::ErrorKind::PreconditionFailed => Ok(()),
        written => written.map_err(EncryptionError::Store),
    }
}
