//! How the table comes about.

use std::sync::Arc;

use groundstate_blobs_postgres::blobs::{BlobStore, ErrorKind, GetOptions, Key, PutOptions};

use super::{Place, open};

fn key() -> Key {
    Key::parse("k").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_first_writers_create_one_table() {
    let Some(place) = Place::new() else { return };
    let place = Arc::new(place);
    let schema = format!("&schema=s_{}", place.table);
    let mut clients = Vec::new();
    for at in 0..8 {
        let (place, schema) = (Arc::clone(&place), schema.clone());
        clients.push(tokio::spawn(async move {
            let key = Key::parse(&format!("k{at}")).unwrap();
            place.open(&schema).put(&key, "1".into(), &PutOptions::default()).await
        }));
    }
    for client in clients {
        client.await.unwrap().unwrap();
    }
    let page = place.open(&schema).list("", &Default::default()).await.unwrap();
    assert_eq!(page.blobs.len(), 8);
}

#[tokio::test]
async fn readers_of_a_missing_table_say_so_and_create_none() {
    let Some(place) = Place::new() else { return };
    let store = place.open("");
    let error = store.get(&key(), &GetOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("there is no such table"), "{error}");
    let error = store.list("", &Default::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let exists = format!("SELECT to_regclass('{}') IS NOT NULL", place.table);
    assert!(!place.other().await.query_one(&exists, &[]).await.unwrap().get::<_, bool>(0));
}

#[tokio::test]
async fn a_role_without_the_right_to_create_uses_what_exists() {
    let Some(place) = Place::new() else { return };
    let other = place.other().await;
    let (role, schema) = (format!("r_{}", place.table), format!("s_{}", place.table));
    other.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();
    let (as_role, as_owner) = (format!("&schema={schema}&user={role}"), format!("&schema={schema}"));
    let error = place.open(&as_role).create_table().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    place.open(&as_owner).create_table().await.unwrap();
    let grant = format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.{t} TO {role}; \
         GRANT USAGE ON SEQUENCE {schema}.{t}_version TO {role}",
        t = place.table
    );
    other.batch_execute(&grant).await.unwrap();
    let store = place.open(&as_role);
    store.create_table().await.unwrap();
    store.put(&key(), "1".into(), &PutOptions::default()).await.unwrap();
    assert!(store.head(&key()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_database_that_cannot_hold_every_key_is_refused() {
    let Some(place) = Place::new() else { return };
    let database = format!("d_{}", place.table);
    let create = format!(
        "CREATE DATABASE {database} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'"
    );
    place.other().await.batch_execute(&create).await.unwrap();
    let error = place.open(&format!("&dbname={database}")).create_table().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("the encoding of the database is LATIN1"), "{error}");
}

#[tokio::test]
async fn a_table_of_another_program_is_named_as_such() {
    let Some(place) = Place::new() else { return };
    let create = format!("CREATE TABLE {} (key text PRIMARY KEY)", place.table);
    place.other().await.batch_execute(&create).await.unwrap();
    let error = place.open("").put(&key(), "1".into(), &PutOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(
        error.to_string().contains("check that the table has the columns key, version, content"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_is_away_is_said_to_be() {
    let error = open("postgres://u@127.0.0.1:1/d?sslmode=disable").create_table().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}
