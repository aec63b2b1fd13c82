//! What every face has to do for a client that knows nothing but the interface of object stores.

use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutResult,
    UpdateVersion,
};

/// Reading, writing, conditions, listing, races.
pub(crate) async fn check_all(store: Arc<dyn ObjectStore>) {
    reads_and_writes(&*store).await;
    conditions(&*store).await;
    lists(&*store).await;
    attributes(&*store).await;
    odd_keys(&*store).await;
    copies(&*store).await;
    uploads_in_parts(&*store).await;
    race(&store).await;
    increments(&store).await;
}

fn version(result: PutResult) -> UpdateVersion {
    UpdateVersion { e_tag: result.e_tag, version: result.version }
}

async fn reads_and_writes(store: &dyn ObjectStore) {
    let key = Path::from("rw/a");
    assert!(matches!(store.get(&key).await, Err(Error::NotFound { .. })));
    assert!(matches!(store.head(&key).await, Err(Error::NotFound { .. })));
    let put = store.put(&key, "0123456789".into()).await.unwrap();
    let got = store.get(&key).await.unwrap();
    assert_eq!(got.meta.size, 10);
    assert_eq!(got.meta.e_tag, put.e_tag);
    assert_eq!(&got.bytes().await.unwrap()[..], b"0123456789");
    assert_eq!(&store.get_range(&key, 2..5).await.unwrap()[..], b"234");
    let head = store.head(&key).await.unwrap();
    assert_eq!((head.size, head.e_tag), (10, put.e_tag.clone()));
    let options = GetOptions { if_none_match: put.e_tag.clone(), ..GetOptions::default() };
    assert!(matches!(store.get_opts(&key, options).await, Err(Error::NotModified { .. })));
    let options = GetOptions { if_match: Some("\"other\"".to_owned()), ..GetOptions::default() };
    assert!(matches!(store.get_opts(&key, options).await, Err(Error::Precondition { .. })));
    store.put(&key, "".into()).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap().len(), 0);
    store.delete(&key).await.unwrap();
    assert!(matches!(store.get(&key).await, Err(Error::NotFound { .. })));
}

async fn conditions(store: &dyn ObjectStore) {
    let key = Path::from("cond/a");
    let first = store.put_opts(&key, "1".into(), PutMode::Create.into()).await.unwrap();
    let again = store.put_opts(&key, "2".into(), PutMode::Create.into()).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. } | Error::Precondition { .. })), "{again:?}");
    let first = version(first);
    let second = store.put_opts(&key, "3".into(), PutMode::Update(first.clone()).into()).await.unwrap();
    let stale = store.put_opts(&key, "4".into(), PutMode::Update(first).into()).await;
    assert!(matches!(stale, Err(Error::Precondition { .. })), "{stale:?}");
    assert_eq!(&store.get(&key).await.unwrap().bytes().await.unwrap()[..], b"3");
    store.delete(&key).await.unwrap();
    let gone = store.put_opts(&key, "5".into(), PutMode::Update(version(second)).into()).await;
    assert!(matches!(gone, Err(Error::Precondition { .. })), "{gone:?}");
}

async fn lists(store: &dyn ObjectStore) {
    for key in ["list/a", "list/b/1", "list/b/2", "list/c d/+", "lists"] {
        store.put(&Path::from(key), "x".into()).await.unwrap();
    }
    let prefix = Path::from("list");
    let all: Vec<_> = store.list(Some(&prefix)).try_collect().await.unwrap();
    let keys: Vec<String> = all.iter().map(|meta| meta.location.to_string()).collect();
    assert_eq!(keys, ["list/a", "list/b/1", "list/b/2", "list/c d/+"]);
    assert!(all.iter().all(|meta| meta.e_tag.is_some() && meta.size == 1));
    let level = store.list_with_delimiter(Some(&prefix)).await.unwrap();
    let prefixes: Vec<String> = level.common_prefixes.iter().map(ToString::to_string).collect();
    assert_eq!(prefixes, ["list/b", "list/c d"]);
    assert_eq!(level.objects.len(), 1);
    let after = Path::from("list/b/1");
    let rest: Vec<_> = store.list_with_offset(Some(&prefix), &after).try_collect().await.unwrap();
    assert_eq!(rest.len(), 2);
    let locations = futures_util::stream::iter(all.into_iter().map(|meta| Ok(meta.location))).boxed();
    let deleted: Vec<_> = store.delete_stream(locations).try_collect().await.unwrap();
    assert_eq!(deleted.len(), 4);
    assert_eq!(store.list(Some(&prefix)).count().await, 0);
}

async fn attributes(store: &dyn ObjectStore) {
    let key = Path::from("attributes");
    let mut attributes = Attributes::new();
    attributes.insert(Attribute::ContentType, "application/json".into());
    attributes.insert(Attribute::Metadata("who".into()), "me".into());
    let options = PutOptions { attributes: attributes.clone(), ..PutOptions::default() };
    store.put_opts(&key, "{}".into(), options).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap().attributes, attributes);
}

async fn odd_keys(store: &dyn ObjectStore) {
    for key in ["env:/dev/a.tfstate", "a b", "a%20b", "a+b", "ü/日本", "a~b", "a&b=c?d", "a'b(c)"] {
        let path = Path::parse(key).unwrap();
        store.put(&path, key.to_owned().into()).await.unwrap();
        assert_eq!(store.get(&path).await.unwrap().bytes().await.unwrap(), key, "{key}");
        let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
        assert!(listed.iter().any(|meta| meta.location == path), "{key}: {listed:?}");
        store.delete(&path).await.unwrap();
        assert!(matches!(store.get(&path).await, Err(Error::NotFound { .. })), "{key}");
    }
}

async fn copies(store: &dyn ObjectStore) {
    let (from, to) = (Path::from("copy/a b"), Path::from("copy/to"));
    store.put(&from, "bytes".into()).await.unwrap();
    store.copy(&from, &to).await.unwrap();
    assert_eq!(store.get(&to).await.unwrap().bytes().await.unwrap(), "bytes");
}

async fn uploads_in_parts(store: &dyn ObjectStore) {
    let key = Path::from("parts");
    let part = vec![7_u8; 5 << 20];
    let mut upload = store.put_multipart(&key).await.unwrap();
    upload.put_part(part.clone().into()).await.unwrap();
    upload.put_part(vec![8_u8; 10].into()).await.unwrap();
    upload.complete().await.unwrap();
    assert_eq!(store.head(&key).await.unwrap().size, part.len() as u64 + 10);
    assert_eq!(&store.get_range(&key, 5_242_879..5_242_881).await.unwrap()[..], [7, 8]);
    let mut upload = store.put_multipart(&Path::from("given-up")).await.unwrap();
    upload.put_part("x".into()).await.unwrap();
    upload.abort().await.unwrap();
    assert!(matches!(store.head(&Path::from("given-up")).await, Err(Error::NotFound { .. })));
}

/// Of 64 that create the same object at once, one does.
async fn race(store: &Arc<dyn ObjectStore>) {
    for round in 0..4 {
        let key = Path::from(format!("race/{round}"));
        let tasks: Vec<_> = (0..64_u32)
            .map(|number| {
                let (store, key) = (Arc::clone(store), key.clone());
                tokio::spawn(async move {
                    store
                        .put_opts(&key, number.to_string().into(), PutMode::Create.into())
                        .await
                        .map(|_| number)
                })
            })
            .collect();
        let mut winners = Vec::new();
        for task in tasks {
            winners.extend(task.await.unwrap().ok());
        }
        assert_eq!(winners.len(), 1);
        let stored = store.get(&key).await.unwrap().bytes().await.unwrap();
        assert_eq!(stored, winners[0].to_string());
    }
}

/// No increment is lost that is written in place of what was read.
async fn increments(store: &Arc<dyn ObjectStore>) {
    let key = Path::from("counter");
    store.put(&key, "0".into()).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (store, key) = (Arc::clone(store), key.clone());
            tokio::spawn(async move {
                for _ in 0..10 {
                    while !increment(&*store, &key).await {}
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap(), "80");
}

async fn increment(store: &dyn ObjectStore, key: &Path) -> bool {
    let got = store.get(key).await.unwrap();
    let read = UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
    let text = String::from_utf8(got.bytes().await.unwrap().to_vec()).unwrap();
    let next = (text.parse::<u32>().unwrap() + 1).to_string();
    match store.put_opts(key, next.into(), PutMode::Update(read).into()).await {
        Ok(_) => true,
        Err(Error::Precondition { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}
