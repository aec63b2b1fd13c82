//! The table of cases, and running them.

use std::sync::Arc;

use super::cx::Cx;
use super::harness::JournalHarness;
use super::{appending, damage, epochs, reading, writers};
use crate::failure::{Answer, Failure, Outcome};
use crate::frame::{SEED, SuiteCase, cases, checked};

cases! {
    /// All cases, in the order of the clauses.
    JOURNAL_CASES: Cx;
    R1 absent_reads_as_none reading::absent,
    R2 acknowledged_is_read reading::acknowledged,
    R3 reads_need_no_writer reading::no_writer,
    R4 reads_from_a_position reading::positions,
    R4 reads_from_a_position_of_an_epoch_that_is_over reading::over,
    A1 acknowledged_is_durable appending::durable,
    A2 order_is_kept appending::order,
    A3 batches_are_whole appending::whole,
    A4 concurrent_appends_all_count appending::concurrent,
    A5 any_bytes_are_records appending::any_bytes,
    A6 append_needs_an_epoch appending::needs_an_epoch,
    E1 begin_replaces epochs::begin,
    E2 begin_is_all_or_nothing epochs::all_or_nothing,
    E2 begin_is_all_or_nothing_beside_readers epochs::beside_readers,
    W1 newest_writer_wins writers::newest,
    W1 newest_writer_wins_over_one_that_slept_long writers::sleeper,
    W1 newest_writer_wins_in_every_operation writers::every_operation,
    W1 newest_writer_wins_in_a_race writers::race,
    W2 open_never_waits writers::locked,
    W3 closed_writers_end writers::closed,
    W4 a_new_writer_goes_on writers::goes_on,
    D1 torn_tails_count_for_nothing damage::torn,
    D2 damage_is_refused damage::refused,
    C1 display_names_the_place reading::display,
}

/// Runs the case of this name. Gives why it is not applicable, if it is not.
///
/// The tests that [`journal_suite!`](crate::journal_suite) makes call this.
///
/// # Errors
///
/// The failure of the case.
pub fn check_journal(
    harness: Arc<dyn JournalHarness>,
    case: &str,
) -> Result<Option<String>, Box<dyn std::error::Error>> {
    checked(run_case(harness, SuiteCase::find(JOURNAL_CASES, case)?, SEED))
}

/// Runs all cases, one after the other, and gives the failures of those that failed.
pub fn run_journals(harness: &Arc<dyn JournalHarness>, seed: u64) -> Vec<Failure> {
    let outcomes = JOURNAL_CASES.iter().map(|case| run_case(Arc::clone(harness), case, seed));
    let failures = outcomes.filter_map(|outcome| match outcome {
        Outcome::Failed(failure) => Some(*failure),
        _ => None,
    });
    failures.collect()
}

fn run_case(harness: Arc<dyn JournalHarness>, case: &'static SuiteCase<Cx>, seed: u64) -> Outcome {
    let executor = Arc::clone(&harness);
    let cx = async move { Ok(Cx { place: harness.journal().await.succeeds("making a place")?, seed }) };
    case.carry_out(JOURNAL_CASES, seed, move |future| executor.block_on(future), cx)
}

/// Two clients, for cases that need no more.
pub(super) fn both<T>(one: &Arc<T>, other: &Arc<T>) -> [Arc<T>; 2]
where
    T: ?Sized,
{
    [Arc::clone(one), Arc::clone(other)]
}
