//! How workspaces begin and end, for backends whose workspaces are states and nothing else.

use std::panic::resume_unwind;

use bytes::Bytes;
use groundstate_statefile::{
    DecodeOptions, Dialect, EncodeOptions, File, ReadError, WriterVersion, decode, encode,
};
use groundstate_states::{Lineage, Serial};

use crate::Op;
use crate::backend::{CreateWorkspace, DeleteWorkspace, WorkspaceName};
use crate::error::{Error, ErrorKind, Result};
use crate::guard::{catch_panic, is_loss};
use crate::holder::LockGrant;
use crate::lock_info::{LockId, LockInfo};
use crate::store::{Expect, StateStore, WriteOptions};

const DELETE: Op = Op::DeleteWorkspace;

/// The document of a state in which nothing is yet: of serial 1, as the original programs write it.
///
/// # Errors
///
/// `Internal` when it cannot be written.
pub fn empty_state(dialect: Dialect, lineage: Lineage, writer: Option<WriterVersion>) -> Result<Vec<u8>> {
    let mut file = File::new(dialect, lineage);
    file.serial = Serial::new(1);
    file.terraform_version = writer;
    encode(&file, &EncodeOptions::default())
        .map_err(|error| Error::new(ErrorKind::Internal, Op::Write, "an empty state").with_source(error))
}

/// Whether the document of a workspace has resources to lose.
///
/// # Errors
///
/// `Corrupt` when that cannot be told.
pub fn holds_resources(bytes: &[u8], name: &WorkspaceName) -> Result<bool> {
    match decode(bytes, &DecodeOptions::default()) {
        Ok(file) => Ok(file.state.has_managed_resource_instance_objects()),
        Err(ReadError::NoState) => Ok(false),
        Err(error) => Err(Error::new(ErrorKind::Corrupt, Op::Other("read the state of the workspace"), name)
            .because("its state cannot be read, repair it or force the deletion")
            .with_source(error)),
    }
}

/// Stores the first state of a workspace under its lock, unless there is one: what [`Backend::create`] asks for where a
/// workspace exists once it has a state.
///
/// [`Backend::create`]: crate::Backend::create
///
/// # Errors
///
/// Those of [`Backend::create`].
pub async fn create_workspace(
    store: &dyn StateStore,
    name: &WorkspaceName,
    options: &CreateWorkspace,
) -> Result<()> {
    if name.is_default() {
        return Err(taken(name));
    }
    let grant = lock(store, &options.lock).await?;
    releasing(store, grant.as_ref(), write_first(store, name, &options.state, grant.as_ref())).await
}

async fn write_first(
    store: &dyn StateStore,
    name: &WorkspaceName,
    state: &[u8],
    grant: Option<&LockGrant>,
) -> Result<()> {
    let conditional = store.capabilities().conditional_write;
    if !conditional && store.read().await?.is_some() {
        return Err(taken(name));
    }
    let expect = if conditional { Expect::Absent } else { Expect::Any };
    match store.write(Bytes::copy_from_slice(state), &conditions(grant, expect)).await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::Conflict => Err(taken(name).with_source(error)),
        Err(error) => Err(error),
    }
}

fn taken(name: &WorkspaceName) -> Error {
    Error::new(ErrorKind::Conflict, Op::CreateWorkspace, name).because("it exists already")
}

/// Deletes the state of a workspace under its lock: what [`Backend::delete`] asks for where a workspace is its state.
///
/// [`Backend::delete`]: crate::Backend::delete
///
/// # Errors
///
/// Those of [`Backend::delete`].
pub async fn delete_workspace(
    store: &dyn StateStore,
    name: &WorkspaceName,
    options: &DeleteWorkspace,
) -> Result<()> {
    if name.is_default() {
        return Err(invalid(name, "the default workspace cannot be deleted"));
    }
    let grant = lock(store, &options.lock).await?;
    releasing(store, grant.as_ref(), remove(store, name, options.force, grant.as_ref())).await
}

async fn remove(
    store: &dyn StateStore,
    name: &WorkspaceName,
    force: bool,
    grant: Option<&LockGrant>,
) -> Result<()> {
    let Some(stored) = store.read().await? else {
        return Err(Error::new(ErrorKind::NotFound, DELETE, name).because("there is no such workspace"));
    };
    if !force && holds_resources(&stored.bytes, name)? {
        return Err(invalid(name, "it has resources, destroy them before or force it"));
    }
    let conditional = store.capabilities().conditional_write;
    let expect = if conditional { Expect::Version(stored.version) } else { Expect::Any };
    store.delete(&conditions(grant, expect)).await
}

fn invalid(name: &WorkspaceName, why: &str) -> Error {
    Error::new(ErrorKind::Invalid, DELETE, name).because(why)
}

fn conditions(grant: Option<&LockGrant>, expect: Expect) -> WriteOptions {
    WriteOptions::expecting(expect).fence(grant.and_then(|grant| grant.fence))
}

async fn lock(store: &dyn StateStore, info: &LockInfo) -> Result<Option<LockGrant>> {
    if store.capabilities().locking { store.lock(info).await.map(Some) } else { Ok(None) }
}

/// Does the work, and releases the lock if one was taken.
async fn releasing(
    store: &dyn StateStore,
    grant: Option<&LockGrant>,
    work: impl Future<Output = Result<()>>,
) -> Result<()> {
    match grant {
        Some(grant) => under_lock(&grant.id, work, store.unlock(&grant.id)).await,
        None => work.await,
    }
}

/// Does work while a lock is held, then releases the lock by `unlock`, whatever comes of the work. A panic of the work goes on
/// once the lock is released.
///
/// # Errors
///
/// That of the work, with what is left of the lock in its text; that of the release as [`ErrorKind::NotReleased`] where the
/// work is done.
pub async fn under_lock<T>(
    id: &LockId,
    work: impl Future<Output = Result<T>>,
    unlock: impl Future<Output = Result<()>>,
) -> Result<T> {
    let outcome = catch_panic(work).await;
    let released = unlock.await;
    end_lock(outcome.unwrap_or_else(|panic| resume_unwind(panic)), id, released)
}

/// The outcome of work under a lock, and of the release of that lock.
fn end_lock<T>(outcome: Result<T>, id: &LockId, released: Result<()>) -> Result<T> {
    let Err(left) = released else { return outcome };
    if let Err(error) = outcome {
        return Err(error.and_also(&left));
    }
    let why = match is_loss(left.kind()) {
        true => format!("it is done, but the lock {id} was lost meanwhile: {left}"),
        false => format!("it is done, but the lock {id} is not released: {left}"),
    };
    Err(Error::new(ErrorKind::NotReleased, left.op(), left.target()).because(why).with_source(left))
}
