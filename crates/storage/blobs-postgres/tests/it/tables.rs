//! Tables, rights, collations and servers that do not do what is asked.

use groundstate_blobs_postgres::blobs::{BlobStore, ErrorKind, Key, ListOptions, PutOptions};

use crate::server::{Place, open};

#[tokio::test]
async fn names_of_tables_are_folded_as_the_server_folds_them() {
    let Some(mut place) = Place::new() else { return };
    let lower = place.table.clone();
    place.table = lower.to_uppercase();
    place.create().await.put(&Key::parse("k").unwrap(), "1".into(), &PutOptions::default()).await.unwrap();
    // Without quotes, as the original writes it.
    let sql = format!("SELECT count(*) FROM {}", place.table);
    assert_eq!(place.other().await.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0), 1);
    place.table = lower;
    assert!(place.open("").head(&Key::parse("k").unwrap()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_role_without_the_right_to_create_uses_what_exists() {
    let Some(place) = Place::new() else { return };
    let other = place.other().await;
    let (role, schema) = (format!("r_{}", place.table), format!("s_{}", place.table));
    let made =
        format!("CREATE ROLE {role} LOGIN; CREATE SCHEMA {schema}; GRANT USAGE ON SCHEMA {schema} TO {role}");
    other.batch_execute(&made).await.unwrap();
    let more = format!("&search_path={schema}&user={role}");
    let error = place.open(&more).create_table().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().contains("CREATE on its schema"), "{error}");
    let key = Key::parse("k").unwrap();
    let missing = place.open(&more).head(&key).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound, "{missing}");

    place.open(&format!("&search_path={schema}")).create_table().await.unwrap();
    let denied = place.open(&more).put(&key, "1".into(), &PutOptions::default()).await.unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied, "{denied}");
    let grant = format!("GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.{} TO {role}", place.table);
    other.batch_execute(&grant).await.unwrap();
    let store = place.open(&more);
    store.create_table().await.unwrap();
    store.put(&key, "1".into(), &PutOptions::default()).await.unwrap();
    assert!(store.head(&key).await.unwrap().is_some());
}

#[tokio::test]
async fn lists_are_in_the_order_of_bytes_whatever_the_collation() {
    let Some(place) = Place::new() else { return };
    let other = place.other().await;
    let database = format!("d_{}", place.table);
    let icu = format!("CREATE DATABASE {database} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'");
    let glibc = format!(
        "CREATE DATABASE {database} TEMPLATE template0 LC_COLLATE 'en_US.UTF-8' LC_CTYPE 'en_US.UTF-8'"
    );
    if other.batch_execute(&icu).await.is_err() && other.batch_execute(&glibc).await.is_err() {
        println!("not run: the server has no other collation");
        return;
    }
    let store = open(&place.url(&format!("&dbname={database}")));
    store.create_table().await.unwrap();
    let names = ["-a", "A", "B/1", "B/2", "_", "a", "b", "ä"];
    for name in names.iter().rev() {
        store.put(&Key::parse(name).unwrap(), "1".into(), &PutOptions::default()).await.unwrap();
    }
    let (mut seen, mut options) = (Vec::new(), ListOptions::default().limit(3));
    loop {
        let page = store.list("", &options).await.unwrap();
        seen.extend(page.blobs.into_iter().map(|blob| blob.name));
        let Some(next) = page.next else { break };
        options = options.page(Some(next));
    }
    assert_eq!(seen, names);
    let level = store.list("", &ListOptions::default().delimited().limit(3)).await.unwrap();
    assert_eq!(
        (level.blobs.len(), level.prefixes, level.next.unwrap().as_str()),
        (2, vec!["B/".to_owned()], "B/")
    );
}

#[tokio::test]
async fn a_server_without_tls_is_explained() {
    let Some(place) = Place::new() else { return };
    let url = place.server.replace("?sslmode=disable", "");
    let error = open(&url).head(&Key::parse("k").unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let text = error.to_string();
    assert!(
        text.contains("the server offers no TLS, which sslmode=require (the default) asks for"),
        "{text}"
    );
    assert!(text.contains("add sslmode=disable"), "{text}");
    let plain = open(&format!("{url}?sslmode=prefer&table={}", place.table));
    assert_eq!(plain.head(&Key::parse("k").unwrap()).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_missing_database_is_named() {
    let Some(place) = Place::new() else { return };
    let error = place.open("&dbname=none_such").head(&Key::parse("k").unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("/none_such"), "{error}");
}
