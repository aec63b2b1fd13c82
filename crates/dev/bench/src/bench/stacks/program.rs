//! Programs that are measured, and what they cost.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use groundstate_testkit::Traffic;

use super::bucket::Bucket;
use crate::bench::child::{Cost, Ended, measure_for};
use crate::bench::{Failure, Outcome, median};

/// No thing is measured again once it has taken so long.
const ENOUGH: Duration = Duration::from_secs(20);

/// Who does what is measured.
pub(super) enum Program {
    Pulumi,
    Groundstate(PathBuf),
    /// The libraries, in a process of this program.
    Step,
}

impl Program {
    pub(super) fn command(&self) -> Outcome<Command> {
        Ok(match self {
            Self::Pulumi => Command::new("pulumi"),
            Self::Groundstate(path) => Command::new(path),
            Self::Step => {
                let own = std::env::current_exe()
                    .map_err(|source| Failure::Start { program: "this program".to_owned(), source })?;
                let mut command = Command::new(own);
                command.arg("stacks-step");
                command
            }
        })
    }
}

/// What a program cost, and what it asked of the bucket.
pub(super) struct Measured {
    /// Seconds.
    pub(super) time: f64,
    /// The most memory it had, in bytes.
    pub(super) peak: f64,
    /// Nothing where requests are not counted.
    pub(super) traffic: Option<Traffic>,
    /// Whether it was stopped before its end.
    pub(super) ended: Ended,
}

impl Measured {
    /// What runs cost in the middle.
    fn of(costs: &[Cost], traffic: Option<Traffic>, ended: Ended) -> Self {
        let time = median(costs.iter().map(|cost| cost.wall.as_secs_f64()).collect());
        let peak = median(costs.iter().map(|cost| cost.peak as f64).collect());
        Self { time, peak, traffic, ended }
    }

    pub(super) fn row(&self, what: &str, who: &str, bucket: &Bucket) -> String {
        let time = match self.ended {
            Ended::ByItself => time(self.time),
            Ended::Stopped => format!("stopped after {:.0} s", self.time),
        };
        let traffic = match &self.traffic {
            Some(Traffic { requests, received, sent, .. }) => {
                format!("{requests} | {} | {}", megabytes(*received), megabytes(*sent))
            }
            None => " |  | ".to_owned(),
        };
        format!("| {what} | {who} | {} | {time} | {:.0} | {traffic} |", bucket.name(), self.peak / 1e6)
    }
}

fn time(seconds: f64) -> String {
    if seconds < 10.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

fn megabytes(bytes: u64) -> String {
    let bytes = bytes as f64 / 1e6;
    if bytes < 10.0 { format!("{bytes:.2}") } else { format!("{bytes:.0}") }
}

/// Runs a program so often, or until that has taken long; it is stopped when it has taken longer than there is patience. The
/// requests are those of the last run.
pub(super) fn repeat(
    (runs, patience): (usize, Duration),
    bucket: &Bucket,
    mut command: impl FnMut() -> Outcome<Command>,
) -> Outcome<Measured> {
    let start = Instant::now();
    let mut costs = Vec::new();
    let (mut traffic, mut ended) = (None, Ended::ByItself);
    while costs.is_empty() || (costs.len() < runs && start.elapsed() < ENOUGH) {
        let mark = bucket.server().map(|server| (server, server.mark()));
        let (cost, end) = measure_for(&command()?, patience)?;
        costs.push(cost);
        ended = end;
        traffic = mark.map(|(server, mark)| server.traffic_since(mark));
    }
    Ok(Measured::of(&costs, traffic, ended))
}

#[cfg(test)]
mod tests {
    use super::{megabytes, time};

    #[test]
    fn figures_have_the_unit_that_suits_them() {
        assert_eq!([time(0.0123), time(12.34)], ["12 ms", "12.3 s"]);
        assert_eq!([megabytes(1_234_567), megabytes(123_456_789)], ["1.23", "123"]);
    }
}
