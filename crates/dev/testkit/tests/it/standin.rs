//! The stand-in for Google Cloud Storage as a program.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::http;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts it, and returns the address that it prints.
fn start(args: &[&str]) -> (Running, String) {
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_gcs-standin")).args(args).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running(child), line.trim().to_owned())
}

#[tokio::test]
async fn it_serves_until_it_is_ended() {
    for (args, bucket, status) in
        [(&[][..], "any", 200), (&["--bucket", "one"], "one", 200), (&["--bucket", "one"], "other", 404)]
    {
        let (_running, address) = start(args);
        let answer = http().put(format!("{address}/{bucket}/k")).body("x").send().await.unwrap();
        assert_eq!(answer.status(), status, "{args:?} {bucket}");
    }
}

#[test]
fn it_explains_itself_when_it_is_called_wrongly() {
    for args in [&["--port"][..], &["--port", "x"], &["--other", "1"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_gcs-standin")).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: gcs-standin"));
    }
}
