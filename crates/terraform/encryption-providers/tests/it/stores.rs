//! What encrypted stores read, write and refuse.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_encryption_providers::common::{Entropy, OsEntropy};
use groundstate_encryption_providers::encryption::{
    BoxError, Chain, Envelope, Key, KeyRequest, KeyUse, ProvidedKey, Status,
};
use groundstate_encryption_providers::{EncryptedStore, Encryption, KeyRing, KeyService};
use groundstate_statemgr::{ErrorKind, Expect, MemoryStore, SharedMemory, StateStore, WriteOptions};

use crate::support::{STATE, by_passphrase, chain, encryption};

const OLD: &str = "the-old-passphrase";
const NEW: &str = "the-new-passphrase";

fn open(place: &SharedMemory, chain: Chain) -> EncryptedStore<MemoryStore> {
    EncryptedStore::new(place.open(), encryption(chain))
}

async fn raw(place: &SharedMemory) -> Vec<u8> {
    place.open().read().await.unwrap().unwrap().bytes
}

#[tokio::test]
async fn plaintext_never_reaches_the_inner_store() {
    let place = SharedMemory::new("prod");
    let store = open(&place, by_passphrase(NEW, "method = method.aes_gcm.main"));
    let version =
        store.write(Bytes::copy_from_slice(STATE), &WriteOptions::expecting(Expect::Absent)).await.unwrap();
    let stored = raw(&place).await;
    assert!(Envelope::parse(&stored).unwrap().is_some());
    assert!(!String::from_utf8(stored).unwrap().contains("outputs"));
    let read = store.read().await.unwrap().unwrap();
    assert_eq!((read.bytes.as_slice(), &read.version), (STATE, &version));
    assert_eq!(store.last_read().unwrap().status, Status::Satisfied);
    let conflict = store
        .write(Bytes::copy_from_slice(STATE), &WriteOptions::expecting(Expect::Absent))
        .await
        .unwrap_err();
    assert_eq!(conflict.kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn a_state_in_the_clear_is_refused_without_the_method_for_it_and_migrates_with_it() {
    let place = SharedMemory::new("prod");
    place.open().write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await.unwrap();
    let error = open(&place, by_passphrase(NEW, "method = method.aes_gcm.main")).read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains("unencrypted payload without unencrypted method"), "{error}");
    let rollout =
        by_passphrase(NEW, "method = method.aes_gcm.main\nfallback {\nmethod = method.unencrypted.plain\n}");
    let store = open(&place, rollout);
    assert_eq!(store.read().await.unwrap().unwrap().bytes, STATE);
    assert_eq!(store.last_read().unwrap().status, Status::Migration);
    store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await.unwrap();
    assert!(Envelope::parse(&raw(&place).await).unwrap().is_some());
    let rollback =
        by_passphrase(NEW, "method = method.unencrypted.plain\nfallback {\nmethod = method.aes_gcm.main\n}");
    let store = open(&place, rollback);
    assert_eq!(store.read().await.unwrap().unwrap().bytes, STATE);
    store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await.unwrap();
    assert_eq!(raw(&place).await, STATE);
}

#[tokio::test]
async fn another_passphrase_reads_nothing_and_changes_nothing() {
    let place = SharedMemory::new("prod");
    let target = "method = method.aes_gcm.main";
    open(&place, by_passphrase(OLD, target))
        .write(Bytes::copy_from_slice(STATE), &WriteOptions::any())
        .await
        .unwrap();
    let before = raw(&place).await;
    let error = open(&place, by_passphrase(NEW, target)).read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains("message authentication failed"), "{error}");
    assert_eq!(raw(&place).await, before);
}

#[tokio::test]
async fn damage_is_told_from_missing_keys() {
    let place = SharedMemory::new("prod");
    let target = "method = method.aes_gcm.main";
    for (stored, kind) in [
        ("{\"encryption_version\":\"v0\"", ErrorKind::Corrupt),
        ("{\"encryption_version\":\"v0\",\"encrypted_data\":\"A\"}", ErrorKind::Corrupt),
        ("{\"encryption_version\":\"v9\",\"encrypted_data\":\"\"}", ErrorKind::Unsupported),
        ("{\"encryption_version\":\"v0\",\"encrypted_data\":\"\"}", ErrorKind::Denied),
    ] {
        place.open().write(Bytes::copy_from_slice(stored.as_bytes()), &WriteOptions::any()).await.unwrap();
        let error = open(&place, by_passphrase(NEW, target)).read().await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
}

/// A service that counts what it is asked.
#[derive(Debug, Default)]
struct Counting {
    made: AtomicUsize,
    opened: AtomicUsize,
}

#[async_trait]
impl KeyService for Counting {
    fn handles(&self, kind: &str) -> bool {
        kind == "openbao"
    }

    async fn key(&self, request: &KeyRequest, _: &dyn Entropy) -> Result<ProvidedKey, BoxError> {
        let key = Key::new(vec![5; 32]);
        Ok(match request.key_use() {
            KeyUse::Encrypt => {
                self.made.fetch_add(1, Ordering::Relaxed);
                ProvidedKey::with_metadata(key, b"{}".to_vec())
            }
            KeyUse::Decrypt(_) => {
                self.opened.fetch_add(1, Ordering::Relaxed);
                ProvidedKey::new(key)
            }
        })
    }
}

fn by_service() -> Chain {
    chain(
        r#"
        key_provider "openbao" "k" { key_name = "tofu" }
        method "aes_gcm" "m" { keys = key_provider.openbao.k }
        state { method = method.aes_gcm.m }
        "#,
    )
}

#[tokio::test]
async fn a_service_is_asked_once_to_read_and_once_to_write() {
    let (place, service) = (SharedMemory::new("prod"), Arc::new(Counting::default()));
    let keys = KeyRing::new(Arc::new(OsEntropy)).service(Arc::<Counting>::clone(&service));
    let encryption = Encryption::new(by_service(), Arc::new(keys));
    let asked = || (service.made.load(Ordering::Relaxed), service.opened.load(Ordering::Relaxed));
    let store = EncryptedStore::new(place.open(), encryption.clone());
    assert!(store.read().await.unwrap().is_none());
    assert_eq!(asked(), (0, 0));
    store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await.unwrap();
    assert_eq!(asked(), (1, 0));
    let other = EncryptedStore::new(place.open(), encryption);
    for _ in 0..3 {
        assert_eq!(other.read().await.unwrap().unwrap().bytes, STATE);
        other.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await.unwrap();
    }
    assert_eq!(asked(), (1, 1));
}

#[tokio::test]
async fn a_type_without_a_service_is_named_and_nothing_is_written() {
    let place = SharedMemory::new("prod");
    let store = open(&place, by_service());
    let error = store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await.unwrap_err();
    let causes = std::error::Error::source(&error).unwrap();
    let cause = causes.source().unwrap().to_string();
    assert_eq!(
        (error.kind(), cause.as_str()),
        (ErrorKind::Denied, "key providers of the type `openbao` are not available here")
    );
    assert!(place.open().read().await.unwrap().is_none());
}
