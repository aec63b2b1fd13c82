//! A stand-in for Google Cloud Storage on a port of the loopback, for as long as it is let run.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program prints where it listens")]

use std::process::ExitCode;
use std::time::Duration;

use groundstate_testkit::GcsServer;

const USAGE: &str = "usage: gcs-standin [--port PORT] [--bucket BUCKET]...

Without a port, a free one is taken. Without buckets, each that a request names comes into being.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((port, buckets)) = parse(&args) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let server = GcsServer::start_on(port);
    for bucket in &buckets {
        server.create_bucket(bucket);
    }
    if buckets.is_empty() {
        server.create_any_bucket();
    }
    println!("{}", server.endpoint());
    loop {
        // It may run for days: the log of requests would only grow.
        server.clear_requests();
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn parse(args: &[String]) -> Option<(u16, Vec<String>)> {
    let (mut port, mut buckets) = (0, Vec::new());
    for pair in args.chunks(2) {
        match pair {
            [name, value] if name == "--port" => port = value.parse().ok()?,
            [name, value] if name == "--bucket" => buckets.push(value.clone()),
            _ => return None,
        }
    }
    Some((port, buckets))
}
