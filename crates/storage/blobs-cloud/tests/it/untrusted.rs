//! Whatever options, variables, files and answers have in them, nothing panics: the worst is an error.

use std::sync::Arc;

use groundstate_blobs::{BlobStore, Context, GetOptions, Key, PutOptions};
use groundstate_blobs_cloud::{AzureBlobs, AzureSettings, GcsBlobs, GcsSettings, S3Blobs, S3Settings};
use groundstate_common::{FixedClock, OsIds, Timestamp};
use groundstate_testkit::{Answer, Recorder};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Runtime;

/// Texts that break headers and addresses, and texts that are none of that.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        "[a-zA-Z0-9/+=._-]{1,20}(\r\n|\n| |\t|\0)?",
        "https?://(\\[x|\\[::1\\]|127\\.0\\.0\\.1:9|127\\.0\\.0\\.1|\\[|h h|%|@|:)?[:/?#@%\\[\\]\r\n\t\\PC]{0,6}",
        "(Bearer |Basic )?[\\x00-\\x7f]{0,12}",
        Just("true".to_owned()),
        Just("900s".to_owned()),
        Just("{\"type\":\"authorized_user\",\"client_id\":\"a\nb\"}".to_owned()),
    ]
}

/// A world in which no request leaves the loopback: addresses that nothing else sets are those of a server that refuses.
struct World {
    runtime: Runtime,
    server: Recorder,
    home: tempfile::TempDir,
}

impl World {
    fn new(answer: Answer) -> Self {
        let home = tempfile::tempdir().expect("there is room for a directory");
        std::fs::create_dir_all(home.path().join(".aws")).expect("there is room");
        let runtime = Runtime::new().expect("a runtime can be had");
        Self { runtime, server: Recorder::start(answer), home }
    }

    fn context() -> Context {
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        Context::new(Arc::clone(&clock) as _, clock, Arc::new(OsIds))
    }

    /// One read and one write, whatever they give.
    fn exercise(&self, store: &dyn BlobStore) {
        let key = Key::parse("k").expect("it is a key");
        self.runtime.block_on(async {
            let limit = std::time::Duration::from_secs(2);
            tokio::time::timeout(limit, store.get(&key, &GetOptions::default())).await.ok();
            tokio::time::timeout(limit, store.put(&key, "1".into(), &PutOptions::default())).await.ok();
        });
    }

    fn s3(&self, options: &[(&str, &str)]) {
        let mut settings = S3Settings::new();
        for (name, value) in options {
            if settings.set(name, value).is_err() {
                return;
            }
        }
        let endpoint = self.server.endpoint();
        let home = self.home.path().display().to_string();
        let variable = |name: &str| match name {
            "HOME" => Some(home.clone()),
            "AWS_REGION" => Some("us-east-1".to_owned()),
            "AWS_EC2_METADATA_SERVICE_ENDPOINT" | "AWS_ENDPOINT_URL" => Some(endpoint.clone()),
            _ => None,
        };
        settings.set("bucket", "b").ok();
        if let Ok(store) =
            settings.or_from(&variable).and_then(|settings| S3Blobs::open(&settings, &Self::context()))
        {
            self.exercise(&store);
        }
    }
}

/// Tries a property on as many cases as are asked for.
fn check<S: Strategy>(cases: u32, strategy: &S, property: impl Fn(S::Value)) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(strategy, |value| {
        property(value);
        Ok(())
    });
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn no_option_of_s3_makes_it_panic() {
    let world = World::new(Answer::new(403));
    let names: Vec<&'static str> = S3Settings::names().collect();
    let keys = [("access_key", "AKIA"), ("secret_key", "s")];
    check(600, &(proptest::sample::select(names), text(), any::<bool>()), |(name, value, has_keys)| {
        let mut options = if has_keys { keys.to_vec() } else { Vec::new() };
        options.push((name, &value));
        // Names that are of use together only.
        options.extend(match name {
            name if name.starts_with("assume_role.") => vec![("assume_role.role_arn", "arn:r")],
            name if name.contains("web_identity") => {
                vec![("web_identity_role_arn", "arn:r"), ("web_identity_token", "t")]
            }
            name if name.starts_with("container") => {
                vec![("container_credentials_full_uri", "http://127.0.0.1:9/")]
            }
            "sse_customer_key" | "kms_key_id" => vec![("encrypt", "true")],
            _ => Vec::new(),
        });
        options.push((name, &value));
        world.s3(&options);
    });
}

#[test]
fn no_file_and_no_answer_of_s3_makes_it_panic() {
    let world = World::new(Answer::new(403));
    let path = world.home.path().join("file");
    check(150, &(text(), 0..5_u8), |(text, kind)| {
        let file = path.display().to_string();
        std::fs::write(&path, &text).expect("there is room");
        let config = format!(
            "[default]\nregion = {text}\naws_access_key_id = {text}\naws_secret_access_key = {text}\naws_session_token = {text}\n"
        );
        match kind {
            0 => world.s3(&[
                ("container_credentials_full_uri", &world.server.endpoint()),
                ("container_authorization_token_file", &file),
            ]),
            1 => world.s3(&[("web_identity_role_arn", "arn:r"), ("web_identity_token_file", &file)]),
            2 => world.s3(&[("shared_config_files", &file)]),
            3 => {
                std::fs::write(&path, config).expect("there is room");
                world.s3(&[("shared_config_files", &file)]);
            }
            _ => {
                let quoted = serde_json::Value::from(text.as_str());
                let document = format!(
                    r#"{{"Version":1,"AccessKeyId":{quoted},"SecretAccessKey":{quoted},"SessionToken":{quoted},"Token":{quoted}}}"#
                );
                let answering = Recorder::start(Answer::new(200).body(document));
                world.s3(&[("container_credentials_full_uri", &answering.endpoint())]);
                // The session of a machine, and the name of its role.
                let answering = Recorder::start(Answer::new(200).body(text.clone()));
                world.s3(&[("ec2_metadata_service_endpoint", &answering.endpoint())]);
            }
        }
    });
}

#[test]
fn no_option_of_google_makes_it_panic() {
    let world = World::new(Answer::new(403));
    let names: Vec<&'static str> = GcsSettings::names().collect();
    check(200, &(proptest::sample::select(names), text()), |(name, value)| {
        let endpoint = world.server.endpoint();
        let mut settings = GcsSettings::new();
        for (name, value) in
            [("bucket", "b"), ("access_token", "t"), ("storage_custom_endpoint", &endpoint), (name, &value)]
        {
            if settings.set(name, value).is_err() {
                return;
            }
        }
        if let Ok(store) = GcsBlobs::open(&settings) {
            world.exercise(&store);
        }
    });
}

#[test]
fn no_option_of_azure_makes_it_panic() {
    let world = World::new(Answer::new(403));
    let names: Vec<&'static str> = AzureSettings::names().collect();
    check(200, &(proptest::sample::select(names), text()), |(name, value)| {
        let endpoint = format!("{}/acc", world.server.endpoint());
        let mut settings = AzureSettings::new();
        for (name, value) in [
            ("container_name", "c"),
            ("storage_account_name", "acc"),
            ("sas_token", "sv=1&sig=x"),
            ("endpoint", &endpoint),
            (name, &value),
        ] {
            if settings.set(name, value).is_err() {
                return;
            }
        }
        if let Ok(store) = AzureBlobs::open(&settings) {
            world.exercise(&store);
        }
    });
}
