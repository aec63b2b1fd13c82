//! What runs say, and that nothing passes in silence.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_conformance::{
    BoxFuture, CLAUSES, Case, Conditions, Harness, MemoryHarness, Outcome, Settings, TestStore, run, run_case,
};
use groundstate_statemgr::{Error, ErrorKind, Op, Result};

use crate::broken::{Flaw, Flawed};

fn memory() -> Arc<dyn Harness> {
    Arc::new(MemoryHarness::new())
}

#[test]
fn a_report_as_text_has_a_line_a_case_and_a_sum() {
    let settings = Settings::default().seed(7).conditions([Conditions::Calm, Conditions::Stops]).only("R1");
    let report = run(memory(), &settings);
    let bytes = "the harness cannot put zero bytes there (`TestStore::put_zero_bytes`)";
    let container = "the harness has no place without container (`TestStore::open_without_container`)";
    let lines = |conditions: &str| {
        format!(
            "passed R1 {conditions:<7} absent_reads_as_none\n\
             passed R1 {conditions:<7} absent_reads_as_none_after_delete\n\
             n/a    R1 {conditions:<7} absent_reads_as_none_where_zero_bytes_lie: {bytes}\n\
             n/a    R1 {conditions:<7} absent_reads_as_none_but_not_without_container: {container}\n"
        )
    };
    let sum = "memory: 4 passed, 0 failed, 0 not shown, 4 not applicable (seed 7)";
    assert_eq!(report.to_string(), format!("{}{}{sum}", lines("calm"), lines("stops")));
    assert!(report.is_success());
}

#[test]
fn a_report_as_json_has_all_of_a_failure() {
    let settings =
        Settings::default().seed(u64::MAX).conditions([Conditions::Calm]).only("unlock_twice_fails");
    let report = run(Arc::new(Flawed(Some(Flaw::UnlockTwiceIsFine))), &settings);
    assert!(!report.is_success());
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let call = "A unlock \"never\" -> done";
    let expected = serde_json::json!({
        "store": "UnlockTwiceIsFine",
        "seed": "18446744073709551615",
        "passed": 0,
        "failed": 1,
        "most_basic": "L5",
        "not_shown": 0,
        "not_applicable": 0,
        "cases": [{
            "case": "unlock_twice_fails",
            "clause": "L5",
            "conditions": "calm",
            "outcome": "failed",
            "broken_clause": "L5",
            "expected": "a release where nothing was ever locked is refused with `NotFound`",
            "seen": "it succeeded",
            "next_step": "answer `NotFound` when there is no lock",
            "calls": [call],
        }],
    });
    assert_eq!(json, expected);
}

#[test]
fn a_run_without_cases_is_no_success() {
    let report = run(memory(), &Settings::default().only("no_such_case"));
    assert!(report.cases.is_empty() && !report.is_success());
    assert!(!run(memory(), &Settings::default().conditions([])).is_success());
}

#[test]
fn the_same_seed_gives_the_same_failure() {
    let case = Case::find("check_and_write_are_one_in_random_histories").unwrap();
    let harness: Arc<dyn Harness> = Arc::new(Flawed(Some(Flaw::ChecksThenWrites)));
    let outcome = |seed| run_case(&harness, case, Conditions::Calm, seed);
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

/// A harness that does not do its part.
#[derive(Clone, Copy, Debug)]
enum Bad {
    Hangs,
    Panics,
    HasNoPlace,
    ReturnsEarly,
}

#[async_trait]
impl Harness for Bad {
    fn name(&self) -> String {
        format!("{self:?}")
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        match self {
            Self::Hangs => std::future::pending().await,
            Self::Panics => std::panic::resume_unwind(Box::new("as the test wants it")),
            _ => Err(Error::new(ErrorKind::Unavailable, Op::Other("make"), "a place")),
        }
    }

    fn block_on(&self, future: BoxFuture<'_, ()>) {
        if !matches!(self, Self::ReturnsEarly) {
            groundstate_conformance::block_on(future);
        }
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(100)
    }
}

#[test]
fn what_keeps_a_case_from_running_is_a_failure() {
    for (bad, seen) in [
        (Bad::Hangs, "it still waits for something"),
        (Bad::Panics, "one panicked"),
        (Bad::HasNoPlace, "`Unavailable`: cannot make a place: the store is not available, try again later"),
        (Bad::ReturnsEarly, "`Harness::block_on` returned early"),
    ] {
        let harness: Arc<dyn Harness> = Arc::new(bad);
        let outcome = run_case(&harness, Case::find("lock_excludes").unwrap(), Conditions::Calm, 1);
        let Outcome::Failed(failure) = outcome else { panic!("{bad:?} gives {outcome:?}") };
        assert_eq!(failure.seen, seen, "{bad:?}");
    }
}

/// The table of clauses and the documentation of the trait are written by hand, and have to say the same.
#[test]
fn the_clauses_are_those_of_the_documentation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../statemgr/src/store.rs");
    let Ok(source) = std::fs::read_to_string(path) else {
        println!("not run: the source of groundstate-statemgr is not beside this crate");
        return;
    };
    let documented: Vec<String> = source
        .lines()
        .filter_map(|line| line.strip_prefix("/// - **")?.split_once("`**"))
        .map(|(clause, _)| clause.replace('`', ""))
        .collect();
    let known: Vec<String> =
        CLAUSES.iter().filter(|clause| clause.is_of_stores()).map(ToString::to_string).collect();
    assert_eq!(known, documented);
}

/// Which clause to look at first, before all the lines.
#[test]
fn the_most_basic_broken_clause_comes_first() {
    let settings = Settings::default().conditions([Conditions::Calm]);
    let report = run(Arc::new(Flawed(Some(Flaw::DropsWrites))), &settings);
    let others = report.failures().filter(|case| match &case.outcome {
        Outcome::Failed(failure) => failure.clause.code != "R2",
        _ => false,
    });
    let others = others.count();
    assert!(others > 3, "{report}");
    let first = format!("R2 reads_own_and_others_writes is broken; {others} others may follow from it\n\n");
    assert!(report.to_string().starts_with(&first), "{report}");
    assert_eq!(report.most_basic().map(|clause| clause.code), Some("R2"));
    assert_eq!(run(memory(), &settings.only("R1")).most_basic(), None);
}

/// A test that fails for what another clause demands says so.
#[test]
fn a_failed_test_names_the_clause_to_look_at_first() {
    let check = |flaw, case| {
        let harness = Arc::new(Flawed(Some(flaw)));
        groundstate_conformance::check(harness, case, Conditions::Calm, module_path!())
            .unwrap_err()
            .to_string()
    };
    let text = check(Flaw::DropsWrites, "terraform_full_manager");
    let line =
        "  first:     R2 reads_own_and_others_writes is broken too and more basic, this may follow from it\n";
    assert!(text.contains(line), "{text}");
    let text = check(Flaw::DropsWrites, "reads_own_and_others_writes");
    assert!(!text.contains("first:"), "{text}");
}

/// The hint follows what was seen, not the clause alone.
#[test]
fn the_next_step_follows_what_was_seen() {
    for (flaw, case, hint) in [
        (Flaw::CutsLongStates, "reads_own_and_others_writes_of_megabytes", "the end is missing"),
        (Flaw::OverlaysTheOldBytes, "write_replaces_all", "old bytes follow the new ones"),
        (Flaw::ReadNeedsTheLock, "reads_without_lock", "a lock is left"),
    ] {
        let harness: Arc<dyn Harness> = Arc::new(Flawed(Some(flaw)));
        let outcome = run_case(&harness, Case::find(case).unwrap(), Conditions::Calm, 1);
        let Outcome::Failed(failure) = outcome else { panic!("{flaw:?} gives {outcome:?}") };
        assert!(failure.hint.starts_with(hint), "{failure}");
    }
}
