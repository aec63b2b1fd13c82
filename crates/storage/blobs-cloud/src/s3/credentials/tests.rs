//! How long credentials are used, and what their sources accept.

use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs::{Context, ErrorKind};
use groundstate_common::{FixedClock, Origin, SequenceIds, Timestamp};

use super::process::Process;
use super::sts::seconds;
use super::{Source, renewal};
use crate::{S3Blobs, S3Settings};

#[test]
fn durations_are_read_as_go_writes_them() {
    for (text, expected) in [
        ("1h30m", Some(5400)),
        ("900s", Some(900)),
        ("15m", Some(900)),
        ("3600", Some(3600)),
        ("15", None),
        ("13h", None),
        ("xm", None),
        ("ä", None),
        ("99999999999999999999h", None),
    ] {
        assert_eq!(seconds(text), expected, "{text}");
    }
}

#[test]
fn short_lives_are_used_for_three_quarters() {
    let at = |seconds| Timestamp::from_unix(seconds, 0).unwrap();
    for (end, expected) in [(3600, 3300), (400, 300), (0, 0), (-5, 0)] {
        assert_eq!(renewal(at(0), at(end)), at(expected), "{end}");
    }
}

#[tokio::test]
async fn a_program_that_does_not_end_is_ended() {
    let process = Process::new("p", "sleep 60").longest_run(Duration::from_millis(100));
    let error = process.fetch().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    assert!(error.to_string().contains("has not answered"), "{error}");
}

#[test]
fn a_directory_does_not_say_who_gets_tokens_and_keys() {
    let open = |directory: &str, variables: &[(&str, &str)]| {
        let mut settings = S3Settings::new().with("bucket", "b").unwrap().with("region", "r").unwrap();
        settings.read_from(&mut serde_json::Deserializer::from_str(directory), Origin::Block).unwrap();
        let lookup = |name: &str| {
            variables.iter().find(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned())
        };
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        let context = Context::new(Arc::<FixedClock>::clone(&clock), clock, Arc::new(SequenceIds::new()));
        S3Blobs::open(&settings.or_from(&lookup).unwrap(), &context).map(drop)
    };
    const KEY: (&str, &str) = ("AWS_SSE_CUSTOMER_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    const TOKEN: &[(&str, &str)] = &[("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"), ("AWS_ROLE_ARN", "r")];
    const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    let s3 = r#"{"encrypt": true, "endpoints": {"s3": "https://evil.example"}}"#;
    let sts = r#"{"endpoints": {"sts": "evil.example"}}"#;
    let block = r#"{"endpoints": {"sts": "http://evil.example"}, "assume_role_with_web_identity": {"role_arn": "r", "web_identity_token_file": "/t"}}"#;
    for (directory, variables) in [(s3, &[KEYS[0], KEYS[1], KEY][..]), (sts, TOKEN), (block, &[])] {
        let error = open(directory, variables).unwrap_err().to_string();
        assert!(error.contains("only the directory names this address"), "{directory}: {error}");
    }
    for (directory, variables) in [
        (s3, &KEYS[..]),
        (s3, &[KEYS[0], KEYS[1], KEY, ("AWS_ENDPOINT_URL_S3", "https://evil.example")]),
        (
            r#"{"encrypt": true, "endpoints": {"s3": "https://s3.eu-west-1.amazonaws.com"}}"#,
            &[KEYS[0], KEYS[1], KEY],
        ),
        (r#"{"endpoints": {"sts": "https://evil.example"}}"#, &KEYS),
        (sts, &[TOKEN[0], TOKEN[1], ("AWS_ENDPOINT_URL_STS", "evil.example")]),
    ] {
        open(directory, variables).unwrap_or_else(|error| panic!("{directory}: {error}"));
    }
}
