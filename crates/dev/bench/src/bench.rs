//! What the commands of the program share.

pub(crate) mod child;
pub(crate) mod deployment;
pub(crate) mod encryption;
mod figures;
pub(crate) mod hostile;
pub(crate) mod journal;
mod machine;
mod nodes;
mod peer;
pub(crate) mod replay;
mod report;
pub(crate) mod server;
pub(crate) mod service;
pub(crate) mod stacks;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod walk;

use std::io;
use std::path::PathBuf;

/// Why a command ended without a result, or with a bad one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0} of the limits were missed")]
    Missed(usize),
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot run {program}: {source}")]
    Start { program: String, source: io::Error },
    #[error("`{command}` ended with {status}\n{stderr}")]
    Child { command: String, status: String, stderr: String },
    #[error("{0}")]
    Step(String),
    #[error("{0}")]
    Missing(String),
}

pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Missed(_) => 1,
            _ => 3,
        }
    }
}

/// The middle one, or the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    match (values.get(count.saturating_sub(1) / 2), values.get(count / 2)) {
        (Some(low), Some(high)) => (low + high) / 2.0,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle() {
        assert!(median(vec![]).is_nan());
        for (values, expected) in
            [(vec![3.0], 3.0), (vec![9.0, 1.0, 2.0], 2.0), (vec![4.0, 1.0, 2.0, 9.0], 3.0)]
        {
            assert!((median(values) - expected).abs() < f64::EPSILON);
        }
    }
}
