//! This library on the places in which the real pulumi works.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{Clock, OsIds, SystemClock};
use groundstate_conformance::ThreadSleeper;
use groundstate_pulumi_backends::blobs::{BlobStore, Context, Precondition};
use groundstate_pulumi_backends::pulumi_diy::pulumi_snapshot::Snapshot;
use groundstate_pulumi_backends::pulumi_diy::{
    Backend, Error, FoundLock, Holder, LockConflict, LockContent, LockOptions, Options, Stack, StackRef,
};
use groundstate_pulumi_backends::{BackendChoice, BackendUrl, OpenContext, OpenedStore};

/// The real time, and ids that nothing else has.
pub(crate) fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(ThreadSleeper), Arc::new(OsIds))
}

/// Opens what `pulumi login` takes, with the variables that pulumi finds.
pub(crate) async fn store(url: &str, variables: &[(String, String)]) -> OpenedStore {
    let variable =
        |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let choice = BackendChoice::of_user(BackendUrl::parse(url).unwrap());
    let with = OpenContext { context: &context(), variable: &variable, directory: Path::new("/") };
    let opened = choice.open(with).unwrap();
    opened.prepare().await.unwrap();
    opened
}

/// The backend in a store.
pub(crate) async fn backend(store: Arc<dyn BlobStore>, options: Options) -> Backend {
    Backend::open(store, context(), options).await.unwrap()
}

/// `organization/shop/NAME`.
pub(crate) fn reference(name: &str) -> StackRef {
    StackRef::parse(&format!("organization/shop/{name}"), None).unwrap()
}

/// This process, on a machine with a name that no other has.
pub(crate) fn holder() -> Holder {
    let started = Some(SystemClock.now());
    Holder { pid: std::process::id(), user: "ann".to_owned(), host: "build-7".to_owned(), started }
}

/// The locks that were in the way.
pub(crate) fn in_the_way(error: &Error) -> &[FoundLock] {
    let source = std::error::Error::source(error);
    source.and_then(|source| source.downcast_ref::<LockConflict>()).map_or(&[], LockConflict::locks)
}

/// The id of the process that holds a lock.
#[track_caller]
pub(crate) fn pid(lock: &FoundLock) -> i64 {
    let LockContent::Held { pid, .. } = lock.content else { panic!("{lock}") };
    pid
}

/// Changes the snapshot of a stack under its lock, as an editor does.
pub(crate) async fn edit(stack: &Stack, change: impl FnOnce(&mut Snapshot)) {
    let options = LockOptions::default().timeout(Duration::from_secs(120));
    let lock = Arc::new(stack.lock(&holder(), &options).await.unwrap());
    let read = stack.read().await.unwrap().unwrap();
    let mut file = read.decode().unwrap();
    change(file.snapshot.as_mut().unwrap());
    let document = stack.document(&file).unwrap();
    let mut writer = stack.writer(Arc::clone(&lock) as _).expecting(Precondition::Version(read.version));
    writer.save(document).await.unwrap();
    lock.release().await.unwrap();
}
