//! Stores of `object_store` that lack something, and what the suite does not see of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use groundstate_blobs::{
    Attributes, BlobStore, DeleteOptions, ErrorKind, GetOptions, Key, ListOptions, Precondition, PutOptions,
};
use groundstate_blobs_cloud::ObjectStoreBlobs;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;

use crate::harness::Harness;

/// A store in memory for each container.
pub(crate) fn harness() -> Harness {
    let stores = Mutex::new(HashMap::new());
    Harness::new(Arc::new(move |name| {
        let mut stores = stores.lock().expect("no thread panics while it holds the lock");
        let store: &mut Arc<InMemory> = stores.entry(name.to_owned()).or_default();
        Ok(Arc::new(ObjectStoreBlobs::new(Arc::clone(store) as _)))
    }))
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn what_the_store_lacks_is_refused_whether_that_was_said_or_not() -> Outcome {
    let folder = tempfile::tempdir()?;
    let inner = Arc::new(LocalFileSystem::new_with_prefix(folder.path())?);
    let key = Key::parse("a/b.tfstate")?;
    let unsaid = ObjectStoreBlobs::new(Arc::clone(&inner) as _);
    let version = unsaid.put(&key, "1".into(), &PutOptions::default()).await?;
    let next = PutOptions::expecting(Precondition::Version(version.clone()));
    let described = PutOptions::default().attributes(Attributes::content_type("application/json"));
    let said = ObjectStoreBlobs::new(inner).conditional_put(false).attributes(false);
    for store in [&unsaid, &said] {
        for options in [&next, &described] {
            let error = store.put(&key, "2".into(), options).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        }
        let error = store.delete(&key, &DeleteOptions::version(&version)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(store.leases().is_none());
    }
    assert_eq!(said.get(&key, &GetOptions::default()).await?.unwrap().bytes, "1");
    Ok(())
}

#[tokio::test]
async fn no_name_becomes_another() -> Outcome {
    let store = ObjectStoreBlobs::new(Arc::new(InMemory::new())).named("theirs");
    let names = ["env:/dev/my~key", "a b%2F+c", "größe/日本.tfstate", "a#1", "{x}|`^[]<>\"*?"];
    for name in names {
        store.put(&Key::parse(name)?, name.into(), &PutOptions::default()).await?;
    }
    let page = store.list("", &ListOptions::default()).await?;
    let mut expected = names;
    expected.sort_unstable();
    assert_eq!(page.blobs.iter().map(|blob| blob.name.as_str()).collect::<Vec<_>>(), expected);
    for name in names {
        let blob = store.get(&Key::parse(name)?, &GetOptions::default()).await?.unwrap();
        assert_eq!(blob.bytes, name);
    }
    assert_eq!(store.to_string(), "theirs");
    Ok(())
}

#[tokio::test]
async fn a_generation_is_the_version_where_that_is_a_number() -> Outcome {
    let store = ObjectStoreBlobs::new(Arc::new(InMemory::new()));
    let key = Key::parse("k")?;
    let first = store.put(&key, "1".into(), &PutOptions::default()).await?;
    // The text of a version is what managers keep of it.
    let kept: groundstate_blobs::BlobVersion = first.to_string().parse()?;
    store.put(&key, "2".into(), &PutOptions::expecting(Precondition::Version(kept.clone()))).await?;
    let error =
        store.put(&key, "3".into(), &PutOptions::expecting(Precondition::Version(kept))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "{error}");
    Ok(())
}
