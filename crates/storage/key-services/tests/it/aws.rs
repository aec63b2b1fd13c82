//! AWS KMS, against moto where the environment names one, behind a proxy that makes the errors that moto does not.

use std::collections::BTreeMap;
use std::time::Duration;

use groundstate_common::{Clock, Timestamp};
use groundstate_key_services::blobs_cloud::{AwsIdentity, AwsSettings};
use groundstate_key_services::{AwsKms, DataKey, ErrorKind, KeyService, WrappedKey};
use groundstate_testkit::{Answer, Fault, FaultProxy, Recorder};
use serde_json::{Value, json};

use crate::context::{Outcome, clocked, comes_back, context, refused};

const SECRET: &str = "hush-secret-key";

fn settings(endpoint: &str) -> AwsSettings {
    let mut settings = AwsSettings::new();
    for (name, value) in [
        ("region", "eu-west-1"),
        ("access_key", "AKIDEXAMPLE"),
        ("secret_key", SECRET),
        ("endpoints.kms", endpoint),
        ("endpoints.sts", endpoint),
    ] {
        settings.set(name, value).expect("the option is known");
    }
    settings
}

fn moto() -> Option<FaultProxy> {
    let endpoint = groundstate_testkit::server_of_peer("moto", "GROUNDSTATE_KMS_ENDPOINT")?;
    Some(FaultProxy::in_front_of(&endpoint))
}

/// Calls an action that this crate has no need of.
async fn administer(
    proxy: &FaultProxy,
    action: &str,
    body: Value,
) -> Result<Value, Box<dyn std::error::Error>> {
    let context = context();
    let blobs = groundstate_blobs::Context::new(context.clock, context.sleeper, context.ids);
    let identity = AwsIdentity::open(&settings(&proxy.endpoint()), &blobs)?;
    let request = http::Request::post(format!("{}/", proxy.endpoint()))
        .header("content-type", "application/x-amz-json-1.1")
        .header("x-amz-target", format!("TrentService.{action}"))
        .body(body.to_string().into())?;
    let reply = identity.send("kms", "moto", request).await?;
    assert!(reply.is_success(), "{action}: {:?}", reply.body);
    Ok(serde_json::from_slice(&reply.body).unwrap_or_default())
}

/// The id and the ARN of a new key.
async fn new_key(proxy: &FaultProxy) -> Result<(String, String), Box<dyn std::error::Error>> {
    let created = administer(proxy, "CreateKey", json!({})).await?;
    let member = |name: &str| created["KeyMetadata"][name].as_str().unwrap_or_default().to_owned();
    let found = (member("KeyId"), member("Arn"));
    proxy.clear_requests();
    Ok(found)
}

/// An answer as AWS gives it.
fn refusal(status: u16, code: &str, message: &str) -> Fault {
    let body = json!({ "__type": format!("com.amazonaws.kms#{code}"), "Message": message }).to_string();
    Fault::instead(Answer::new(status).header("content-type", "application/x-amz-json-1.1").body(body))
}

#[tokio::test]
async fn a_key_is_named_by_id_arn_alias_and_arn_of_alias() -> Outcome {
    let Some(proxy) = moto() else { return Ok(()) };
    let (id, arn) = new_key(&proxy).await?;
    let alias = format!("alias/groundstate-{id}");
    administer(&proxy, "CreateAlias", json!({ "AliasName": alias, "TargetKeyId": id })).await?;
    let alias_arn = arn.replace(&format!("key/{id}"), &alias);
    for name in [&id, &arn, &alias, &alias_arn] {
        let kms = AwsKms::open(&settings(&proxy.endpoint()), name, &context())?;
        for length in [32, 16] {
            let wrapped = comes_back(&kms, length).await?;
            assert_eq!(wrapped.wrapped_by.as_deref(), Some(arn.as_str()), "{name}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn requests_are_those_of_the_sdk_and_signed_for_the_service() -> Outcome {
    let Some(proxy) = moto() else { return Ok(()) };
    let (id, _) = new_key(&proxy).await?;
    let settings = settings(&proxy.endpoint()).with("token", "session")?;
    let kms = AwsKms::open(&settings, &id, &context())?;
    comes_back(&kms, 32).await?;
    let requests = proxy.requests();
    let actions: Vec<&str> = requests.iter().filter_map(|request| request.header("x-amz-target")).collect();
    let expected =
        ["GenerateDataKey", "Decrypt", "Encrypt", "Decrypt"].map(|name| format!("TrentService.{name}"));
    assert_eq!(actions, expected);
    for request in &requests {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/"));
        assert_eq!(request.header("content-type"), Some("application/x-amz-json-1.1"));
        assert_eq!(request.header("x-amz-security-token"), Some("session"));
        let authorization = request.header("authorization").unwrap_or_default();
        assert!(authorization.contains("/eu-west-1/kms/aws4_request"), "{authorization}");
        for signed in ["content-type", "host", "x-amz-date", "x-amz-security-token", "x-amz-target"] {
            assert!(authorization.contains(signed), "{signed}: {authorization}");
        }
    }
    assert_eq!(&requests[0].body[..], format!(r#"{{"KeyId":"{id}","KeySpec":"AES_256"}}"#).as_bytes());
    assert!(requests[1].body.starts_with(br#"{"CiphertextBlob":""#), "no key is named");
    assert!(!String::from_utf8_lossy(&requests[1].body).contains("KeyId"));
    Ok(())
}

#[tokio::test]
async fn the_encryption_context_has_to_be_the_same() -> Outcome {
    let Some(proxy) = moto() else { return Ok(()) };
    let kms = AwsKms::open(&settings(&proxy.endpoint()), &new_key(&proxy).await?.0, &context())?;
    let of = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        kms.encryption_context(pairs.collect::<BTreeMap<_, _>>())
    };
    let team = of(&[("team", "net & ops"), ("stage", "prod")]);
    let wrapped = comes_back(&team, 32).await?;
    let body = proxy.requests().remove(0).body;
    assert!(body.starts_with(br#"{"EncryptionContext":{"stage":"prod","team":"net & ops"},"KeyId":"#));
    for other in [&kms, &of(&[("team", "net & ops")])] {
        refused(other.unwrap(&wrapped).await, ErrorKind::BadCiphertext, &["context", "backup"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_moved_alias_leaves_old_keys_open_unless_the_key_is_pinned() -> Outcome {
    let Some(proxy) = moto() else { return Ok(()) };
    let ((old, _), (new, new_arn)) = (new_key(&proxy).await?, new_key(&proxy).await?);
    let alias = format!("alias/moved-{old}");
    administer(&proxy, "CreateAlias", json!({ "AliasName": alias, "TargetKeyId": old })).await?;
    let kms = AwsKms::open(&settings(&proxy.endpoint()), &alias, &context())?;
    let (key, wrapped) = kms.generate(32).await?;
    administer(&proxy, "UpdateAlias", json!({ "AliasName": alias, "TargetKeyId": new })).await?;
    assert_eq!(kms.unwrap(&wrapped).await?.expose(), key.expose());
    assert_eq!(kms.wrap(&key).await?.wrapped_by, Some(new_arn));
    // moto has another word for it than AWS.
    proxy.fault(refusal(400, "IncorrectKeyException", "The key ID in the request does not identify a CMK"));
    refused(kms.pinned(true).unwrap(&wrapped).await, ErrorKind::WrongKey, &["IncorrectKeyException"]);
    let body = proxy.requests().pop().expect("it was asked").body;
    assert!(String::from_utf8_lossy(&body).contains(&format!(r#""KeyId":"{alias}""#)));
    Ok(())
}

#[tokio::test]
async fn refusals_say_what_to_do_and_are_not_repeated() -> Outcome {
    let proxy = Recorder::start(Answer::new(500));
    let kms = AwsKms::open(&settings(&proxy.endpoint()), "alias/x", &context())?;
    let wrapped = WrappedKey::new(b"blob".to_vec());
    for (code, message, kind, words) in [
        (
            "DisabledException",
            "arn:aws:kms:eu-west-1:1:key/k is disabled.",
            ErrorKind::KeyDisabled,
            "enable-key",
        ),
        (
            "KMSInvalidStateException",
            "k is pending deletion.",
            ErrorKind::KeyPendingDeletion,
            "cancel-key-deletion",
        ),
        ("KMSInvalidStateException", "k is unavailable.", ErrorKind::KeyDisabled, "describe-key"),
        ("NotFoundException", "Alias x is not found.", ErrorKind::KeyGone, "region"),
        ("AccessDeniedException", "not authorized", ErrorKind::Denied, "kms:Decrypt"),
        ("IncorrectKeyException", "", ErrorKind::WrongKey, "IncorrectKeyException"),
        ("InvalidCiphertextException", "", ErrorKind::BadCiphertext, "backup"),
        ("ExpiredTokenException", "", ErrorKind::Unauthenticated, "new credentials"),
        ("UnrecognizedClientException", "", ErrorKind::Unauthenticated, "access key"),
        ("InvalidSignatureException", "Signature expired: now earlier", ErrorKind::ClockSkew, "clock"),
        ("InvalidKeyUsageException", "", ErrorKind::Invalid, "symmetric"),
        ("ValidationException", "1 validation error\u{1b}[31m\nmore", ErrorKind::Invalid, "\\u001b[31m"),
    ] {
        proxy.clear_faults();
        proxy.clear_requests();
        proxy.fault(refusal(400, code, message));
        let outcome = kms.unwrap(&wrapped).await;
        assert!(!format!("{outcome:?}").contains(SECRET));
        refused(outcome, kind, &["alias/x", "eu-west-1", words]);
        assert_eq!(proxy.requests().len(), 1, "{code}");
    }
    proxy.clear_faults();
    proxy.fault(refusal(400, "NotFoundException", "Alias x is not found."));
    refused(kms.generate(32).await, ErrorKind::NotFound, &["create it"]);
    proxy.clear_faults();
    proxy.fault(refusal(400, "AccessDeniedException", ""));
    refused(kms.generate(32).await, ErrorKind::Denied, &["kms:GenerateDataKey"]);
    refused(kms.wrap(&DataKey::new(vec![0; 32])).await, ErrorKind::Denied, &["kms:Encrypt"]);
    Ok(())
}

#[tokio::test]
async fn what_passes_is_asked_for_again_a_bounded_number_of_times() -> Outcome {
    let Some(proxy) = moto() else { return Ok(()) };
    let (context, clock) = clocked();
    let kms = AwsKms::open(&settings(&proxy.endpoint()), &new_key(&proxy).await?.0, &context)?;
    // Twice throttled, then well; lost replies and connections too.
    for fault in [
        refusal(400, "ThrottlingException", "Rate exceeded"),
        Fault::drop_after_commit(),
        Fault::drop_before(),
    ] {
        proxy.fault(fault.times(2));
        proxy.clear_requests();
        comes_back(&kms, 32).await?;
        assert_eq!(proxy.requests().len(), 6);
        proxy.clear_faults();
    }
    let waited = clock.now().duration_since(Timestamp::UNIX_EPOCH).unwrap_or_default();
    assert!(waited >= Duration::from_secs(1) && waited < Duration::from_secs(30), "{waited:?}");
    // Others than the service answer with HTML, and the last cause stays.
    proxy.fault(Fault::instead(Answer::new(502).body("<html>Bad gateway</html>")));
    proxy.clear_requests();
    refused(kms.generate(32).await, ErrorKind::Unavailable, &["status 502"]);
    assert_eq!(proxy.requests().len(), 5);
    Ok(())
}

#[tokio::test]
async fn an_answer_of_another_service_is_no_key() -> Outcome {
    let recorder = Recorder::start(Answer::new(200).body("<ListAllMyBucketsResult/>"));
    let kms = AwsKms::open(&settings(&recorder.endpoint()), "k", &context())?;
    refused(kms.generate(32).await, ErrorKind::Corrupt, &["AWS_ENDPOINT_URL_KMS"]);
    let short = r#"{"Plaintext":"AAAA","CiphertextBlob":"AAAA","KeyId":"k"}"#;
    let recorder = Recorder::start(Answer::new(200).body(short));
    let kms = AwsKms::open(&settings(&recorder.endpoint()), "k", &context())?;
    refused(kms.generate(32).await, ErrorKind::Corrupt, &["3 bytes in place of 32"]);
    Ok(())
}

#[tokio::test]
async fn keys_do_not_leave_by_plain_http_and_accounts_are_checked_first() -> Outcome {
    let kms = AwsKms::open(&settings("http://kms.example.com"), "k", &context())?;
    refused(kms.wrap(&DataKey::new(vec![0; 32])).await, ErrorKind::Invalid, &["plain http"]);
    let Some(proxy) = moto() else { return Ok(()) };
    let (id, _) = new_key(&proxy).await?;
    let forbidden = settings(&proxy.endpoint()).with("allowed_account_ids", "999999999999")?;
    let kms = AwsKms::open(&forbidden, &id, &context())?;
    refused(kms.generate(32).await, ErrorKind::Denied, &["allowed_account_ids"]);
    assert!(proxy.requests().iter().all(|request| request.header("x-amz-target").is_none()));
    Ok(())
}

#[tokio::test]
async fn an_anonymous_client_signs_nothing() -> Outcome {
    let recorder = Recorder::start(Answer::new(200).body(r#"{"Plaintext":"AAAA","KeyId":"k"}"#));
    let anonymous = AwsSettings::new().with("region", "r")?.with("anonymous", "true")?;
    let kms = AwsKms::open(&anonymous.with("endpoints.kms", &recorder.endpoint())?, "k", &context())?;
    assert_eq!(kms.unwrap(&WrappedKey::new(b"b".to_vec())).await?.expose(), [0; 3]);
    assert_eq!(recorder.requests()[0].header("authorization"), None);
    Ok(())
}

#[test]
fn endpoints_come_from_option_variables_and_profile() {
    let home = tempfile::tempdir().expect("a folder can be made");
    std::fs::create_dir(home.path().join(".aws")).expect("a folder can be made");
    let config = "[default]\nregion = us-east-2\nservices = local\n[services local]\nkms =\n  endpoint_url = http://profile.test\n";
    std::fs::write(home.path().join(".aws/config"), config).expect("a file can be written");
    let home = home.path().to_str().expect("the path is text").to_owned();
    let endpoint = |variables: &[(&str, &str)]| {
        let lookup = |name: &str| match name {
            "HOME" => Some(home.clone()),
            name => variables.iter().find(|(found, _)| *found == name).map(|(_, text)| (*text).to_owned()),
        };
        let context = context();
        let blobs = groundstate_blobs::Context::new(context.clock, context.sleeper, context.ids);
        let settings = AwsSettings::new().or_from(&lookup).expect("the variables are fine");
        let identity = AwsIdentity::open(&settings, &blobs).expect("the settings are fine");
        (identity.kms_endpoint().to_owned(), identity.region().to_owned())
    };
    let (all, own) = (("AWS_ENDPOINT_URL", "http://all.test"), ("AWS_ENDPOINT_URL_KMS", "http://kms.test"));
    let ignore = ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    for (variables, expected) in [
        (vec![], "http://profile.test"),
        (vec![all], "http://all.test"),
        (vec![all, own], "http://kms.test"),
        (vec![ignore], "https://kms.us-east-2.amazonaws.com"),
    ] {
        assert_eq!(endpoint(&variables), (expected.to_owned(), "us-east-2".to_owned()), "{variables:?}");
    }
}
