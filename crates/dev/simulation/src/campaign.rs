//! Many cases by a seed, and the smallest one that fails.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Range};

use groundstate_pulumi_journal::StepKind;

use crate::case::{check, check_with};
use crate::dice::Tapes;
use crate::engine::Failure;
use crate::naive::{Defect, naive};

/// The longest tape of a case.
const LONGEST: usize = 600;

/// What cases did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// How many there were.
    pub cases: u64,
    /// How many runs of an engine.
    pub runs: u64,
    /// How many of them were killed.
    pub killed: u64,
    /// How many entries; after each, everything was compared.
    pub entries: u64,
    /// How many steps of each kind.
    pub steps: BTreeMap<StepKind, u64>,
    /// How many parts of journals were replayed as all there is.
    pub parts: u64,
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.cases += other.cases;
        self.runs += other.runs;
        self.killed += other.killed;
        self.entries += other.entries;
        self.parts += other.parts;
        for (kind, count) in other.steps {
            *self.steps.entry(kind).or_default() += count;
        }
    }
}

/// What became of many cases.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Campaign {
    /// What they did.
    pub stats: Stats,
    /// The first that failed: its number, its tape made as small as possible, and what is wrong.
    pub failure: Option<(u64, Vec<u8>, Failure)>,
}

/// Runs the cases of these numbers, and stops at the first that fails.
pub fn simulate(seed: u64, cases: Range<u64>) -> Campaign {
    simulate_with(seed, cases, &check)
}

/// Runs cases with another check.
pub fn simulate_with(
    seed: u64,
    cases: Range<u64>,
    check: &dyn Fn(&[u8]) -> Result<Stats, Failure>,
) -> Campaign {
    let mut campaign = Campaign::default();
    for number in cases {
        let tape = Tapes::new(seed, number).tape(LONGEST);
        match check(&tape) {
            Ok(stats) => campaign.stats += stats,
            Err(failure) => {
                let (tape, failure) = shrink(tape, failure, check);
                campaign.failure = Some((number, tape, failure));
                break;
            }
        }
    }
    campaign
}

/// Makes a tape that fails smaller, as long as it fails at all.
pub fn shrink(
    mut tape: Vec<u8>,
    mut failure: Failure,
    check: &dyn Fn(&[u8]) -> Result<Stats, Failure>,
) -> (Vec<u8>, Failure) {
    let mut tries = 20_000_usize;
    loop {
        let before = tape.clone();
        let mut attempt = |candidate: Vec<u8>, tape: &mut Vec<u8>| {
            if candidate == *tape || tries == 0 {
                return;
            }
            tries -= 1;
            if let Err(found) = check(&candidate) {
                (*tape, failure) = (candidate, found);
            }
        };
        let mut size = tape.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < tape.len() {
                let end = (at + size).min(tape.len());
                let without = [&tape[..at], &tape[end..]].concat();
                attempt(without, &mut tape);
                at += size;
            }
            size /= 2;
        }
        for at in 0..tape.len() {
            for smaller in [0, 1, 2] {
                if tape.get(at).is_some_and(|byte| *byte > smaller) {
                    let mut candidate = tape.clone();
                    candidate[at] = smaller;
                    attempt(candidate, &mut tape);
                }
            }
        }
        if tape == before || tries == 0 {
            return (tape, failure);
        }
    }
}

/// How many cases it takes until a replayer with this defect is caught, if it is.
pub fn catch(defect: Defect, seed: u64, cases: u64) -> Option<u64> {
    let replay = move |base: &_, entries: &[_]| naive(Some(defect), base, entries);
    (0..cases).find(|number| check_with(&Tapes::new(seed, *number).tape(LONGEST), &replay).is_err())
}
