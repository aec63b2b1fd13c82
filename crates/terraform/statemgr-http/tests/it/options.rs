//! Options that cannot be used, and what is shown of those that can.

use std::sync::Arc;

use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::{Backend, ErrorKind, StateStore, TokioSleeper, WorkspaceName};
use groundstate_statemgr_http::{HttpBackend, HttpConfig, OptionError};
use groundstate_testkit::Authority;

use crate::support::{backend, open};

fn refused(change: impl FnOnce(&mut HttpConfig)) -> OptionError {
    let mut config = HttpConfig::locked("https://state.example.com/prod");
    change(&mut config);
    let opened = HttpBackend::open(&config, Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
    let error = opened.expect_err("it is refused");
    assert!(!format!("{error} {error:?} {config:?}").contains("hunter2"), "{error:?} {config:?}");
    error
}

#[test]
fn headers_follow_the_rules_of_opentofu() {
    for (name, value) in [
        ("a b", "x"),
        ("", "x"),
        ("x:y", "x"),
        ("Content-Type", "hunter2"),
        ("content-md5", "hunter2"),
        ("Host", "hunter2"),
        ("Transfer-Encoding", "chunked"),
        ("X-A", " "),
        ("X-A", ""),
        ("X-A", "hunter2é"),
        ("X-A", "hunter2\r\nX-B: y"),
    ] {
        let error = refused(|config| config.headers.extend([(name.to_owned(), value.to_owned())]));
        assert_eq!(error.option, "headers", "{name} {value}");
    }
    let error = refused(|config| {
        config.username = Some("ana".to_owned());
        config.headers.insert("Authorization".to_owned(), "Bearer hunter2".to_owned());
    });
    assert!(error.why.contains("exclude each other"), "{error}");
    let mut token = HttpConfig::locked("https://state.example.com/prod");
    token.headers.insert("Authorization".to_owned(), "Bearer hunter2".to_owned());
    token.headers.insert("X-Trace_Id".to_owned(), "a b".to_owned());
    assert!(!format!("{:?}{:?}", backend(&token), open(&token)).contains("hunter2"));
}

#[test]
fn certificates_and_keys_come_together() {
    let certificate = Authority::new().certificate(&["ana"]);
    let error = refused(|config| config.client_certificate_pem = Some(certificate.pem().to_owned()));
    assert_eq!(error.option, "client_private_key_pem");
    let error = refused(|config| config.client_private_key_pem = Some("hunter2".to_owned()));
    assert_eq!(error.option, "client_certificate_pem");
    let error = refused(|config| {
        config.client_certificate_pem = Some(certificate.pem().to_owned());
        config.client_private_key_pem = Some("hunter2".to_owned());
    });
    assert_eq!(error.option, "client_certificate_pem");
    let other = Authority::new().certificate(&["bob"]);
    let error = refused(|config| {
        config.client_certificate_pem = Some(certificate.pem().to_owned());
        config.client_private_key_pem = Some(other.key_pem().to_owned());
    });
    assert_eq!(error.option, "client_private_key_pem");
    let error = refused(|config| config.client_ca_certificate_pem = Some("hunter2".to_owned()));
    assert_eq!(error.option, "client_ca_certificate_pem");
}

#[test]
fn user_and_verbs_are_checked() {
    assert_eq!(refused(|config| config.username = Some("a:hunter2".to_owned())).option, "username");
    assert_eq!(refused(|config| config.lock_method = Some("hunter2 x".to_owned())).option, "lock_method");
    assert_eq!(refused(|config| config.unlock_address = None).option, "unlock_address");
    assert_eq!(refused(|config| config.lock_method = Some("POST".to_owned())).option, "lock_method");
}

#[tokio::test]
async fn there_is_one_workspace() {
    let backend = backend(&HttpConfig::locked("https://ana:hunter2@state.example.com/prod?token=hunter2"));
    let dev = WorkspaceName::parse("dev").unwrap();
    assert_eq!(backend.list().await.unwrap(), [WorkspaceName::default_name()]);
    let error = backend.store(&dev).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Unsupported && error.to_string().contains("address of its own"),
        "{error}"
    );
    assert!(backend.history(&WorkspaceName::default_name()).unwrap().is_some(), "the server says whether");
    assert!(backend.history(&dev).is_err());
    let store = backend.store(&WorkspaceName::default_name()).unwrap();
    for text in [store.to_string(), backend.to_string(), store.lock_name(), format!("{store:?} {backend:?}")]
    {
        assert!(!text.contains("hunter2") && text.contains("state.example.com/prod?token=…"), "{text}");
    }
}
