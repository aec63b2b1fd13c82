//! Connections to a server that the environment names.

use groundstate_postgres::tokio_postgres::error::SqlState;
use groundstate_postgres::{Error, ErrorKind, Pool, Session, Settings};
use groundstate_testkit::server_of_peer;

fn server() -> Option<String> {
    server_of_peer("postgres", "GROUNDSTATE_PG")
}

fn settings(text: &str) -> Settings {
    Settings::parse(text, &[], &|_| None).unwrap()
}

/// The same server in the other form.
fn as_keywords(url: &str) -> String {
    let (place, database) = url.split_once("://").unwrap().1.rsplit_once('/').unwrap();
    let (user, address) = place.split_once('@').unwrap();
    let (host, port) = address.split_once(':').unwrap();
    let (database, query) = database.split_once('?').unwrap();
    format!("host={host} port={port} user={user} dbname='{database}' {query}")
}

#[tokio::test]
async fn both_forms_and_the_variables_lead_to_the_same_server() {
    let Some(url) = server() else { return };
    let number = "SELECT setting FROM pg_settings WHERE name = 'data_directory'";
    let mut seen = Vec::new();
    let keywords = as_keywords(&url);
    let word = |name: &str| {
        let value = |word: &str| {
            let words = keywords.split(' ').find_map(|pair| pair.strip_prefix(word)?.strip_prefix('='));
            words.map(|value| value.trim_matches('\'').to_owned())
        };
        match name {
            "PGHOST" => value("host"),
            "PGPORT" => value("port"),
            "PGUSER" => value("user"),
            "PGDATABASE" => value("dbname"),
            "PGSSLMODE" => value("sslmode"),
            _ => None,
        }
    };
    let from_variables = Settings::parse("", &[], &word).unwrap();
    for settings in [settings(&url), settings(&keywords), from_variables] {
        let session = Session::connect(&settings).await.unwrap();
        seen.push(session.query_one(number, &[]).await.unwrap().get::<_, String>(0));
    }
    assert!(seen.iter().all(|directory| *directory == seen[0] && !directory.is_empty()), "{seen:?}");
}

#[tokio::test]
async fn other_words_are_settings_of_the_server() {
    let Some(url) = server() else { return };
    let url =
        format!("{url}&search_path=%22a%5Cb%20c%22%2Cpublic&statement_timeout=54321&timezone=Asia/Tokyo");
    let session = Session::connect(&settings(&url)).await.unwrap();
    let shown = "SELECT current_setting('search_path'), current_setting('statement_timeout'), current_setting('timezone')";
    let row = session.query_one(shown, &[]).await.unwrap();
    assert_eq!(
        (row.get::<_, String>(0), row.get::<_, String>(1), row.get::<_, String>(2)),
        (r#""a\b c",public"#.to_owned(), "54321ms".to_owned(), "Asia/Tokyo".to_owned())
    );
    let error = Session::connect(&settings(&format!("{url}&no_such_setting=1"))).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("no_such_setting"), "{error}: {cause}");
}

#[tokio::test]
async fn a_session_that_was_ended_is_known_to_be_lost_and_stays_so() {
    let Some(url) = server() else { return };
    let (session, other) =
        (Session::connect(&settings(&url)).await.unwrap(), Session::connect(&settings(&url)).await.unwrap());
    assert!(!session.is_lost());
    let end = "SELECT pg_terminate_backend($1)";
    assert!(other.query_one(end, &[&session.backend()]).await.unwrap().get::<_, bool>(0));
    let error = loop {
        match session.simple_query("SELECT 1").await {
            Ok(_) => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
            Err(error) => break error,
        }
    };
    let error = Error::of_statement("here", false, error);
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    while !session.is_lost() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let error = session.simple_query("SELECT 1").await.unwrap_err();
    assert_eq!(Error::of_statement("here", true, error).kind(), ErrorKind::Ambiguous);
}

#[tokio::test]
async fn refusals_have_a_kind_and_the_code_but_not_the_row() {
    let Some(url) = server() else { return };
    let pool = Pool::open(&settings(&url), 1).unwrap();
    let client = pool.get().await.unwrap();
    for (sql, kind, state) in [
        ("SELECT 1 FROM no_such_table", ErrorKind::NotFound, SqlState::UNDEFINED_TABLE),
        ("CREATE TABLE no_such_schema.t ()", ErrorKind::NotFound, SqlState::INVALID_SCHEMA_NAME),
        (
            "SET TRANSACTION READ ONLY; CREATE TABLE t ()",
            ErrorKind::Denied,
            SqlState::READ_ONLY_SQL_TRANSACTION,
        ),
        ("SELECT 1/0", ErrorKind::Internal, SqlState::DIVISION_BY_ZERO),
    ] {
        let error = client.batch_execute(sql).await.unwrap_err();
        let error = Error::of_statement("here", true, error);
        assert_eq!((error.kind(), error.state()), (kind, Some(&state)), "{sql}: {error:?}");
    }
    let unique = "CREATE TEMPORARY TABLE t (x text UNIQUE); INSERT INTO t VALUES ('s3cret'), ('s3cret')";
    let error = Error::of_statement("here", true, client.batch_execute(unique).await.unwrap_err());
    assert_eq!(error.state(), Some(&SqlState::UNIQUE_VIOLATION));
    assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
}

#[tokio::test]
async fn a_missing_database_is_named() {
    let Some(url) = server() else { return };
    let error = Session::connect(&settings(&format!("{url}&dbname=none_such"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("/none_such: there is no such database; create it"), "{error}");
}
