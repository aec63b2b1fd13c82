//! Clients that lock, read, write and unlock, again and again.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use groundstate_testkit::ask;

use crate::bench::nodes::Nodes;
use crate::bench::{Failure, Outcome};

/// What clients did in a time.
#[derive(Clone, Debug)]
pub(crate) struct Cycles {
    /// How long each cycle took, in milliseconds, in order.
    millis: Vec<f64>,
    elapsed: Duration,
}

impl Cycles {
    fn new(mut millis: Vec<f64>, elapsed: Duration) -> Self {
        millis.sort_by(f64::total_cmp);
        Self { millis, elapsed }
    }

    /// What clients did together, each for about the same time.
    pub(crate) fn of(outcomes: Vec<Outcome<(Vec<f64>, Duration)>>) -> Outcome<Self> {
        let (mut all, mut elapsed) = (Vec::new(), Duration::ZERO);
        for outcome in outcomes {
            let (millis, time) = outcome?;
            all.extend(millis);
            elapsed = elapsed.max(time);
        }
        Ok(Self::new(all, elapsed))
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.millis.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// The time that this share of the cycles does not exceed, in milliseconds.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let rank = (share * self.millis.len() as f64).ceil() as usize;
        self.millis.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }
}

/// A state of about this size with this serial.
pub(super) fn state(lineage: usize, serial: u64, bytes: usize) -> String {
    const RESOURCE: usize = 1000;
    let filler = "x".repeat(RESOURCE - 200);
    let resources: Vec<String> = (0..(bytes / RESOURCE).max(1))
        .map(|number| {
            format!(
                r#"{{"mode":"managed","type":"terraform_data","name":"n{number}","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{{"schema_version":0,"attributes":{{"id":"{number}","input":"{filler}"}}}}]}}"#
            )
        })
        .collect();
    let resources = resources.join(",");
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"{lineage:08}-0000-4000-8000-000000000000","outputs":{{}},"resources":[{resources}],"check_results":null}}"#
    )
}

/// Lets clients work for so many seconds. Each has a state of its own, which is there when the time begins.
pub(super) fn run_cycles(nodes: &Nodes, clients: usize, bytes: usize, seconds: u64) -> Outcome<Cycles> {
    let (ready, time) = (Barrier::new(clients + 1), Duration::from_secs(seconds));
    let outcomes: Vec<Outcome<(Vec<f64>, Duration)>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                let ready = &ready;
                scope.spawn(move || {
                    let first = cycle(nodes, client, 1, bytes);
                    ready.wait();
                    first?;
                    let (start, mut millis, mut serial) = (Instant::now(), Vec::new(), 1);
                    while start.elapsed() < time {
                        serial += 1;
                        let begun = Instant::now();
                        cycle(nodes, client, serial, bytes)?;
                        millis.push(begun.elapsed().as_secs_f64() * 1e3);
                    }
                    Ok((millis, start.elapsed()))
                })
            })
            .collect();
        ready.wait();
        let panicked = || Err(Failure::Step("a client panicked".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked())).collect()
    });
    Cycles::of(outcomes)
}

fn cycle(nodes: &Nodes, client: usize, serial: u64, bytes: usize) -> Outcome {
    let path = nodes.path(client);
    let id = format!("{client:08}-0000-4000-8000-{serial:012}");
    let lock = format!(
        r#"{{"ID":"{id}","Operation":"OperationTypeApply","Info":"","Who":"bench@bench","Version":"1.11.4","Created":"2026-01-01T00:00:00Z","Path":""}}"#
    );
    let headers = nodes.headers();
    let expected = |method: &str, path: &str, body: &[u8]| {
        let failed = |why: String| Failure::Step(format!("{method} {path} at {}: {why}", nodes.name()));
        let answer = ask(nodes.address(), method, path, headers, body);
        match answer.map_err(|error| failed(error.to_string()))? {
            answer if (200..300).contains(&answer.status) => Ok(answer.body.len()),
            // No state yet.
            answer if method == "GET" && serial == 1 && answer.status == 404 => Ok(0),
            answer => Err(failed(format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)))),
        }
    };
    expected("LOCK", &path, lock.as_bytes())?;
    let length = expected("GET", &path, b"")?;
    if serial > 1 && length == 0 {
        return Err(Failure::Step(format!("GET {path} at {}: the state is gone", nodes.name())));
    }
    let body = state(client, serial, bytes);
    expected("POST", &format!("{path}?ID={id}"), body.as_bytes())?;
    expected("UNLOCK", &path, lock.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Cycles, state};

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let cycles = Cycles::new((1..=100).rev().map(f64::from).collect(), Duration::from_secs(4));
        assert_eq!(
            [cycles.percentile(0.5), cycles.percentile(0.99), cycles.per_second()],
            [50.0, 99.0, 25.0]
        );
        assert!(Cycles::new(vec![], Duration::from_secs(1)).percentile(0.5).is_nan());
    }

    #[test]
    fn states_have_the_size_that_was_asked_for() {
        let text = state(3, 7, 100_000);
        assert!((95_000..110_000).contains(&text.len()), "{}", text.len());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["serial"], 7);
    }
}
