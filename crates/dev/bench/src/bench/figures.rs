//! What is measured, and what the costs amount to.

use super::child::Cost;
use super::median;
use super::report::{Bound, Figure, Ratio};

/// Files smaller than this are skipped in less time than a process takes to start, and are outweighed by the program
/// that reads them: there is no limit to them that speaks of the reading.
const JUDGED: u64 = 10 << 20;

/// Files from this size on have limits of time, and of the memory of whole commands: of the 13 ms that a list of 20 MB takes,
/// 2 ms are the start of the process, and of the memory of a change 10 MB are the same for all sizes.
const TIMED: u64 = 100 << 20;
/// How much the time for one output may differ between sizes: twice the noise of starting a process.
const FLAT: f64 = 1.5;

/// One thing that is run again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    List,
    Skip,
    TerraformList,
    Output,
    Open,
    Edit,
    Copy,
    Rm,
    TerraformRm,
    Mv,
    TerraformMv,
    Model,
    Value,
    TerraformPull,
    ModelV3,
    TerraformPullV3,
}

impl Task {
    /// All of them, in the order of a round: what is compared stands side by side.
    pub(crate) const ALL: [Self; 16] = [
        Self::List,
        Self::Skip,
        Self::TerraformList,
        Self::Output,
        Self::Open,
        Self::Edit,
        Self::Copy,
        Self::Rm,
        Self::TerraformRm,
        Self::Mv,
        Self::TerraformMv,
        Self::Model,
        Self::Value,
        Self::TerraformPull,
        Self::ModelV3,
        Self::TerraformPullV3,
    ];

    pub(crate) fn is_terraform(self) -> bool {
        matches!(
            self,
            Self::TerraformList
                | Self::TerraformRm
                | Self::TerraformMv
                | Self::TerraformPull
                | Self::TerraformPullV3
        )
    }

    pub(crate) fn is_v3(self) -> bool {
        matches!(self, Self::ModelV3 | Self::TerraformPullV3)
    }

    /// How often it is run: less often what takes long anyway.
    pub(crate) fn rounds(self, runs: usize, bytes: u64) -> usize {
        let large = bytes > 50 << 20;
        match self {
            Self::TerraformRm | Self::TerraformMv if large => 1,
            _ if self.is_terraform() && large => runs.min(2),
            _ if self.is_terraform() => runs.min(3),
            _ => runs,
        }
    }

    /// The figures of a run: what they are of, and which time.
    fn times(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::List => &[("`groundstate list`", "")],
            Self::Skip => &[("`serde_json` skipping it in memory", "skip")],
            Self::TerraformList => &[("`terraform state list`", "")],
            Self::Output => &[("`groundstate outputs NAME`", "")],
            Self::Open => &[("lazy document: open", "open")],
            Self::Edit => &[("lazy document: read, remove a resource, write", "")],
            Self::Copy => &[("copying the file twice, to the disk", "copy")],
            Self::Rm => &[("`groundstate rm`, with backup", "")],
            Self::TerraformRm => &[("`terraform state rm`", "")],
            Self::Mv => &[("`groundstate mv`, with backup", "")],
            Self::TerraformMv => &[("`terraform state mv`", "")],
            Self::Model => &[("model: decode", "decode"), ("model: encode", "encode")],
            Self::Value => {
                &[("`serde_json::Value`: decode", "decode"), ("`serde_json::Value`: encode", "encode")]
            }
            Self::TerraformPull => &[("`terraform state pull`", "")],
            Self::ModelV3 => &[("v3: decode and upgrade", "decode"), ("v3: encode as v4", "encode")],
            Self::TerraformPullV3 => &[("v3: `terraform state pull`", "")],
        }
    }
}

/// All runs on the states of one size.
#[derive(Debug)]
pub(crate) struct Runs {
    pub(crate) instances: usize,
    /// Sizes of the files of format 4 and 3.
    pub(crate) bytes: [u64; 2],
    pub(crate) costs: Vec<(Task, Cost)>,
}

impl Runs {
    fn of(&self, task: Task) -> impl Iterator<Item = &Cost> {
        self.costs.iter().filter(move |(known, _)| *known == task).map(|(_, cost)| cost)
    }

    fn bytes_of(&self, task: Task) -> u64 {
        self.bytes[usize::from(task.is_v3())]
    }

    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for task in Task::ALL.into_iter().filter(|task| self.of(*task).next().is_some()) {
            let peak = self.peak(task);
            for (label, name) in task.times() {
                let seconds = median(self.of(task).map(|cost| seconds(cost, name)).collect());
                // Reading one output does not read the file, so it has no speed.
                let bytes = (task != Task::Output).then(|| self.bytes_of(task));
                figures.push(Figure { instances: self.instances, label, seconds, bytes, peak });
            }
        }
        figures
    }

    pub(crate) fn ratios(&self) -> Vec<Ratio> {
        let mut ratios = Vec::new();
        let mut compare = |what, value: f64, bound| {
            // What was not run has no value; what took no time at all is shown, and misses its limit.
            if !value.is_nan() {
                ratios.push(Ratio { instances: Some(self.instances), what, value, bound });
            }
        };
        let pairs = |a, b| self.paired(a, b);
        let judged = self.bytes[0] >= JUDGED;
        let timed = self.bytes[0] >= TIMED;
        compare(
            "time of `list` / of skipping",
            pairs(Task::List, Task::Skip),
            timed.then_some(Bound::AtMost(1.2)),
        );
        compare(
            "time of `terraform state list` / of `list`",
            pairs(Task::TerraformList, Task::List),
            timed.then_some(Bound::AtLeast(40.0)),
        );
        if judged {
            compare("memory of `list` / file", self.memory(Task::List), Some(Bound::AtMost(0.5)));
            compare("memory of the lazy document / file", self.memory(Task::Open), Some(Bound::AtMost(1.3)));
            let bound = timed.then_some(Bound::AtMost(1.5));
            compare("memory of `rm` / file", self.memory(Task::Rm), bound);
            compare("memory of `mv` / file", self.memory(Task::Mv), bound);
            compare("memory of the full model / file", self.memory(Task::Model), Some(Bound::AtMost(3.0)));
        }
        for (what, faster, own, peer) in [
            (
                "time of `rm` / of copying twice",
                "time of `terraform state rm` / of `rm`",
                Task::Rm,
                Task::TerraformRm,
            ),
            (
                "time of `mv` / of copying twice",
                "time of `terraform state mv` / of `mv`",
                Task::Mv,
                Task::TerraformMv,
            ),
        ] {
            compare(what, pairs(own, Task::Copy), timed.then_some(Bound::AtMost(3.0)));
            compare(faster, pairs(peer, own), timed.then_some(Bound::AtLeast(50.0)));
        }
        compare("time of `Value` / of the model", pairs(Task::Value, Task::Model), None);
        compare("memory of `Value` / of the model", self.peak(Task::Value) / self.peak(Task::Model), None);
        compare(
            "time of `terraform state pull` / of the model",
            pairs(Task::TerraformPull, Task::Model),
            None,
        );
        compare(
            "v3: time of `terraform state pull` / of the upgrade",
            pairs(Task::TerraformPullV3, Task::ModelV3),
            None,
        );
        ratios
    }

    /// The median of the ratios of times, round by round, so that a noisy minute counts on both sides.
    fn paired(&self, above: Task, below: Task) -> f64 {
        let ratios = self.of(above).zip(self.of(below)).map(|(a, b)| total(above, a) / total(below, b));
        median(ratios.collect())
    }

    fn peak(&self, task: Task) -> f64 {
        // No memory at all means that this system does not tell.
        median(self.of(task).filter(|cost| cost.peak > 0).map(|cost| cost.peak as f64).collect())
    }

    fn memory(&self, task: Task) -> f64 {
        self.peak(task) / self.bytes_of(task) as f64
    }
}

/// Whether the time for one output depends on the size.
pub(crate) fn flatness(all: &[Runs]) -> Option<Ratio> {
    let times: Vec<f64> = all
        .iter()
        .map(|runs| median(runs.of(Task::Output).map(|cost| seconds(cost, "")).collect()))
        .collect();
    let longest = times.iter().copied().fold(f64::NAN, f64::max);
    let shortest = times.iter().copied().fold(f64::NAN, f64::min);
    let what = "time of `outputs NAME`: longest / shortest of all sizes";
    let ratio = Ratio { instances: None, what, value: longest / shortest, bound: Some(Bound::AtMost(FLAT)) };
    (times.len() > 1).then_some(ratio)
}

/// A time that the run told, or that of the whole process.
fn seconds(cost: &Cost, name: &str) -> f64 {
    if name.is_empty() { cost.wall.as_secs_f64() } else { cost.told(name).as_secs_f64() }
}

/// All times of a run that count.
fn total(task: Task, cost: &Cost) -> f64 {
    task.times().iter().map(|(_, name)| seconds(cost, name)).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Runs, Task, flatness};
    use crate::bench::child::Cost;
    use crate::bench::report::Ratio;

    fn cost(millis: u64, peak: u64, told: &[(&str, u64)]) -> Cost {
        let told =
            told.iter().map(|(name, millis)| ((*name).to_owned(), Duration::from_millis(*millis))).collect();
        Cost { wall: Duration::from_millis(millis), peak, told }
    }

    fn runs(instances: usize, bytes: u64, costs: Vec<(Task, Cost)>) -> Runs {
        Runs { instances, bytes: [bytes, bytes], costs }
    }

    fn value(ratios: &[Ratio], what: &str) -> Option<f64> {
        ratios.iter().find(|ratio| ratio.what.starts_with(what)).map(|ratio| ratio.value)
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let list = |millis| (Task::List, cost(millis, 4 << 20, &[]));
        let skip = |millis| (Task::Skip, cost(999, 0, &[("skip", millis)]));
        // A slow second round slows both.
        let runs = runs(1, 20 << 20, vec![list(10), skip(10), list(40), skip(20), list(11), skip(10)]);
        let ratios = runs.ratios();
        let near = |what, expected: f64| (value(&ratios, what).unwrap() - expected).abs() < 1e-9;
        assert!(near("time of `list` / of skipping", 1.1));
        assert!(near("memory of `list` / file", 0.2));
        assert_eq!(value(&ratios, "time of `terraform state list`"), None);
    }

    #[test]
    fn small_files_have_no_limits_that_the_start_of_a_process_would_miss() {
        let costs = [(Task::List, cost(9, 8 << 20, &[])), (Task::Skip, cost(1, 8 << 20, &[("skip", 1)]))];
        let ratios = runs(1, 2 << 20, costs.to_vec()).ratios();
        assert_eq!(value(&ratios, "time of `list` / of skipping"), Some(9.0));
        assert_eq!(value(&ratios, "memory of `list`"), None);
        assert!(ratios.iter().all(Ratio::held));
    }

    #[test]
    fn times_of_one_output_are_compared_over_all_sizes() {
        let sized = |millis| runs(1, 1, vec![(Task::Output, cost(millis, 0, &[]))]);
        assert!(flatness(&[sized(4)]).is_none());
        let ratio = flatness(&[sized(4), sized(8), sized(6)]).unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-9 && !ratio.held());
    }
}
