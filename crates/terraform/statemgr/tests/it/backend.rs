//! The contract of backends, on the one in memory.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{SequenceIds, Timestamp};
use groundstate_statefile::{DecodeOptions, Dialect, WriterVersion, decode};
use groundstate_statemgr::{
    Backend, Capabilities, CreateWorkspace, DeleteWorkspace, ErrorKind, LockGrant, LockHolder, LockId,
    LockInfo, MemoryBackend, Result, SharedMemory, StateStore, Stored, Version, WorkspaceName, WriteOptions,
    create_workspace, delete_workspace, empty_state,
};
use groundstate_states::Lineage;

const WITH_RESOURCE: &[u8] =
    br#"{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[{"mode":"managed",
"type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]",
"instances":[{"schema_version":0,"attributes":{"id":"x"}}]}]}"#;

fn name(text: &str) -> WorkspaceName {
    WorkspaceName::parse(text).expect("it is a name")
}

fn info(ids: u64) -> LockInfo {
    LockInfo::new(&SequenceIds::starting_at(ids), Timestamp::UNIX_EPOCH, "test").expect("the source has ids")
}

fn creation() -> CreateWorkspace {
    let state = empty_state(Dialect::Terraform, Lineage::new("l"), WriterVersion::parse("1.11.4").ok())
        .expect("it is encoded");
    CreateWorkspace::new(info(1), state)
}

fn deletion() -> DeleteWorkspace {
    DeleteWorkspace::new(info(2))
}

#[tokio::test]
async fn what_is_created_is_listed_and_can_be_created_once() {
    let backend = MemoryBackend::new("team");
    assert_eq!(backend.list().await.unwrap(), [WorkspaceName::default_name()]);
    for workspace in ["b", "a"] {
        backend.create(&name(workspace), &creation()).await.unwrap();
    }
    assert_eq!(backend.list().await.unwrap(), [name("default"), name("a"), name("b")]);
    for taken in ["a", "default"] {
        let error = backend.create(&name(taken), &creation()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    }
    let store = backend.store(&name("a")).unwrap();
    assert!(store.lock_holder().await.unwrap().is_none(), "the lock is released, also after a refusal");
    let file = decode(&store.read().await.unwrap().unwrap().bytes, &DecodeOptions::default()).unwrap();
    assert_eq!((file.serial.get(), file.lineage.as_str()), (1, "l"));
}

#[tokio::test]
async fn the_first_state_is_what_terraform_writes() {
    let lineage = Lineage::new("00000000-0000-0000-0000-000000000000");
    let state = empty_state(Dialect::Terraform, lineage, WriterVersion::parse("1.11.4").ok()).unwrap();
    assert_eq!(state.len(), 181, "{}", String::from_utf8_lossy(&state));
}

#[tokio::test]
async fn one_is_deleted_only_if_nothing_is_lost_with_it_or_by_force() {
    let backend = MemoryBackend::new("team");
    let a = name("a");
    let store = backend.store(&a).unwrap();
    let refused = async |what: &WorkspaceName, options: &DeleteWorkspace| {
        let error = backend.delete(what, options).await.unwrap_err();
        assert!(backend.store(what).unwrap().lock_holder().await.unwrap().is_none());
        error.kind()
    };
    assert_eq!(refused(&name("default"), &deletion().force(true)).await, ErrorKind::Invalid);
    assert_eq!(refused(&a, &deletion()).await, ErrorKind::NotFound);
    store.write(Bytes::copy_from_slice(WITH_RESOURCE), &WriteOptions::any()).await.unwrap();
    assert_eq!(refused(&a, &deletion()).await, ErrorKind::Invalid);
    store.write(Bytes::from_static(b"{"), &WriteOptions::any()).await.unwrap();
    assert_eq!(refused(&a, &deletion()).await, ErrorKind::Corrupt);
    backend.delete(&a, &deletion().force(true)).await.unwrap();
    assert_eq!(backend.list().await.unwrap(), [WorkspaceName::default_name()]);
}

#[tokio::test]
async fn one_that_is_locked_is_not_deleted_even_by_force() {
    let backend: Arc<dyn Backend> = Arc::new(MemoryBackend::new("team"));
    let a = name("a");
    backend.create(&a, &creation()).await.unwrap();
    let store = backend.store(&a).unwrap();
    let grant = store.lock(&info(7)).await.unwrap();
    let error = backend.delete(&a, &deletion().force(true)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert_eq!(error.holder().map(|holder| &holder.id), Some(&grant.id));
    store.unlock(&grant.id).await.unwrap();
    backend.delete(&a, &deletion()).await.unwrap();
}

/// A store that panics whenever it is to write or delete.
#[derive(Debug)]
struct PanicsOnWrites(Arc<dyn StateStore>);

impl fmt::Display for PanicsOnWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
#[expect(clippy::panic, reason = "what a panic leaves behind is what the test is about")]
impl StateStore for PanicsOnWrites {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn lock_name(&self) -> String {
        self.0.lock_name()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        self.0.read().await
    }

    async fn write(&self, _: Bytes, _: &WriteOptions) -> Result<Version> {
        panic!("the write panics")
    }

    async fn delete(&self, _: &WriteOptions) -> Result<()> {
        panic!("the deletion panics")
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        self.0.lock(info).await
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        self.0.renew(id).await
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.0.unlock(id).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.0.force_unlock(id).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.0.lock_holder().await
    }
}

#[tokio::test]
async fn a_panic_while_a_workspace_is_made_or_deleted_releases_its_lock() {
    let place = SharedMemory::new("a");
    let panics = Arc::new(PanicsOnWrites(Arc::new(place.open())));
    let store = Arc::clone(&panics);
    let created = tokio::spawn(async move { create_workspace(&*store, &name("a"), &creation()).await });
    assert!(created.await.unwrap_err().is_panic());
    assert!(place.open().lock_holder().await.unwrap().is_none(), "after the creation");
    create_workspace(&place.open(), &name("a"), &creation()).await.unwrap();
    let deleted = tokio::spawn(async move { delete_workspace(&*panics, &name("a"), &deletion()).await });
    assert!(deleted.await.unwrap_err().is_panic());
    assert!(place.open().lock_holder().await.unwrap().is_none(), "after the deletion");
    assert!(place.open().read().await.unwrap().is_some());
}
