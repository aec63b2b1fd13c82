//! URLs and variables.

use std::fs;

use groundstate_blobs_postgres::blobs::{BlobStore, ErrorKind, Key};
use groundstate_blobs_postgres::{PostgresBlobs, PostgresSettings};

fn settings(url: &str) -> PostgresSettings {
    PostgresSettings::from_url(url, &|_| None).unwrap()
}

#[test]
fn urls_name_the_server_the_table_and_the_prefix_of_keys() {
    for (url, shown, prefix) in [
        ("postgres://u@h:5433/db", "postgres://u@h:5433/db?table=pulumi_state", "db/"),
        ("postgres://u@h/a%20b?table=My_State", "postgres://u@h/a b?table=my_state", "a b/"),
        ("postgres://", "postgres://localhost/?table=pulumi_state", ""),
        ("postgres://h/?dbname=other&user=u&port=1", "postgres://u@h:1/other?table=pulumi_state", ""),
    ] {
        let settings = settings(url);
        assert_eq!((settings.to_string().as_str(), settings.key_prefix()), (shown, prefix), "{url}");
    }
    assert_eq!(settings("postgres://h/d?table=My_State").table(), "my_state");
}

#[test]
fn variables_fill_what_the_url_leaves_out() {
    let lookup = |name: &str| match name {
        "PGHOST" => Some("variable".to_owned()),
        "PGDATABASE" => Some("database".to_owned()),
        "PGPORT" => Some("6000".to_owned()),
        "USER" => Some("os".to_owned()),
        _ => None,
    };
    let from = |url: &str| PostgresSettings::from_url(url, &lookup).unwrap();
    assert_eq!(from("postgres://").to_string(), "postgres://os@variable:6000/database?table=pulumi_state");
    assert_eq!(from("postgres://").key_prefix(), "", "the original adds none for PGDATABASE");
    assert_eq!(from("postgres://u@h:1/d").to_string(), "postgres://u@h:1/d?table=pulumi_state");
}

#[test]
fn what_cannot_be_used_is_refused_with_the_reason() {
    for (url, reason) in [
        ("postgres://h/d?keepalives_idle=3", "cannot use the parameter keepalives_idle: it is unknown here"),
        ("postgresql://h/d", "cannot use the scheme postgresql"),
        ("postgres://h/d?table=a.b", "name the schema with search_path=SCHEMA instead"),
        ("postgres://h/d?table=a\"b", "not a plain name"),
        ("postgres://h/d?sslmode=maybe", "cannot use sslmode=maybe"),
        ("postgres://h/d?connect_timeout=soon", "set connect_timeout to a number"),
        ("postgres://h/d?client_encoding=LATIN1", "set client_encoding to UTF8"),
        ("nonsense", "the URL of the database"),
    ] {
        let error = PostgresSettings::from_url(url, &|_| None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{url}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn passwords_are_in_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pass");
    fs::write(&file, "*:*:*:*:s3cret\n").unwrap();
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let lookup = |name: &str| (name == "PGPASSWORD").then(|| "s3cret".to_owned());
    let urls = [
        "postgres://u:s3cret@127.0.0.1:1/d?sslmode=disable".to_owned(),
        "postgres://u@127.0.0.1:1/d?password=s3cret&sslmode=disable".to_owned(),
        format!("postgres://u@127.0.0.1:1/d?sslmode=disable&passfile={}", file.display()),
    ];
    for url in urls {
        let settings = PostgresSettings::from_url(&url, &lookup).unwrap();
        let store = PostgresBlobs::open(&settings).unwrap();
        let error = store.head(&Key::parse("k").unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let source = std::error::Error::source(&error).map(|source| format!("{source} {source:?}"));
        let texts = format!("{settings} {settings:?} {store} {store:?} {error} {error:?} {source:?}");
        assert!(!texts.contains("s3cret"), "{texts}");
    }
    for url in ["postgres://u:s3cret@h:port/d", "postgres://u:s3cret%ff@h/d"] {
        let error = PostgresSettings::from_url(url, &|_| None).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
}
