//! Rows that the original and this store write to one table.

use groundstate_blobs_postgres::blobs::{
    BlobStore, DeleteOptions, ErrorKind, GetOptions, Key, ListOptions, Precondition, PutOptions,
};

use crate::server::Place;

fn key(name: &str) -> Key {
    Key::parse(name).unwrap()
}

async fn names(store: &dyn BlobStore, prefix: &str, options: &ListOptions) -> Vec<String> {
    let page = store.list(prefix, options).await.unwrap();
    page.blobs.into_iter().map(|blob| blob.name).chain(page.prefixes).collect()
}

#[tokio::test]
async fn rows_are_the_originals_in_both_directions() {
    let Some(place) = Place::new() else { return };
    let (store, other) = (place.create().await, place.other().await);
    store.put(&key("k"), "{}".into(), &PutOptions::default()).await.unwrap();
    let sql = format!("SELECT data::text FROM {} WHERE key = 'k'", place.table);
    let text: String = other.query_one(&sql, &[]).await.unwrap().get(0);
    assert_eq!(text, r#"{"data":"e30="}"#);

    place.write_as_other(&other, "theirs", "aGVsbG8=").await;
    let blob = store.get(&key("theirs"), &GetOptions::default()).await.unwrap().unwrap();
    assert_eq!(&blob.bytes[..], b"hello");
    let head = store.head(&key("theirs")).await.unwrap().unwrap();
    assert_eq!((head.size, head.last_modified), (5, blob.meta.last_modified));
    assert!(head.last_modified.is_some());
    let page = store.list("", &ListOptions::default()).await.unwrap();
    let listed: Vec<_> = page.blobs.iter().map(|blob| (blob.name.as_str(), blob.meta.size)).collect();
    assert_eq!(listed, [("k", 2), ("theirs", 5)]);
    assert_eq!(page.blobs[1].meta.last_modified, head.last_modified);

    let index = "SELECT indexdef FROM pg_indexes WHERE indexname = $1";
    let index: String =
        other.query_one(index, &[&format!("{}_key_prefix_idx", place.table)]).await.unwrap().get(0);
    assert!(index.contains("(key text_pattern_ops)"), "{index}");
}

#[tokio::test]
async fn equal_rows_of_other_programs_are_other_versions() {
    let Some(place) = Place::new() else { return };
    let (store, other) = (place.create().await, place.other().await);
    place.write_as_other(&other, "k", "MA==").await;
    for _ in 0..30 {
        let read = store.head(&key("k")).await.unwrap().unwrap().version;
        place.write_as_other(&other, "k", "MA==").await;
        let expecting = PutOptions::expecting(Precondition::Version(read.clone()));
        let error = store.put(&key("k"), "1".into(), &expecting).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
        assert_eq!(&error.found().unwrap().bytes[..], b"0");
        let error = store.delete(&key("k"), &DeleteOptions::version(&read)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    }
    let read = store.head(&key("k")).await.unwrap().unwrap().version;
    let read =
        store.put(&key("k"), "1".into(), &PutOptions::expecting(Precondition::Version(read))).await.unwrap();
    assert!(store.delete(&key("k"), &DeleteOptions::version(&read)).await.unwrap());
    place.write_as_other(&other, "k", "MQ==").await;
    let again = PutOptions::expecting(Precondition::Version(read));
    let error = store.put(&key("k"), "2".into(), &again).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "it was deleted and written again");
}

#[tokio::test]
async fn a_missing_row_is_deleted_without_an_error() {
    let Some(place) = Place::new() else { return };
    let store = place.create().await;
    assert!(!store.delete(&key("k.bak"), &DeleteOptions::default()).await.unwrap());
}

#[tokio::test]
async fn underscores_and_percent_signs_are_themselves() {
    let Some(place) = Place::new() else { return };
    let store = place.create().await;
    for name in ["p/a_b/x", "p/a-b/x", "p/aXb/x", "p/a%/x", "p/a\\b/x", "p/a"] {
        store.put(&key(name), "1".into(), &PutOptions::default()).await.unwrap();
    }
    let (all, level) = (ListOptions::default(), ListOptions::default().delimited());
    for (prefix, found) in [
        ("p/a_b/", vec!["p/a_b/x"]),
        ("p/a_", vec!["p/a_b/x"]),
        ("p/a%", vec!["p/a%/x"]),
        ("%", vec![]),
        ("p/a\\", vec!["p/a\\b/x"]),
        ("p/a\0", vec![]),
    ] {
        assert_eq!(names(&store, prefix, &all).await, found, "{prefix:?}");
    }
    assert_eq!(names(&store, "p/a_b/", &level).await, ["p/a_b/x"]);
    assert_eq!(names(&store, "p/a_", &level).await, ["p/a_b/"]);
    let folders = ["p/a", "p/a%/", "p/a-b/", "p/aXb/", "p/a\\b/", "p/a_b/"];
    assert_eq!(names(&store, "p/", &level).await, folders);
}

#[tokio::test]
async fn what_makes_too_long_a_field_is_refused_before_it_is_sent() {
    let store = crate::server::open("postgres://u@127.0.0.1:1/d?sslmode=disable");
    let error = store.put(&key("k"), vec![0; 806_000_000].into(), &PutOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("806000000 bytes make a field of more than 1 GB"), "{error}");
}

#[tokio::test]
async fn damaged_rows_are_listed_and_said() {
    let Some(place) = Place::new() else { return };
    let (store, other) = (place.create().await, place.other().await);
    for (name, data) in [("a", "{}"), ("b", "[1]"), ("c", r#"{"data":"s3cret!"}"#), ("d", "null")] {
        let sql = format!("INSERT INTO {} (key, data) VALUES ($1, $2::text::json)", place.table);
        other.execute(&sql, &[&name, &data]).await.unwrap();
        let error = store.get(&key(name), &GetOptions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
    assert_eq!(names(&store, "", &ListOptions::default()).await, ["a", "b", "c", "d"]);
    store.put(&key("a"), "1".into(), &PutOptions::default()).await.unwrap();
    assert_eq!(&store.get(&key("a"), &GetOptions::default()).await.unwrap().unwrap().bytes[..], b"1");
}
