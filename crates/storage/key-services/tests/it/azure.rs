//! Azure Key Vault, against a stand-in that checks every header and member.

use groundstate_key_services::blobs_cloud::AzureIdentitySettings;
use groundstate_key_services::{AzureKeyVault, DataKey, ErrorKind, KeyContext, KeyService, WrappedKey};
use groundstate_testkit::{Answer, Fault, KeyVaultServer};
use serde_json::json;

use crate::context::{Outcome, clocked, comes_back, context, refused};

const SECRET: &str = "hush-client-secret";

fn settings(server: &KeyVaultServer) -> AzureIdentitySettings {
    let mut settings = AzureIdentitySettings::new();
    for (name, value) in [
        ("tenant_id", "common"),
        ("client_id", "app"),
        ("client_secret", SECRET),
        ("authority_host", &server.endpoint()),
    ] {
        settings.set(name, value).expect("the option is known");
    }
    settings
}

fn open_in(server: &KeyVaultServer, name: &str, context: &KeyContext) -> AzureKeyVault {
    AzureKeyVault::open(&settings(server), &server.endpoint(), name, context).expect("the settings are fine")
}

fn open(server: &KeyVaultServer, name: &str) -> AzureKeyVault {
    open_in(server, name, &context())
}

fn answer(status: u16, code: &str, inner: Option<&str>) -> Fault {
    let inner = inner.map(|code| json!({ "code": code }));
    let error = json!({ "code": code, "message": "the reason", "innererror": inner });
    Fault::instead(Answer::new(status).body(json!({ "error": error }).to_string()))
}

#[tokio::test]
async fn keys_come_back_by_every_algorithm() -> Outcome {
    let server = KeyVaultServer::start();
    for algorithm in ["RSA-OAEP-256", "RSA-OAEP", "RSA1_5"] {
        let wrapped = comes_back(&open(&server, "k1").algorithm(algorithm)?, 32).await?;
        assert_eq!((wrapped.iv, wrapped.algorithm.as_deref()), (None, Some(algorithm)));
    }
    let wrapped = comes_back(&open(&server, "gcm").algorithm("A256GCM")?, 32).await?;
    assert_eq!((wrapped.iv.map(|iv| iv.len()), wrapped.tag.map(|tag| tag.len())), (Some(12), Some(16)));
    assert_eq!(wrapped.key_version, Some(server.version()));
    assert!(open(&server, "k1").algorithm("A256KW").is_err());
    Ok(())
}

#[tokio::test]
async fn the_challenge_names_resource_and_tenant_and_the_token_is_kept() -> Outcome {
    let server = KeyVaultServer::start();
    let key = open(&server, "k1");
    comes_back(&key, 32).await?;
    let first = &server.requests()[0];
    // A vault of no known domain is asked first, without token and key.
    assert_eq!((first.header("authorization"), first.body.len()), (None, 0));
    assert_eq!(server.count("POST", "/tenant-1/oauth2/v2.0/token"), 1);
    assert_eq!(server.count("POST", "*/token"), 1);
    let token = &server.requests()[1];
    let form = String::from_utf8_lossy(&token.body).into_owned();
    assert!(form.contains("scope=https%3A%2F%2Fvault.azure.net%2F.default"), "{form}");
    server.set_resource("http://vault.azure.net");
    refused(open(&server, "k1").generate(32).await, ErrorKind::Unauthenticated, &["challenge"]);
    Ok(())
}

#[tokio::test]
async fn a_rotated_key_is_found_by_its_version() -> Outcome {
    let server = KeyVaultServer::start();
    let key = open(&server, "k1");
    let (plain, wrapped) = key.generate(32).await?;
    server.rotate();
    server.rotate();
    // With the stored version at once, without it by trying.
    server.clear_requests();
    assert_eq!(key.unwrap(&wrapped).await?.expose(), plain.expose());
    assert_eq!(server.count("POST", "*/decrypt"), 1);
    let bare = WrappedKey::new(wrapped.ciphertext.clone());
    assert_eq!(key.unwrap(&bare).await?.expose(), plain.expose());
    assert_eq!(server.count("GET", "/keys/k1/versions"), 1);
    let pinned = open(&server, "k1").version(wrapped.key_version.clone());
    assert_eq!(pinned.unwrap(&bare).await?.expose(), plain.expose());
    server.disable(wrapped.key_version.as_deref().unwrap_or_default());
    refused(key.unwrap(&wrapped).await, ErrorKind::KeyDisabled, &["KeyDisabled", "set-attributes"]);
    refused(key.unwrap(&bare).await, ErrorKind::BadCiphertext, &["version"]);
    Ok(())
}

#[tokio::test]
async fn refusals_say_what_to_do_and_throttling_is_waited_for() -> Outcome {
    let server = KeyVaultServer::start();
    let (context, clock) = clocked();
    let key = open_in(&server, "k1", &context);
    let (_, wrapped) = key.generate(32).await?;
    for (status, code, inner, kind, words) in [
        (403, "Forbidden", Some("ForbiddenByRbac"), ErrorKind::Denied, "keys/decrypt"),
        (403, "Forbidden", Some("ForbiddenByConnection"), ErrorKind::Denied, "firewall"),
        (403, "Forbidden", Some("KeyDisabled"), ErrorKind::KeyDisabled, "enabled true"),
        (404, "KeyNotFound", None, ErrorKind::KeyGone, "recover"),
        (400, "BadParameter", None, ErrorKind::BadCiphertext, "version"),
        (409, "ObjectIsBeingDeleted", None, ErrorKind::KeyPendingDeletion, "recover"),
    ] {
        server.clear_faults();
        server.clear_requests();
        server.fault(answer(status, code, inner));
        let outcome = key.unwrap(&wrapped).await;
        assert!(!format!("{outcome:?}").contains(SECRET));
        refused(outcome, kind, &["k1", "the reason", words]);
        assert_eq!(server.requests().len(), 1, "{code}");
    }
    server.clear_faults();
    let before = groundstate_common::Clock::now(&*clock);
    server.fault(Fault::refuse(429, "Throttled", Some(7)).times(1));
    key.unwrap(&wrapped).await?;
    let waited = groundstate_common::Clock::now(&*clock).duration_since(before).unwrap_or_default();
    assert_eq!(waited.as_secs(), 7);
    server.clear_requests();
    let long = DataKey::new(vec![0; 447]);
    refused(key.wrap(&long).await, ErrorKind::Invalid, &["at most 446 bytes"]);
    assert!(server.requests().is_empty());
    refused(key.wrap(&DataKey::new(vec![0; 191])).await, ErrorKind::Invalid, &["too long"]);
    Ok(())
}

#[test]
fn what_is_no_vault_and_no_key_is_refused() {
    for (vault, name, words) in [
        ("ftp://v.vault.azure.net", "k", "address of a vault"),
        ("http://v.vault.azure.net", "k", "address of a vault"),
        ("https://u:hush@v.vault.azure.net", "k", "address of a vault"),
        ("v.vault.azure.net", "k", "address of a vault"),
        ("https://v.vault.azure.net", "k/1", "name of a key"),
        ("https://v.vault.azure.net", "", "name of a key"),
    ] {
        let outcome = AzureKeyVault::open(&AzureIdentitySettings::new(), vault, name, &context());
        refused(outcome, ErrorKind::Invalid, &[words]);
    }
}
