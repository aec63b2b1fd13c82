//! Roles, identities and accounts against moto's Security Token Service, where the environment names a server.

use bytes::Bytes;
use groundstate_blobs::{BlobStore, ErrorKind, GetOptions, Key, PutOptions};
use groundstate_blobs_cloud::{S3Blobs, S3Settings};

use crate::context::context;
use crate::credentials::{Outcome, words};

const ROLE: &str = "arn:aws:iam::210987654321:role/states";

fn moto() -> Option<String> {
    groundstate_testkit::server_of_peer("moto", "GROUNDSTATE_S3_ENDPOINT")
}

fn settings(endpoint: &str, bucket: &str) -> S3Settings {
    let mut settings = crate::s3::settings(endpoint, bucket);
    settings.set("endpoints.sts", endpoint).expect("the option is known");
    settings
}

/// A bucket of its own.
async fn bucket(endpoint: &str) -> Result<String, Box<dyn std::error::Error>> {
    let number = groundstate_common::IdSource::number(&groundstate_common::OsIds)?;
    let name = format!("groundstate-sts-{number:x}");
    let blobs = S3Blobs::open(&settings(endpoint, &name), &context())?;
    blobs.signed("s3", http::Request::put(format!("{endpoint}/{name}")).body(Bytes::new())?).await?;
    Ok(name)
}

async fn writes_and_reads(settings: &S3Settings) -> Outcome {
    let store = S3Blobs::open(settings, &context())?;
    let key = Key::parse("k")?;
    store.put(&key, "1".into(), &PutOptions::default()).await?;
    let blob = store.get(&key, &GetOptions::default()).await?.ok_or("it is gone")?;
    assert_eq!(&blob.bytes[..], b"1");
    Ok(())
}

#[tokio::test]
async fn a_role_is_assumed_with_all_that_a_block_may_have() -> Outcome {
    let Some(endpoint) = moto() else { return Ok(()) };
    let mut settings = settings(&endpoint, &bucket(&endpoint).await?);
    for (name, value) in [
        ("assume_role.role_arn", ROLE),
        ("assume_role.session_name", "ci"),
        ("assume_role.external_id", "partner"),
        ("assume_role.duration", "30m"),
        ("assume_role.tags.Team", "net, works"),
        ("assume_role.transitive_tag_keys", "Team"),
        ("assume_role.policy_arns", "arn:aws:iam::aws:policy/ReadOnlyAccess"),
        ("assume_role.policy", r#"{"Version":"2012-10-17","Statement":[]}"#),
        ("assume_role.source_identity", "ana"),
        // The role's account, and not that of the keys.
        ("allowed_account_ids", "210987654321"),
    ] {
        settings.set(name, value)?;
    }
    writes_and_reads(&settings).await
}

#[tokio::test]
async fn an_account_that_is_excluded_gets_no_request() -> Outcome {
    let Some(endpoint) = moto() else { return Ok(()) };
    let bucket = bucket(&endpoint).await?;
    let mut settings = settings(&endpoint, &bucket);
    settings.set("forbidden_account_ids", "123456789012")?;
    let store = S3Blobs::open(&settings, &context())?;
    let error = store.get(&Key::parse("k")?, &GetOptions::default()).await.err().ok_or("it was read")?;
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(words(&error).contains("123456789012"), "{}", words(&error));
    Ok(())
}

#[tokio::test]
async fn a_token_of_another_issuer_becomes_a_role() -> Outcome {
    let Some(endpoint) = moto() else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("token");
    std::fs::write(&path, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJjaSJ9.x\n")?;
    let mut bare = S3Settings::new();
    for (name, value) in [
        ("bucket", bucket(&endpoint).await?.as_str()),
        ("region", "us-east-1"),
        ("use_path_style", "true"),
        ("endpoints.s3", &endpoint),
        ("assume_role_with_web_identity.role_arn", ROLE),
        ("assume_role_with_web_identity.session_name", "ci"),
        ("assume_role_with_web_identity.web_identity_token_file", &path.display().to_string()),
    ] {
        bare.set(name, value)?;
    }
    let sts = endpoint.clone();
    let variable = move |name: &str| (name == "AWS_ENDPOINT_URL_STS").then(|| sts.clone());
    writes_and_reads(&bare.or_from(&variable)?).await
}

#[tokio::test]
async fn roles_of_profiles_are_assumed_in_chains() -> Outcome {
    let Some(endpoint) = moto() else { return Ok(()) };
    let home = tempfile::tempdir()?;
    std::fs::create_dir(home.path().join(".aws"))?;
    let config = format!(
        "[profile app]\nrole_arn = {ROLE}\nsource_profile = hub\nendpoint_url = {endpoint}\nregion = us-east-1\n\
         [profile hub]\nrole_arn = arn:aws:iam::111111111111:role/hub\nsource_profile = keys\n\
         [profile keys]\naws_access_key_id = AKIATEST\naws_secret_access_key = s3cr3t\n"
    );
    std::fs::write(home.path().join(".aws/config"), config)?;
    let settings = S3Settings::new()
        .with("bucket", &bucket(&endpoint).await?)?
        .with("use_path_style", "true")?
        .with("home", &home.path().display().to_string())?
        .with("allowed_account_ids", "210987654321")?;
    let variable = |name: &str| (name == "AWS_PROFILE").then(|| "app".to_owned());
    writes_and_reads(&settings.or_from(&variable)?).await
}
