//! Transit engines, against a real OpenBao where the environment names one.

use std::time::Duration;

use groundstate_common::{Clock, IdSource, OsIds};
use groundstate_key_services::{ErrorKind, KeyService, Transit, TransitNames, TransitSettings, WrappedKey};
use groundstate_testkit::{Answer, Fault, FaultProxy, Recorder};
use serde_json::{Value, json};

use crate::context::{Outcome, clocked, comes_back, context, key, refused};

/// The root token of the server, as its file in `xtask/services` has it.
const ROOT: &str = "groundstate";
const AS_ROOT: &str = "X-Vault-Token: groundstate";

pub(crate) struct TransitEngine {
    pub(crate) proxy: FaultProxy,
    pub(crate) mount: String,
}

impl TransitEngine {
    /// A mount of its own.
    pub(crate) fn start() -> Option<Self> {
        let endpoint = groundstate_testkit::server_of_peer("openbao", "GROUNDSTATE_OPENBAO")?;
        let proxy = FaultProxy::in_front_of(&endpoint);
        let number = OsIds.number().expect("the machine has randomness");
        let engine = Self { proxy, mount: format!("teams/transit-{number:x}") };
        engine.write(&format!("sys/mounts/{}", engine.mount), &json!({ "type": "transit" }));
        Some(engine)
    }

    pub(crate) fn write(&self, path: &str, body: &Value) -> Value {
        groundstate_testkit::write_to_openbao(&self.proxy.address().to_string(), path, body)
    }

    /// A key that is there.
    fn key(&self, name: &str) -> Transit {
        self.write(&format!("{}/keys/{name}", self.mount), &json!({}));
        self.open(name, ROOT)
    }

    pub(crate) fn open(&self, name: &str, token: &str) -> Transit {
        let settings =
            TransitSettings::new(&self.proxy.endpoint()).and_then(|settings| settings.token(token));
        let transit = Transit::open(settings.expect("the address is fine"), name, &context());
        self.proxy.clear_requests();
        transit.and_then(|transit| transit.mount(&self.mount)).expect("the names are fine")
    }
}

#[tokio::test]
async fn keys_come_back_and_requests_are_those_of_the_services_own_clients() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    let transit = engine.key("k");
    for length in [16, 32, 64] {
        let wrapped = comes_back(&transit, length).await?;
        assert!(wrapped.ciphertext.starts_with(b"vault:v1:"));
    }
    let request = engine.proxy.requests().remove(0);
    assert_eq!(request.method, "PUT");
    assert_eq!(request.path, format!("/v1/{}/datakey/plaintext/k", engine.mount));
    assert_eq!(&request.body[..], br#"{"bits":128}"#);
    assert_eq!(request.header("x-vault-request"), Some("true"));
    assert_eq!(request.header("x-vault-token"), Some(ROOT));
    assert_eq!(request.header("content-type"), None);
    refused(transit.generate(24).await, ErrorKind::Invalid, &["16, 32 and 64"]);
    Ok(())
}

#[tokio::test]
async fn associated_data_has_to_be_the_same() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    let transit = engine.key("k");
    let with = transit.associated_data(Some("b3Bz".to_owned()));
    let wrapped = comes_back(&with, 32).await?;
    refused(transit.unwrap(&wrapped).await, ErrorKind::BadCiphertext, &["associated data"]);
    Ok(())
}

#[tokio::test]
async fn rotation_keeps_old_keys_open_and_rewrapping_moves_them() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    let transit = engine.key("k");
    let (plain, old) = transit.generate(32).await?;
    engine.write(&format!("{}/keys/k/rotate", engine.mount), &json!({}));
    assert_eq!(transit.unwrap(&old).await?.expose(), plain.expose());
    let new = transit.rewrap(&old).await?;
    assert!(new.ciphertext.starts_with(b"vault:v2:"));
    assert_eq!(transit.unwrap(&new).await?.expose(), plain.expose());
    engine.write(&format!("{}/keys/k/config", engine.mount), &json!({ "min_decryption_version": 2 }));
    refused(transit.unwrap(&old).await, ErrorKind::KeyDisabled, &["min_decryption_version"]);
    let of_the_future = WrappedKey::new(String::from_utf8(new.ciphertext.clone())?.replace(":v2:", ":v9:"));
    refused(transit.unwrap(&of_the_future).await, ErrorKind::BadCiphertext, &["too new"]);
    Ok(())
}

#[tokio::test]
async fn damage_and_other_keys_are_said() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    let (transit, other) = (engine.key("k"), engine.key("other"));
    let (_, wrapped) = transit.generate(32).await?;
    refused(other.unwrap(&wrapped).await, ErrorKind::BadCiphertext, &["other", "backup"]);
    for text in ["", "vault:", "vault:v1:", "vault:v1:AAAA", "x"] {
        let error = transit.unwrap(&WrappedKey::new(text)).await.expect_err("it is no wrapped key");
        assert!(matches!(error.kind(), ErrorKind::BadCiphertext | ErrorKind::Invalid), "{text}: {error}");
    }
    refused(transit.unwrap(&WrappedKey::new(vec![0xff])).await, ErrorKind::BadCiphertext, &["not text"]);
    engine.write(&format!("{}/keys/k/config", engine.mount), &json!({ "deletion_allowed": true }));
    let path = format!("/v1/{}/keys/k", engine.mount);
    groundstate_testkit::ask(&engine.proxy.address().to_string(), "DELETE", &path, &[AS_ROOT], b"")?;
    refused(transit.unwrap(&wrapped).await, ErrorKind::KeyGone, &["backup"]);
    Ok(())
}

#[tokio::test]
async fn a_missing_key_is_not_made_unasked() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    let transit = engine.open("none", ROOT);
    let words = ["bao write -f", "/keys/none"];
    refused(transit.wrap(&key("0123456789abcdef")).await, ErrorKind::NotFound, &words);
    refused(transit.generate(32).await, ErrorKind::NotFound, &words);
    assert_eq!(engine.proxy.count("PUT", "*/encrypt/none"), 0);
    transit.creates_keys(true).wrap(&key("0123456789abcdef")).await?;
    Ok(())
}

#[tokio::test]
async fn a_token_needs_the_right_to_unwrap_alone() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    let (_, wrapped) = engine.key("k").generate(32).await?;
    let policy = format!("path \"{}/decrypt/k\" {{ capabilities = [\"update\"] }}", engine.mount);
    let name = engine.mount.replace('/', "-");
    engine.write(&format!("sys/policies/acl/{name}"), &json!({ "policy": policy }));
    let token = engine.write("auth/token/create", &json!({ "policies": [name], "ttl": "10m" }));
    let token = token["auth"]["client_token"].as_str().unwrap_or_default();
    let transit = engine.open("k", token);
    transit.unwrap(&wrapped).await?;
    let outcome = transit.generate(32).await;
    assert!(!format!("{outcome:?}").contains(token));
    refused(outcome, ErrorKind::Denied, &["`update`", "datakey/plaintext/k"]);
    refused(transit.wrap(&key("0123456789abcdef")).await, ErrorKind::Denied, &["encrypt/k"]);
    Ok(())
}

#[tokio::test]
async fn what_is_no_transit_engine_is_said() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    let transit = engine.key("k").creates_keys(true);
    let cubbyhole = transit.clone().mount("cubbyhole")?;
    refused(
        cubbyhole.wrap(&key("0123456789abcdef")).await,
        ErrorKind::Unsupported,
        &["not a transit engine"],
    );
    let nowhere = transit.clone().mount("nowhere")?;
    refused(nowhere.unwrap(&WrappedKey::new("vault:v1:AAAA")).await, ErrorKind::NotFound, &["mount"]);
    refused(transit.mount("a//b"), ErrorKind::Invalid, &["path of a mount"]);
    let settings = TransitSettings::new(&engine.proxy.endpoint())?;
    refused(Transit::open(settings, "a/b", &context()), ErrorKind::Invalid, &["no slash"]);
    Ok(())
}

#[tokio::test]
async fn what_passes_is_asked_for_again_and_a_sealed_server_is_said() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    engine.write(&format!("{}/keys/k", engine.mount), &json!({}));
    let (context, clock) = clocked();
    let settings = TransitSettings::new(&engine.proxy.endpoint())?.token(ROOT)?;
    let transit = Transit::open(settings, "k", &context)?.mount(&engine.mount)?;
    for fault in [Fault::instead(Answer::new(412)), Fault::throttle(), Fault::drop_after_commit()] {
        engine.proxy.clear_requests();
        engine.proxy.fault(fault.times(2));
        transit.generate(32).await?;
        assert_eq!(engine.proxy.requests().len(), 3);
        engine.proxy.clear_faults();
    }
    let waited = clock.now().duration_since(groundstate_common::Timestamp::UNIX_EPOCH).unwrap_or_default();
    assert!(waited > Duration::from_secs(1), "{waited:?}");
    engine.proxy.clear_requests();
    engine.proxy.fault(Fault::instead(Answer::new(503).body(r#"{"errors":["Vault is sealed"]}"#)));
    refused(transit.generate(32).await, ErrorKind::Unavailable, &["Vault is sealed", "bao operator unseal"]);
    assert_eq!(engine.proxy.requests().len(), 3);
    Ok(())
}

#[tokio::test]
async fn one_redirect_is_followed_and_none_to_plain_http() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    engine.write(&format!("{}/keys/k", engine.mount), &json!({}));
    let active = engine.proxy.endpoint();
    let standby = Recorder::answering(move |request| {
        Answer::new(307).header("location", format!("{active}{}", request.path()))
    });
    let settings = TransitSettings::new(&standby.endpoint())?.token(ROOT)?;
    let transit = Transit::open(settings, "k", &context())?.mount(&engine.mount)?;
    comes_back(&transit, 32).await?;
    let off = |name: &str| match name {
        "BAO_ADDR" => Some(standby.endpoint()),
        "BAO_DISABLE_REDIRECTS" => Some("true".to_owned()),
        _ => None,
    };
    let settings = TransitSettings::from_variables(TransitNames::OpenBao, &off)?.token(ROOT)?;
    let transit = Transit::open(settings, "k", &context())?.mount(&engine.mount)?;
    refused(transit.generate(32).await, ErrorKind::Unavailable, &["active node"]);
    Ok(())
}

#[tokio::test]
async fn a_namespace_is_a_header_and_a_token_leaves_by_tls_alone() -> Outcome {
    let recorder = Recorder::start(Answer::new(404).body(r#"{"errors":["namespace not found"]}"#));
    let settings = TransitSettings::new(&recorder.endpoint())?.token("t")?.namespace("team-a");
    let transit = Transit::open(settings, "k", &context())?;
    refused(transit.generate(32).await, ErrorKind::NotFound, &["namespace not found"]);
    assert_eq!(recorder.requests()[0].header("x-vault-namespace"), Some("team-a"));
    let settings = TransitSettings::new("http://vault.example.com:8200")?.token("t")?;
    let outcome = Transit::open(settings, "k", &context())?.generate(32).await;
    refused(outcome, ErrorKind::Invalid, &["plain http"]);
    Ok(())
}
