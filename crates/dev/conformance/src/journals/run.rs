//! The table of cases, and running them.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use super::cx::{Cx, Step, Stop};
use super::harness::JournalHarness;
use super::{appending, damage, epochs, reading, writers};

type RunFn = for<'a> fn(&'a Cx) -> Pin<Box<dyn Future<Output = Step> + Send + 'a>>;

/// A case: something that every journal does.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct JournalCase {
    /// Its name, which begins with that of its clause.
    pub name: &'static str,
    /// The code of its clause, such as `A1`.
    pub code: &'static str,
    run: RunFn,
}

impl fmt::Debug for JournalCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.name)
    }
}

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalFailure {
    /// The name of the case.
    pub case: &'static str,
    /// The code of the clause that is broken.
    pub code: &'static str,
    /// The seed of the run.
    pub seed: u64,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for JournalFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, code, seed, expected, seen } = self;
        write!(f, "{case} failed: clause {code} of the contract of journals is broken")?;
        write!(f, "\n  expected: {expected}\n  seen:     {seen}\n  again:    seed {seed}")
    }
}

impl std::error::Error for JournalFailure {}

macro_rules! cases {
    ($($code:ident $name:ident $run:path,)+) => {
        /// All cases, in the order of the clauses.
        pub const JOURNAL_CASES: &[JournalCase] = &[
            $(JournalCase { name: stringify!($name), code: stringify!($code), run: |cx| Box::pin($run(cx)) }),+
        ];
    };
}

cases! {
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
    harness: &dyn JournalHarness,
    case: &str,
    seed: u64,
) -> Result<Option<&'static str>, Box<dyn std::error::Error>> {
    let case = JOURNAL_CASES.iter().find(|known| known.name == case);
    let case = case.ok_or("there is no such case of journals")?;
    Ok(run_case(harness, case, seed)?)
}

/// Runs all cases, one after the other, and gives those that failed.
pub fn run_journals(harness: &dyn JournalHarness, seed: u64) -> Vec<JournalFailure> {
    JOURNAL_CASES.iter().filter_map(|case| run_case(harness, case, seed).err()).collect()
}

fn run_case(
    harness: &dyn JournalHarness,
    case: &JournalCase,
    seed: u64,
) -> Result<Option<&'static str>, JournalFailure> {
    let slot = Mutex::new(None);
    harness.block_on(Box::pin(async {
        let outcome = match harness.place().await {
            Ok(place) => (case.run)(&Cx { place, seed }).await,
            Err(error) => Err(super::cx::failed("a place for the case", error.to_string())),
        };
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }));
    let failure = |expected: String, seen: String| {
        Err(JournalFailure { case: case.name, code: case.code, seed, expected, seen })
    };
    match slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(Ok(())) => Ok(None),
        Some(Err(Stop::NotApplicable(why))) => Ok(Some(why)),
        Some(Err(Stop::Failed { expected, seen })) => failure(expected, seen),
        None => failure("the harness runs futures to their ends".into(), "`block_on` returned early".into()),
    }
}

/// Two clients, for cases that need no more.
pub(super) fn both<T>(one: &Arc<T>, other: &Arc<T>) -> [Arc<T>; 2]
where
    T: ?Sized,
{
    [Arc::clone(one), Arc::clone(other)]
}
