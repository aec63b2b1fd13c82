//! Workspaces of a bucket.

use bytes::Bytes;
use groundstate_statemgr::{
    Backend, CreateWorkspace, DeleteWorkspace, ErrorKind, StateStore, WorkspaceName, WriteOptions,
};
use groundstate_statemgr_object::S3Layout;

use crate::s3::support::{BUCKET, Cloud, KEY, Locks, TABLE, info, state};

fn name(text: &str) -> WorkspaceName {
    WorkspaceName::parse(text).unwrap()
}

#[tokio::test]
async fn workspaces_are_those_with_a_state_under_the_key() {
    let cloud = Cloud::new();
    let backend = cloud.backend(Locks::File.options());
    assert_eq!(backend.list().await.unwrap(), [name("default")]);
    // As terraform makes them, with what else may lie there.
    for key in [
        "env:/staging/network/prod.tfstate",
        "env:/dev/network/prod.tfstate",
        "env:/dev/network/prod.tfstate.tflock",
        "env:/other/network/staging.tfstate",
        "env:/",
        "env:/file",
        "network/prod.tfstate",
        "prod.tfstate",
    ] {
        cloud.server.put_object(BUCKET, key, state(1));
    }
    backend
        .store(&name("mine"))
        .unwrap()
        .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any())
        .await
        .unwrap();
    assert_eq!(backend.list().await.unwrap(), ["default", "dev", "mine", "staging"].map(name));
    assert!(cloud.server.object(BUCKET, "env:/mine/network/prod.tfstate").is_some());
}

#[tokio::test]
async fn lists_of_many_pages_are_whole() {
    let cloud = Cloud::new();
    for number in 0..1_205 {
        cloud.server.put_object(BUCKET, &format!("env:/w{number:04}/{KEY}"), "{}");
    }
    let names = cloud.backend(Locks::None.options()).list().await.unwrap();
    assert_eq!(names.len(), 1_206);
    assert_eq!(names[1_205], name("w1204"));
}

#[tokio::test]
async fn the_prefix_of_workspaces_can_be_chosen() {
    for (prefix, key) in [("ws/x", "ws/x/dev/network/prod.tfstate"), ("", "dev/network/prod.tfstate")] {
        let cloud = Cloud::new();
        let layout = S3Layout::new(KEY).unwrap().workspace_key_prefix(prefix).unwrap();
        let backend = cloud.backend_at(layout, Locks::None.options());
        backend
            .store(&name("dev"))
            .unwrap()
            .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any())
            .await
            .unwrap();
        assert_eq!(cloud.server.keys(BUCKET), [key]);
        assert_eq!(backend.list().await.unwrap(), ["default", "dev"].map(name));
    }
}

#[tokio::test]
async fn a_locked_workspace_is_not_deleted_even_by_force() {
    for locks in Locks::LOCKING {
        let cloud = Cloud::new();
        let backend = cloud.backend(locks.options());
        let dev = name("dev");
        backend.create(&dev, &CreateWorkspace::new(info("new"), state(1))).await.unwrap();
        let error = backend.create(&dev, &CreateWorkspace::new(info("new"), state(2))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        let store = backend.store(&dev).unwrap();
        let grant = store.lock(&info("at work")).await.unwrap();
        let delete = DeleteWorkspace::new(info("delete")).force(true);
        let error = backend.delete(&dev, &delete).await.unwrap_err();
        assert_eq!((error.kind(), &error.holder().unwrap().id), (ErrorKind::Locked, &grant.id));
        assert!(store.read().await.unwrap().is_some());
        store.unlock(&grant.id).await.unwrap();
        backend.delete(&dev, &delete).await.unwrap();
        // Neither a lock nor a digest stays behind, as they do after the original's.
        assert_eq!((cloud.server.keys(BUCKET), cloud.server.items(TABLE)), (vec![], vec![]), "{locks:?}");
        assert_eq!(backend.list().await.unwrap(), [name("default")]);
        assert_eq!(backend.delete(&dev, &delete).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!((cloud.server.keys(BUCKET), cloud.server.items(TABLE)), (vec![], vec![]));
    }
}

#[tokio::test]
async fn a_forbidden_list_is_empty_under_the_default_prefix() {
    let cloud = Cloud::new();
    cloud.server.deny("GET", "/states/?*");
    cloud.server.deny("GET", "/states?*");
    assert_eq!(cloud.backend(Locks::None.options()).list().await.unwrap(), [name("default")]);
    let layout = S3Layout::new(KEY).unwrap().workspace_key_prefix("ws").unwrap();
    let error = cloud.backend_at(layout, Locks::None.options()).list().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains("s3:ListBucket"), "{error}");
}
