//! Stores that are wrong, each in one way, and the case that finds it.

mod client;
mod flaw;
mod place;

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_conformance::{CLAUSES, Case, Conditions, Harness, Outcome, Settings, run, run_case};

pub(crate) use flaw::Flaw;
use flaw::{FLAWS, RACES};
pub(crate) use place::Flawed;

/// Without a flaw the same store passes, so that it is the flaw that is found below.
mod without_a_flaw {
    groundstate_conformance::suite!(super::Flawed(None));
}

/// Several seeds, so that nothing is found by luck.
const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

#[test]
fn each_flaw_is_found_by_the_case_of_its_clause() {
    let mut missed = Vec::new();
    for (flaw, code, name) in FLAWS {
        let harness: Arc<dyn Harness> = Arc::new(Flawed(Some(*flaw)));
        let case = Case::find(name).unwrap();
        // Who waits is given seconds to answer, each time.
        let seeds = if *code == "L2" { &SEEDS[..1] } else { &SEEDS[..] };
        for &seed in seeds {
            match run_case(&harness, case, Conditions::Calm, seed) {
                Outcome::Failed(failure) if failure.clause.code == *code => {}
                Outcome::Failed(failure) => missed.push(format!("{flaw:?} is taken for {failure}")),
                outcome => {
                    missed.push(format!("{flaw:?} is not found by {name} with seed {seed}: {outcome:?}"))
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// What happens on threads is not the seed's to decide, so that one attempt may miss it.
#[test]
fn races_are_found_on_threads_too() {
    for (flaw, name) in RACES {
        let harness: Arc<dyn Harness> = Arc::new(Flawed(Some(*flaw)));
        let case = Case::find(name).unwrap();
        let fails = |seed| matches!(run_case(&harness, case, Conditions::Calm, seed), Outcome::Failed(_));
        assert!((0..200).any(fails), "{flaw:?} is not found by {name} in 200 attempts");
    }
}

/// A second process is what finds it: within one the lock excludes every client.
#[test]
fn a_lock_inside_the_process_is_not_global() {
    let harness: Arc<dyn Harness> = Arc::new(Flawed(Some(Flaw::LocksInsideTheProcess)));
    let settings = Settings::default()
        .conditions([Conditions::Calm])
        .restart_test(module_path!(), "a_lock_inside_the_process_is_not_global");
    let report = run(harness, &settings.clone().only("lock_excludes"));
    assert!(report.is_success(), "{report}");
    let report = run(
        Arc::new(Flawed(Some(Flaw::LocksInsideTheProcess))),
        &settings.only("lock_excludes_other_processes"),
    );
    let [case] = report.cases.as_slice() else { panic!("{report}") };
    let Outcome::Failed(failure) = &case.outcome else { panic!("{report}") };
    assert_eq!(failure.clause.code, "L1");
    assert_eq!(failure.expected, "a lock of another process while A holds the lock is refused with `Locked`");
    assert!(failure.seen.starts_with("it succeeded, under the id"), "{failure}");
    assert!(failure.hint.contains("claim `Exclusion::Process`"), "{failure}");
}

#[test]
fn every_clause_is_broken_by_some_store() {
    let broken: BTreeSet<&str> = FLAWS.iter().map(|(_, code, _)| *code).collect();
    let clauses: BTreeSet<&str> = CLAUSES.iter().map(|clause| clause.code).collect();
    assert_eq!(broken, clauses);
}

#[test]
fn a_failure_says_what_to_do() {
    let harness: Arc<dyn Harness> = Arc::new(Flawed(Some(Flaw::IgnoresExpectAbsent)));
    let outcome = run_case(&harness, Case::find("expect_absent").unwrap(), Conditions::Calm, 7);
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        format!("{failure:?}"),
        "expect_absent failed: clause W4 expect_absent of the contract is broken\n  \
         expected:  a write of A that expects nothing where something is stored is refused with `Conflict`\n  \
         seen:      it succeeded\n  \
         next step: hand `Expect::Absent` to the service as its own condition (`If-None-Match: *`)\n  \
         again:     conditions calm, seed 7 (GROUNDSTATE_CONFORMANCE_SEED=7)\n  \
         calls:\n    \
         A write 268 bytes with the digest 4d7f72ac0b129c12 expecting nothing -> version 1\n    \
         A write 268 bytes with the digest f186940c11f9cb50 expecting nothing -> version 2"
    );
}
