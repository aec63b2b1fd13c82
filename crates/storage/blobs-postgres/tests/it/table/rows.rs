//! What is in the rows, and which of it the server reads.

use groundstate_blobs_postgres::blobs::{
    Attributes, BlobStore, DeleteOptions, ErrorKind, GetOptions, Key, ListOptions, Precondition, PutOptions,
};

use super::Place;

fn key(name: &str) -> Key {
    Key::parse(name).unwrap()
}

#[tokio::test]
async fn contents_are_stored_as_they_are_so_that_ranges_and_sizes_cost_little() {
    let Some(place) = Place::new() else { return };
    let (store, other) = (place.open(""), place.other().await);
    store.put(&key("k"), vec![b'a'; 4 << 20].into(), &PutOptions::default()).await.unwrap();
    let sql = format!("SELECT pg_column_size(content)::bigint FROM {}", place.table);
    assert_eq!(other.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0), 4 << 20, "it is not compressed");
    // Blocks of the server's storage that a statement reads.
    let blocks = async |sql: String| -> i64 {
        let touched =
            "SELECT (toast_blks_hit + toast_blks_read)::bigint FROM pg_statio_user_tables WHERE relname = $1";
        other.batch_execute("SELECT pg_stat_force_next_flush()").await.unwrap();
        let before: i64 = other.query_one(touched, &[&place.table]).await.unwrap().get(0);
        other.batch_execute(&sql).await.unwrap();
        other.batch_execute("SELECT pg_stat_force_next_flush()").await.unwrap();
        other.query_one(touched, &[&place.table]).await.unwrap().get::<_, i64>(0) - before
    };
    let table = &place.table;
    let size = blocks(format!("SELECT octet_length(content) FROM {table}")).await;
    let range = blocks(format!("SELECT substring(content from 2000001 for 10) FROM {table}")).await;
    let whole = blocks(format!("SELECT md5(content) FROM {table}")).await;
    assert!(size == 0 && range < 10 && whole > 500, "{size} {range} {whole}");
}

#[tokio::test]
async fn a_version_never_comes_again() {
    let Some(place) = Place::new() else { return };
    let store = place.open("");
    let (a, b) = (key("a"), key("b"));
    let mut versions = Vec::new();
    for _ in 0..3 {
        for name in [&a, &b] {
            versions.push(store.put(name, "1".into(), &PutOptions::default()).await.unwrap());
        }
        assert!(store.delete(&a, &DeleteOptions::default()).await.unwrap());
    }
    let mut texts: Vec<_> = versions.iter().map(ToString::to_string).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 6, "{texts:?}");
    // The sequence of a database that was brought back from a backup begins again where it was.
    let sql = format!("SELECT setval('{}_version', 1, false)", place.table);
    place.other().await.batch_execute(&sql).await.unwrap();
    store.put(&a, "other".into(), &PutOptions::default()).await.unwrap();
    let stale = PutOptions::expecting(Precondition::Version(versions[0].clone()));
    let error = store.put(&a, "lost".into(), &stale).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
}

#[tokio::test]
async fn odd_attributes_are_kept_and_impossible_ones_refused() {
    let Some(place) = Place::new() else { return };
    let store = place.open("");
    let odd = Attributes::content_type("text/\"x'; DROP").with_metadata("a\"b", "\\u0000 \u{1f980}\n");
    store.put(&key("k"), "1".into(), &PutOptions::default().attributes(odd.clone())).await.unwrap();
    assert_eq!(store.head(&key("k")).await.unwrap().unwrap().attributes, odd);
    let page = store.list("", &ListOptions::default()).await.unwrap();
    assert_eq!(page.blobs[0].meta.attributes, odd);
    for attributes in [Attributes::content_type("a\0"), Attributes::default().with_metadata("a", "\0")] {
        let options = PutOptions::default().attributes(attributes);
        let error = store.put(&key("k"), "2".into(), &options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert_eq!(store.head(&key("k")).await.unwrap().unwrap().attributes, odd);
}

#[tokio::test]
async fn prefixes_are_literal_and_lists_in_the_order_of_bytes() {
    let Some(place) = Place::new() else { return };
    let store = place.open("");
    let names =
        ["-a", "A", "B/1", "B/2", "B0", "_", "a", "a%/x", "a/b/c", "a\\b", "a_b/x", "b", "ä", "\u{10ffff}x"];
    for name in names.iter().rev() {
        store.put(&key(name), "1".into(), &PutOptions::default()).await.unwrap();
    }
    let all = |prefix: &'static str, delimiter: bool| {
        let store = &store;
        async move {
            let (mut seen, mut page) = (Vec::new(), None);
            loop {
                let mut options = ListOptions::default().limit(2).page(page);
                options.delimiter = delimiter;
                let found = store.list(prefix, &options).await.unwrap();
                seen.extend(found.blobs.into_iter().map(|blob| blob.name).chain(found.prefixes));
                page = found.next;
                if page.is_none() {
                    // A page has blobs and folders apart from each other.
                    if delimiter {
                        seen.sort();
                    }
                    return seen;
                }
            }
        }
    };
    assert_eq!(all("", false).await, names);
    assert_eq!(all("a_", false).await, ["a_b/x"]);
    assert_eq!(all("a%", false).await, ["a%/x"]);
    assert_eq!(all("a\\", false).await, ["a\\b"]);
    assert_eq!(all("\u{10ffff}", false).await, ["\u{10ffff}x"]);
    assert_eq!(all("a\0", false).await, [""; 0]);
    let level = ["-a", "A", "B/", "B0", "_", "a", "a%/", "a/", "a\\b", "a_b/", "b", "ä", "\u{10ffff}x"];
    assert_eq!(all("", true).await, level);
    assert_eq!(all("a/b/", true).await, ["a/b/c"]);
    assert_eq!(all("a/", true).await, ["a/b/"]);
}

#[tokio::test]
async fn a_folder_costs_a_list_as_much_as_a_blob() {
    let Some(place) = Place::new() else { return };
    let (store, other) = (place.open(""), place.other().await);
    store.create_table().await.unwrap();
    let fill = format!(
        "INSERT INTO {t} (key, content) SELECT 'f' || f || '/' || n, '' FROM generate_series(1, 3) f, generate_series(1, 20000) n; \
         ANALYZE {t}",
        t = place.table
    );
    other.batch_execute(&fill).await.unwrap();
    let read = "SELECT (idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = $1";
    let page = store.list("", &ListOptions::default().delimited()).await.unwrap();
    assert_eq!(page.prefixes, ["f1/", "f2/", "f3/"]);
    drop(store);
    // The counts are published by the session that read, now and then, and at its end.
    let started = std::time::Instant::now();
    let mut count = 0;
    while count == 0 && started.elapsed().as_secs() < 30 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        count = other.query_one(read, &[&place.table]).await.unwrap().get::<_, i64>(0);
    }
    assert!((1..100).contains(&count), "{count} entries of the index were read");
}

#[tokio::test]
async fn damaged_metadata_are_said_without_them() {
    let Some(place) = Place::new() else { return };
    let store = place.open("");
    store.put(&key("k"), "1".into(), &PutOptions::default()).await.unwrap();
    let sql = format!("UPDATE {} SET metadata = '[\"s3cret\"]'", place.table);
    place.other().await.batch_execute(&sql).await.unwrap();
    let error = store.get(&key("k"), &GetOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(!format!("{error:?}").contains("s3cret"));
}

#[tokio::test]
async fn what_makes_too_long_a_field_is_refused_before_it_is_sent() {
    let store = super::open("postgres://u@127.0.0.1:1/d?sslmode=disable");
    let error = store.put(&key("k"), vec![0; 1 << 30].into(), &PutOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("1073741824 bytes make a field of more than 1 GB"), "{error}");
}
