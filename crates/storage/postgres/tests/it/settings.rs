//! Connection strings and variables.

use std::fs;

use groundstate_postgres::{ErrorKind, Pool, Settings};

fn settings(text: &str) -> Settings {
    Settings::parse(text, &["table"], &|_| None).unwrap()
}

#[test]
fn both_forms_name_the_server() {
    for (text, shown) in [
        ("postgres://u@h:5433/db", "postgres://u@h:5433/db"),
        ("postgresql://u@h/a%20b?sslmode=disable", "postgres://u@h/a b"),
        ("postgres://", "postgres://localhost/"),
        ("", "postgres://localhost/"),
        ("host=h user=u port=1 dbname=d", "postgres://u@h:1/d"),
        ("host=::1 dbname=d", "postgres://[::1]/d"),
        ("postgres://u@[::1]:1/d", "postgres://u@[::1]:1/d"),
        ("host=/run/postgresql dbname=d", "postgres://%2Frun%2Fpostgresql/d"),
        ("postgres://u@%2Frun%2Fpostgresql/d", "postgres://u@%2Frun%2Fpostgresql/d"),
        ("postgres:///d?host=/run/postgresql", "postgres://%2Frun%2Fpostgresql/d"),
        ("postgres://h/?dbname=other&user=u&port=1", "postgres://u@h:1/other"),
        ("postgres://h/a%1b%5B2Jb", "postgres://h/a\\u001b[2Jb"),
    ] {
        assert_eq!(settings(text).to_string(), shown, "{text}");
    }
}

#[test]
fn own_words_are_the_callers() {
    let settings = settings("postgres://h/d?table=t&binary_parameters=yes");
    assert_eq!((settings.own("table"), settings.own("other")), (Some("t"), None));
    assert_eq!((settings.database(), settings.database_of_path()), (Some("d"), "d"));
}

#[test]
fn variables_fill_what_the_string_leaves_out() {
    let lookup = |name: &str| match name {
        "PGHOST" => Some("variable".to_owned()),
        "PGDATABASE" => Some("database".to_owned()),
        "PGPORT" => Some("6000".to_owned()),
        "USER" => Some("os".to_owned()),
        _ => None,
    };
    let from = |text: &str| Settings::parse(text, &[], &lookup).unwrap();
    for text in ["", "postgres://"] {
        assert_eq!(from(text).to_string(), "postgres://os@variable:6000/database");
        assert_eq!(from(text).database_of_path(), "");
    }
    assert_eq!(from("postgres://u@h:1/d").to_string(), "postgres://u@h:1/d");
}

#[test]
fn what_cannot_be_honoured_is_refused_with_the_reason() {
    for (text, reason) in [
        ("postgres://h/d?keepalives_idle=3", "cannot use the parameter keepalives_idle: it is unknown here"),
        ("host=h service=prod", "cannot use the parameter service"),
        ("host=h hostaddr=10.0.0.1", "cannot use the parameter hostaddr"),
        ("host=h a;b=1", "cannot use the parameter a;b"),
        ("postgres://h/d?sslmode=maybe", "cannot use sslmode=maybe"),
        ("postgres://h/d?connect_timeout=soon", "set connect_timeout to a number"),
        ("postgres://h/d?client_encoding=LATIN1", "set client_encoding to UTF8"),
        ("postgres://h/d?user=a%00b", "cannot use the parameter user: it has a NUL character"),
        ("postgres://h:port/d", "cannot use the URL of the database"),
        ("nonsense", "cannot use the connection string: a word in it has no value"),
    ] {
        let error = Settings::parse(text, &[], &|_| None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    for variable in ["PGSERVICE", "PGHOSTADDR"] {
        let error = Settings::parse("", &[], &|name| (name == variable).then(|| "x".to_owned())).unwrap_err();
        assert!(error.to_string().contains(&format!("cannot use the variable {variable}")), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_password_file_that_others_may_read_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pass");
    fs::write(&file, "*:*:*:*:s3cret\n").unwrap();
    let text = format!("host=h user=u dbname=d passfile='{}'", file.display());
    let open = || Pool::open(&settings(&text), 1);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let error = open().unwrap_err().to_string();
    assert!(error.contains("others may read it; run `chmod 600 ") && !error.contains("s3cret"), "{error}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(open().is_ok());
}

#[test]
fn a_named_password_file_that_cannot_be_read_is_an_error_and_one_of_the_home_directory_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing").display().to_string();
    let lookup = |name: &str| (name == "PGPASSFILE").then(|| missing.clone());
    for settings in [
        Settings::parse("host=h user=u dbname=d", &[], &lookup).unwrap(),
        settings(&format!("host=h user=u dbname=d passfile='{missing}'")),
    ] {
        let error = Pool::open(&settings, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let text = error.to_string();
        assert!(text.contains(&missing) && text.contains("PGPASSFILE"), "{text}");
    }
    let home = |name: &str| (name == "HOME").then(|| missing.clone());
    assert!(Pool::open(&Settings::parse("host=h user=u dbname=d", &[], &home).unwrap(), 1).is_ok());
}

#[tokio::test]
async fn passwords_are_in_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pass");
    fs::write(&file, "*:*:*:*:s3cret\n").unwrap();
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let lookup = |name: &str| (name == "PGPASSWORD").then(|| "s3cret".to_owned());
    let texts = [
        "postgres://u:s3cret@127.0.0.1:1/d?sslmode=disable".to_owned(),
        "host=127.0.0.1 port=1 user=u password='s3cret' sslmode=disable".to_owned(),
        format!("postgres://u@127.0.0.1:1/d?sslmode=disable&passfile={}", file.display()),
    ];
    for text in texts {
        let settings = Settings::parse(&text, &[], &lookup).unwrap();
        let pool = Pool::open(&settings, 1).unwrap();
        let error = pool.get().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let source = std::error::Error::source(&error).map(|source| format!("{source} {source:?}"));
        let shown = format!("{settings} {settings:?} {pool:?} {error} {error:?} {source:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
    for text in ["postgres://u:s3cret@h:port/d", "postgres://u:s3cret%ff@h/d", "password='s3cret"] {
        let error = Settings::parse(text, &[], &|_| None).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
}
