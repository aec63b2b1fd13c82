//! Which token goes to which service.

use std::sync::Arc;

use groundstate_common::{FixedClock, Timestamp};
use groundstate_pulumi_backends::pulumi_http::ErrorKind;
use groundstate_pulumi_backends::pulumi_secrets::{Ciphertext, Plaintext, SecretsProviders};
use groundstate_pulumi_backends::{
    ChosenBackend, PulumiHome, ServiceLoginError, ServiceSecrets, ServiceSecretsError,
};
use groundstate_testkit::{Answer, Recorder};

/// Which token a service at `address` got, with this text of `credentials.json`.
async fn sent(address: &str, credentials: &str, variables: &[(&str, &str)]) -> Option<String> {
    let server = Recorder::start(Answer::new(200).body(r#"{"githubLogin":"ana"}"#));
    let place = |text: &str| text.replace("HERE", &server.endpoint()).replace("//x", "/x");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("credentials.json"), place(credentials)).unwrap();
    let home = folder.path().display().to_string();
    let variable = |name: &str| match name {
        "PULUMI_HOME" => Some(home.clone()),
        name => variables.iter().find(|(other, _)| *other == name).map(|(_, value)| place(value)),
    };
    let ChosenBackend::Service(choice) = ChosenBackend::of_user(&place(address)).unwrap() else { panic!() };
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    match choice.open(&PulumiHome::of(&variable), &variable, clock) {
        Ok(service) => {
            assert!(!format!("{service:?}").contains("hush"));
            service.user().await.unwrap();
            let requests = server.requests();
            Some(requests[0].header("authorization").unwrap().to_owned())
        }
        Err(error) => {
            assert!(matches!(error, ServiceLoginError::NoToken { .. }), "{error}");
            assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
            assert!(server.requests().is_empty(), "nothing is sent where the user has not logged in");
            None
        }
    }
}

#[tokio::test]
async fn a_token_goes_only_to_the_address_of_its_login() {
    let stored = r#"{"current":"HERE","accounts":{"HERE/":{"accessToken":"hush-stored"}}}"#;
    let elsewhere =
        r#"{"current":"https://b.example","accessTokens":{"HERE":"hush-old","https://b.example":"hush-b"}}"#;
    let token = ("PULUMI_ACCESS_TOKEN", "hush-variable");
    for (credentials, variables, expected) in [
        (stored, vec![], Some("token hush-stored")),
        // The variable belongs to the login.
        (stored, vec![token], Some("token hush-variable")),
        (stored, vec![token, ("PULUMI_BACKEND_URL", "HERE/")], Some("token hush-variable")),
        // It does not where the user works with another backend, and the stored one stays that of its address.
        (stored, vec![token, ("PULUMI_BACKEND_URL", "https://b.example")], Some("token hush-stored")),
        (elsewhere, vec![token], Some("token hush-old")),
        (r#"{"current":"https://b.example"}"#, vec![token], None),
        ("{}", vec![token], None),
        ("{}", vec![token, ("PULUMI_BACKEND_URL", "HERE")], Some("token hush-variable")),
        ("not JSON", vec![token, ("PULUMI_BACKEND_URL", "HERE")], Some("token hush-variable")),
        ("{}", vec![("PULUMI_BACKEND_URL", "HERE")], None),
        (r#"{"accounts":{"HERE/x":{"accessToken":"hush"}}}"#, vec![], None),
        (r#"{"current":null,"accounts":{"HERE":null},"accessTokens":{"HERE":null}}"#, vec![], None),
    ] {
        let found = sent("HERE", credentials, &variables).await;
        assert_eq!(found.as_deref(), expected, "{credentials} {variables:?}");
    }
}

#[test]
fn a_damaged_file_of_logins_is_named_and_not_taken_for_no_login() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().display().to_string();
    let ChosenBackend::Service(choice) = ChosenBackend::of_user("https://a.example").unwrap() else {
        panic!()
    };
    for (text, token) in [
        ("{\"current\": hush", None),
        ("{\"accounts\": [\"hush\"]}", None),
        ("{\"$pulumiSecureStore\": 1, \"data\": \"hush\"}", None),
        // Without PULUMI_BACKEND_URL the file says which service the token is for.
        ("hush", Some("hush-variable")),
    ] {
        std::fs::write(folder.path().join("credentials.json"), text).unwrap();
        let variable = |name: &str| match name {
            "PULUMI_HOME" => Some(home.clone()),
            "PULUMI_ACCESS_TOKEN" => token.map(str::to_owned),
            _ => None,
        };
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        let error = choice.open(&PulumiHome::of(&variable), &variable, clock).unwrap_err();
        assert!(matches!(error, ServiceLoginError::Login(_)), "{error}");
        assert!(error.to_string().contains("credentials.json"), "{error}");
        assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
    }
}

#[tokio::test]
async fn secrets_go_through_the_same_connection() {
    let server = Recorder::answering(|request| match request.path() {
        path if path == "/api/capabilities" => {
            Answer::new(200).body(r#"{"capabilities":[{"capability":"batch-encrypt"}]}"#)
        }
        path if path.ends_with("/batch-encrypt") => {
            Answer::new(200).body(r#"{"ciphertexts":["YQ==","Yg=="]}"#)
        }
        path if path.ends_with("/batch-decrypt") => {
            Answer::new(200).body(r#"{"plaintexts":{"YQ==":"Yw=="}}"#)
        }
        _ => Answer::new(404).body(r#"{"code":404,"message":"there is no stack"}"#),
    });
    let url = server.endpoint();
    let variable = |name: &str| match name {
        "PULUMI_ACCESS_TOKEN" => Some("hush".to_owned()),
        "PULUMI_BACKEND_URL" => Some(url.clone()),
        _ => None,
    };
    let state = format!(r#"{{"url":"{url}/","owner":"o","project":"p","stack":"s"}}"#);
    let providers = SecretsProviders::new(ServiceSecrets::TYPE, Some(&state)).unwrap();
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let secrets = ServiceSecrets::open(&providers, &PulumiHome::of(&variable), &variable, clock).unwrap();
    assert!(!format!("{secrets:?}").contains("hush"));
    let values = [Plaintext::new("a"), Plaintext::new("b")];
    let sealed = secrets.encrypt(&values.iter().collect::<Vec<_>>()).await.unwrap();
    assert_eq!(sealed.iter().map(Ciphertext::as_str).collect::<Vec<_>>(), ["YQ==", "Yg=="]);
    let opened = secrets.decrypt(&[&sealed[0], &sealed[0]]).await.unwrap();
    assert_eq!(opened.iter().map(Plaintext::expose).collect::<Vec<_>>(), ["c", "c"]);
    let lacking = secrets.decrypt(&[&sealed[1]]).await.unwrap_err();
    assert!(matches!(&lacking, ServiceSecretsError::Service(error) if error.kind() == ErrorKind::NotService));
    let alone = secrets.encrypt(&[&values[0]]).await.unwrap_err();
    assert!(matches!(&alone, ServiceSecretsError::Service(error) if error.kind() == ErrorKind::NotFound));
    let state = secrets.providers().unwrap();
    assert_eq!(state.state().unwrap(), format!(r#"{{"url":"{url}","owner":"o","project":"p","stack":"s"}}"#));
}
