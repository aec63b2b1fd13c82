//! Schema, tables and rights.

use bytes::Bytes;
use groundstate_statemgr_pg::statemgr::{ErrorKind, StateStore, WorkspaceName, WriteOptions};
use groundstate_statemgr_pg::{PgBackend, PgSettings};

use crate::support::{Place, info, row};

fn open(settings: &PgSettings) -> groundstate_statemgr_pg::PgStore {
    PgBackend::open(settings).unwrap().open_store(&WorkspaceName::default_name())
}

#[tokio::test]
async fn tables_sequence_and_indexes_are_those_of_terraform() {
    let Some(place) = Place::new().await else { return };
    let other = place.other().await;
    place.backend().prepare().await.unwrap();
    let columns = "SELECT column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '-') \
                   FROM information_schema.columns WHERE table_schema = 'terraform_remote_state' AND table_name = 'states' \
                   ORDER BY ordinal_position";
    let columns: Vec<String> =
        other.query(columns, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(
        columns,
        ["id bigint NO nextval('global_states_id_seq'::regclass)", "name text YES -", "data text YES -"]
    );
    let indexes = "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'terraform_remote_state' AND tablename = 'states' ORDER BY 1";
    let indexes: Vec<String> =
        other.query(indexes, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(indexes, ["states_by_name", "states_name_key", "states_pkey"]);
    let sequence = "SELECT data_type::text FROM information_schema.sequences WHERE sequence_schema = 'public' AND sequence_name = 'global_states_id_seq'";
    assert_eq!(other.query_one(sequence, &[]).await.unwrap().get::<_, &str>(0), "bigint");
}

#[tokio::test]
async fn rows_of_two_schemas_have_different_numbers() {
    let Some(place) = Place::new().await else { return };
    let other = place.other().await;
    let mut ids = Vec::new();
    for schema in ["terraform_remote_state", "tf \"b\""] {
        let settings = place.settings().schema_name(schema).unwrap();
        let store = open(&settings);
        store.write(Bytes::copy_from_slice(schema.as_bytes()), &WriteOptions::any()).await.unwrap();
        let sql = format!("SELECT id FROM \"{}\".states", schema.replace('"', "\"\""));
        ids.push(other.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0));
        assert_eq!(open(&settings).read().await.unwrap().unwrap().bytes, schema.as_bytes());
    }
    assert_ne!(ids[0], ids[1]);
    // So a lock in one does not lock the other.
    let (a, b) = (open(&place.settings()), open(&place.settings().schema_name("tf \"b\"").unwrap()));
    a.lock(&info("a")).await.unwrap();
    b.lock(&info("b")).await.unwrap();
}

#[tokio::test]
async fn other_tables_and_indexes_of_opentofu_are_used() {
    let Some(place) = Place::new().await else { return };
    let other = place.other().await;
    let settings = place.settings().table_name("more").unwrap().index_name("more_by_name").unwrap();
    let store = open(&settings);
    let grant = store.lock(&info("a")).await.unwrap();
    assert_eq!(open(&settings).lock_holder().await.unwrap().unwrap().id, grant.id);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    assert_eq!(place.store().read().await.unwrap(), None, "the default table is another one");
    let sql = "SELECT to_regclass('terraform_remote_state.more_by_name') IS NOT NULL";
    assert!(other.query_one(sql, &[]).await.unwrap().get::<_, bool>(0));
}

#[tokio::test]
async fn what_is_skipped_is_not_created_and_its_absence_is_said() {
    let Some(place) = Place::new().await else { return };
    let other = place.other().await;
    for (settings, missing) in [
        (
            place.settings().skip_schema_creation(true),
            "there is no such schema, and skip_schema_creation is set",
        ),
        (
            place.settings().skip_table_creation(true),
            "there is no such table, and skip_table_creation is set",
        ),
    ] {
        let error = open(&settings).write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains(missing), "{error}");
    }
    assert_eq!(
        open(&place.settings().skip_table_creation(true)).read().await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let exists = "SELECT to_regnamespace('terraform_remote_state') IS NOT NULL";
    assert!(!other.query_one(exists, &[]).await.unwrap().get::<_, bool>(0));

    open(&place.settings().skip_index_creation(true))
        .write(Bytes::from_static(b"{}"), &WriteOptions::any())
        .await
        .unwrap();
    let index = "SELECT to_regclass('terraform_remote_state.states_by_name') IS NOT NULL";
    assert!(!other.query_one(index, &[]).await.unwrap().get::<_, bool>(0));
    let all = place.settings().skip_schema_creation(true).skip_table_creation(true).skip_index_creation(true);
    let store = open(&all);
    let grant = store.lock(&info("a")).await.unwrap();
    store.write(Bytes::from_static(b"{ }"), &WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
}

#[tokio::test]
async fn a_role_with_rights_on_the_table_alone_reads_writes_and_locks() {
    let Some(place) = Place::new().await else { return };
    let other = place.other().await;
    let role = format!("r_{}", place.database);
    other.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();
    let settings = PgSettings::new(&format!("{}&user={role}", place.conn_str()), &|_| None).unwrap();
    let error = open(&settings).lock(&info("a")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains("have its owner run `terraform init` once"), "{error}");

    place.backend().prepare().await.unwrap();
    let schema = "terraform_remote_state";
    let grants = format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.states TO {role}; \
         GRANT USAGE ON SEQUENCE public.global_states_id_seq TO {role}"
    );
    other.batch_execute(&grants).await.unwrap();
    let store = open(&settings);
    let grant = store.lock(&info("a")).await.unwrap();
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    let holder = place.store().lock_holder().await.unwrap().unwrap();
    assert!(holder.id.as_str().starts_with("process-"), "it may leave no document: {holder:?}");
    assert!(holder.info.who.starts_with(&role), "{holder:?}");
    store.unlock(&grant.id).await.unwrap();
    assert!(row(&other, "default").await > 0);
    other.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

#[test]
fn names_that_the_server_would_cut_off_are_refused() {
    let settings = || PgSettings::new("postgres://u:s3cret@h/d", &|_| None).unwrap();
    let long = "n".repeat(64);
    for name in ["", &long, "a\0b"] {
        for error in [settings().schema_name(name), settings().table_name(name), settings().index_name(name)]
        {
            assert_eq!(error.unwrap_err().kind(), ErrorKind::Invalid, "{name:?}");
        }
    }
    let shown = format!("{} {:?}", settings(), PgBackend::open(&settings()).unwrap());
    assert_eq!(
        shown,
        "pg://u@h/d/terraform_remote_state.states PgBackend(pg://u@h/d/terraform_remote_state.states)"
    );
    let error = PgSettings::new("postgres://u:s3cret@h:port/d", &|_| None).unwrap_err();
    assert!(!format!("{error:?}").contains("s3cret"));
}
