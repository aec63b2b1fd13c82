//! How long credentials are used, and what their sources accept.

use std::time::Duration;

use groundstate_common::Timestamp;

use super::process::Process;
use super::sts::seconds;
use super::{Source, renewal};
use crate::ErrorKind;

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
