//! Google Cloud KMS, against a stand-in that checks every header and member.

use groundstate_key_services::blobs_cloud::GcpSettings;
use groundstate_key_services::{DataKey, ErrorKind, GcpKms, KeyService, WrappedKey};
use groundstate_testkit::{Answer, Fault, GoogleKmsServer};
use serde_json::json;

use crate::context::{Outcome, comes_back, context, refused};

const NAME: &str = "projects/p/locations/global/keyRings/r/cryptoKeys/k";
const TOKEN: &str = "hush-token";

fn settings(server: &GoogleKmsServer, token: &str) -> GcpSettings {
    let settings = GcpSettings::new().with("access_token", token).expect("the option is known");
    settings.with("kms_custom_endpoint", &server.endpoint()).expect("the option is known")
}

fn open(server: &GoogleKmsServer) -> GcpKms {
    GcpKms::open(&settings(server, TOKEN), NAME, &context()).expect("the settings are fine")
}

fn answer(code: u16, status: &str, message: &str) -> Fault {
    let error = json!({ "code": code, "status": status, "message": message,
        "details": [{ "reason": "NOTHING" }] });
    Fault::instead(Answer::new(code).body(json!({ "error": error }).to_string()))
}

#[tokio::test]
async fn keys_come_back_also_after_a_rotation() -> Outcome {
    let server = GoogleKmsServer::start(TOKEN);
    let kms = open(&server);
    let wrapped = comes_back(&kms, 32).await?;
    assert_eq!(wrapped.wrapped_by, Some(format!("{NAME}/cryptoKeyVersions/1")));
    let (key, wrapped) = kms.generate(16).await?;
    server.rotate();
    assert_eq!(kms.unwrap(&wrapped).await?.expose(), key.expose());
    let again = kms.wrap(&key).await?;
    assert_eq!(again.wrapped_by, Some(format!("{NAME}/cryptoKeyVersions/2")));
    // A name with a version is for wrapping alone.
    let versioned = format!("{NAME}/cryptoKeyVersions/2");
    let kms = GcpKms::open(&settings(&server, TOKEN), &versioned, &context())?;
    comes_back(&kms, 32).await?;
    Ok(())
}

#[tokio::test]
async fn associated_data_has_to_be_the_same() -> Outcome {
    let server = GoogleKmsServer::start(TOKEN);
    let kms = open(&server);
    let with = kms.associated_data(&[0xfb, 0xff])?;
    let wrapped = comes_back(&with, 32).await?;
    for other in [&kms, &kms.associated_data(b"x")?] {
        let words = ["additional_authenticated_data", NAME];
        refused(other.unwrap(&wrapped).await, ErrorKind::BadCiphertext, &words);
    }
    assert!(kms.associated_data(&vec![0; (64 << 10) + 1]).is_err());
    Ok(())
}

#[tokio::test]
async fn a_damaged_answer_is_asked_for_again_and_then_refused() -> Outcome {
    let server = GoogleKmsServer::start(TOKEN);
    let kms = open(&server);
    let (key, wrapped) = kms.generate(32).await?;
    server.clear_requests();
    server.damage(2);
    assert_eq!(kms.unwrap(&wrapped).await?.expose(), key.expose());
    assert_eq!(server.requests().len(), 3);
    for missing in [json!({ "plaintext": "AAAA" }), json!({ "plaintext": "AAAA", "plaintextCrc32c": "1" })] {
        server.clear_faults();
        server.fault(Fault::instead(Answer::new(200).body(missing.to_string())));
        refused(kms.unwrap(&wrapped).await, ErrorKind::Corrupt, &["checksum"]);
    }
    server.clear_faults();
    server.damage(u32::MAX);
    refused(kms.wrap(&key).await, ErrorKind::Corrupt, &["checksum"]);
    Ok(())
}

#[tokio::test]
async fn states_of_versions_have_kinds() -> Outcome {
    let server = GoogleKmsServer::start(TOKEN);
    let kms = open(&server);
    let (_, wrapped) = kms.generate(32).await?;
    for (state, kind) in [
        ("DISABLED", ErrorKind::KeyDisabled),
        ("DESTROY_SCHEDULED", ErrorKind::KeyPendingDeletion),
        ("DESTROYED", ErrorKind::KeyGone),
    ] {
        server.set_state(1, state);
        server.clear_requests();
        refused(kms.unwrap(&wrapped).await, kind, &[state]);
        assert_eq!(server.requests().len(), 1, "{state}");
    }
    server.set_state(1, "ENABLED");
    kms.unwrap(&wrapped).await?;
    let damaged = WrappedKey::new(wrapped.ciphertext.iter().rev().copied().collect::<Vec<_>>());
    refused(kms.unwrap(&damaged).await, ErrorKind::BadCiphertext, &[]);
    Ok(())
}

#[tokio::test]
async fn refusals_say_what_to_do() -> Outcome {
    let server = GoogleKmsServer::start(TOKEN);
    let kms = open(&server);
    let wrapped = WrappedKey::new(b"x".to_vec());
    for (code, status, kind, words, tries) in [
        (403, "PERMISSION_DENIED", ErrorKind::Denied, "useToDecrypt", 1),
        (404, "NOT_FOUND", ErrorKind::KeyGone, NAME, 1),
        (429, "RESOURCE_EXHAUSTED", ErrorKind::Throttled, "RESOURCE_EXHAUSTED", 5),
        (503, "UNAVAILABLE", ErrorKind::Unavailable, "why it is down", 5),
        (500, "INTERNAL", ErrorKind::Unavailable, "INTERNAL", 5),
    ] {
        server.clear_faults();
        server.clear_requests();
        server.fault(answer(code, status, "why it is down"));
        refused(kms.unwrap(&wrapped).await, kind, &[words]);
        assert_eq!(server.requests().len(), tries, "{status}");
    }
    server.clear_faults();
    let details = json!([{ "reason": "SERVICE_DISABLED" }]);
    let off = json!({ "error": { "status": "PERMISSION_DENIED", "message": "off", "details": details } });
    server.fault(Fault::instead(Answer::new(403).body(off.to_string())));
    refused(kms.wrap(&DataKey::new(vec![1; 32])).await, ErrorKind::Invalid, &["gcloud services enable"]);
    server.clear_faults();
    let other = GcpKms::open(&settings(&server, "another-hush-token"), NAME, &context())?;
    let outcome = other.generate(32).await;
    assert!(!format!("{outcome:?}").contains("hush"));
    refused(outcome, ErrorKind::Unauthenticated, &["gcloud auth"]);
    refused(GcpKms::open(&settings(&server, TOKEN), "k", &context()), ErrorKind::Invalid, &["keyRings"]);
    Ok(())
}
