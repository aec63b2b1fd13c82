//! The conformance suite of state stores, on encrypted stores around memory and files.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use groundstate_common::SystemClock;
use groundstate_conformance::{Address, Harness, MemoryHarness, TestStore};
use groundstate_encryption_providers::encryption::EnvelopeLayout;
use groundstate_encryption_providers::{EncryptedStore, Encryption};
use groundstate_statemgr::{Result, StateStore};
use groundstate_statemgr_fs::FsStore;
use tempfile::TempDir;

use crate::support::{by_passphrase, encryption};

/// One for the process: the key is derived once.
static ENCRYPTION: LazyLock<Encryption> = LazyLock::new(|| {
    let chain = by_passphrase("correct-horse-battery", "method = method.aes_gcm.main");
    encryption(chain).layout(EnvelopeLayout::Indented)
});

fn encrypted(store: impl StateStore) -> Arc<dyn StateStore> {
    Arc::new(EncryptedStore::new(store, ENCRYPTION.clone()))
}

struct Memory(MemoryHarness);

#[async_trait]
impl Harness for Memory {
    fn name(&self) -> String {
        format!("encrypted {}", self.0.name())
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        Ok(Arc::new(Around(self.0.store().await?)))
    }
}

struct Around(Arc<dyn TestStore>);

#[async_trait]
impl TestStore for Around {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(encrypted(self.0.open().await?))
    }

    fn clock(&self) -> Arc<dyn groundstate_common::Clock> {
        self.0.clock()
    }

    async fn pass(&self, time: std::time::Duration) {
        self.0.pass(time).await;
    }
}

struct Files;

#[async_trait]
impl Harness for Files {
    fn name(&self) -> String {
        "encrypted files".to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        Ok(Arc::new(OneFile(tempfile::tempdir().unwrap())))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        Ok(encrypted(file(Path::new(address))?))
    }

    fn secrets(&self) -> Vec<String> {
        vec!["correct-horse-battery".to_owned()]
    }
}

fn file(path: &Path) -> Result<FsStore> {
    FsStore::open(path, Arc::new(SystemClock))
}

struct OneFile(TempDir);

impl OneFile {
    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("terraform.tfstate")
    }
}

#[async_trait]
impl TestStore for OneFile {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(encrypted(file(&self.path())?))
    }

    fn address(&self) -> Address {
        Address::At(self.path().display().to_string())
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        Ok(std::fs::write(self.path(), b"").is_ok())
    }
}

mod memory {
    use groundstate_conformance::MemoryHarness;

    groundstate_conformance::suite!(super::Memory(MemoryHarness::new()));
}

mod files {
    groundstate_conformance::suite!(super::Files);
}
