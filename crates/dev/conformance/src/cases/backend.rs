//! T4 to T6: what Terraform's own suites do with backends.

use groundstate_statemgr::{
    Backend, DeleteWorkspace, ErrorKind, LockId, Locker, Manager, Reader, Refresher, Result, WorkspaceName,
    write_and_persist,
};
use groundstate_states::State;

use crate::cases::terraform::{granted, refreshed, two_lockers};
use crate::cx::Cx;
use crate::failure::{Answer, Step, ensure, equal, fail, not_applicable};
use crate::states::{has_objects, with_a_thing};

const DEFAULT: &str = "default";

/// A manager of each of two clients, for the place itself and for a named workspace where there are any.
async fn pairs(cx: &Cx) -> Step<Vec<[std::sync::Arc<Manager>; 2]>> {
    let (a, b) = cx.two().await?;
    let mut pairs = vec![[refreshed(cx, a, 1).await?, refreshed(cx, b, 1_000).await?]];
    if let (Some(one), Some(two)) = (cx.workspaces().await?, cx.workspaces().await?) {
        for name in [DEFAULT, "named"] {
            let a = open(cx, &*one, name).await?;
            let b = open(cx, &*two, name).await?;
            pairs.push([a, b]);
        }
    }
    Ok(pairs)
}

/// A manager of a workspace, refreshed.
async fn open(cx: &Cx, backend: &dyn Backend, name: &str) -> Step<std::sync::Arc<Manager>> {
    let store = backend.store(&named(name)?).succeeds(&format!("opening the workspace {name:?}"))?;
    refreshed(cx, cx.client(store), u64::try_from(name.len()).unwrap_or_default()).await
}

fn named(name: &str) -> Step<WorkspaceName> {
    WorkspaceName::parse(name).or_else(|error| fail("the suite's names are names", error.to_string()))
}

async fn delete(cx: &Cx, backend: &dyn Backend, name: &str) -> Step<Result<()>> {
    let options = DeleteWorkspace::new(cx.info("delete")).force(true);
    Ok(backend.delete(&named(name)?, &options).await)
}

pub(super) async fn locks(cx: &Cx) -> Step {
    for [a, b] in pairs(cx).await? {
        let grant = granted(a.lock(&cx.info("open")).await, "a lock of client A")?;
        // Others can be opened, and read, while the lock is held.
        refreshed(cx, cx.open().await?, 2_000).await?;
        a.unlock(&grant).await.succeeds("the release of client A")?;
        two_lockers(cx, &a, &b).await?;
    }
    Ok(())
}

pub(super) async fn force_unlock(cx: &Cx) -> Step {
    for [a, b] in pairs(cx).await? {
        two_lockers(cx, &a, &b).await?;
        let info = cx.info("fresh");
        let held = granted(a.lock(&info).await, "a lock of client A")?;
        let error = b
            .lock(&cx.info("other"))
            .await
            .refused(ErrorKind::Locked, "a lock of client B while A holds it")?;
        let Some(holder) = error.holder() else {
            return fail("the refusal has the holder's document", "there is none in it");
        };
        ensure(!holder.id.is_empty(), "the refusal has the lock's id", || "it is empty".to_owned())?;
        equal("the id in the refusal", &holder.id, &held)?;
        b.force_unlock(&holder.id).await.succeeds("a release by client B under the id of the refusal")?;
        let again = granted(b.lock(&cx.info("again")).await, "a lock of client B after that")?;
        b.unlock(&again).await.succeeds("the release of client B")?;
        leave(&a, &held).await;
    }
    Ok(())
}

/// Has a client forget a lock that was broken; its answer is not what this is about.
async fn leave(manager: &Manager, id: &LockId) {
    manager.unlock(id).await.unwrap_or_default();
}

pub(super) async fn workspaces(cx: &Cx) -> Step {
    let Some(backend) = cx.workspaces().await? else {
        return not_applicable("the harness has no backend with workspaces (`TestStore::workspaces`)");
    };
    let backend = &*backend;
    lists(backend, &[DEFAULT]).await?;
    let first = open(cx, backend, "foo").await?;
    is_empty(&first, "foo, which is new,")?;
    let bar = open(cx, backend, "bar").await?;
    is_empty(&bar, "bar, which is new,")?;
    if first.is_locking_enabled() {
        let id = granted(first.lock(&cx.info("init")).await, "a lock of foo")?;
        write_and_persist(&*first, &State::new()).await.succeeds("a first persist of foo")?;
        first.unlock(&id).await.succeeds("the release of foo")?;
    } else {
        write_and_persist(&*first, &State::new()).await.succeeds("a first persist of foo")?;
    }
    write_and_persist(&*bar, &with_a_thing()?).await.succeeds("a first persist of bar")?;
    first.refresh_state().await.succeeds("a refresh of foo")?;
    is_empty(&first, "foo, after bar was written,")?;
    is_empty(&*open(cx, backend, "foo").await?, "foo, opened again,")?;
    let bar = open(cx, backend, "bar").await?;
    ensure(has_objects(bar.state().as_ref()), "bar, opened again, has its object", || {
        "it has none".to_owned()
    })?;

    lists(backend, &[DEFAULT, "bar", "foo"]).await?;
    delete(cx, backend, "foo").await?.succeeds("removing foo")?;
    let kinds = [ErrorKind::Invalid, ErrorKind::Unsupported];
    delete(cx, backend, DEFAULT).await?.refused_with(&kinds, "removing the default workspace")?;
    lists(backend, &[DEFAULT, "bar"]).await?;
    let first = open(cx, backend, "foo").await?;
    is_empty(&first, "foo, created again,")?;
    // Some backends make a workspace when it is opened, others when it is written; either way it can go again.
    write_and_persist(&*first, &State::new()).await.succeeds("a first persist of foo, created again,")?;
    delete(cx, backend, "foo").await?.succeeds("removing foo again")?;
    lists(backend, &[DEFAULT, "bar"]).await
}

fn is_empty(manager: &Manager, who: &str) -> Step {
    let seen = || "it has some".to_owned();
    ensure(!has_objects(manager.state().as_ref()), format!("{who} has no objects"), seen)
}

async fn lists(backend: &dyn Backend, expected: &[&str]) -> Step {
    let names = backend.list().await.succeeds("listing the workspaces")?;
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    equal("the workspaces", &names, &expected)
}
