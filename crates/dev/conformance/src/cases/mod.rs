//! The cases: at least one for each clause, with the clause's name.

mod absent;
mod backend;
mod deleting;
mod everything;
mod fencing;
mod holder;
mod lease;
mod locking;
mod managers;
mod reading;
mod terraform;
mod together;
mod writing;

use std::fmt;

use groundstate_statemgr::{Capabilities, Exclusion};

use crate::clause::Clause;
use crate::cx::Cx;
use crate::executor::BoxFuture;
use crate::failure::Step;

pub(crate) use absent::refusals;

/// How a case is run.
pub(crate) type RunFn = for<'a> fn(&'a Cx) -> BoxFuture<'a, Step>;

/// One thing that the contract demands, and how to see whether a store does it.
#[non_exhaustive]
pub struct Case {
    /// The name, which no other case has. The first case of a clause has the clause's name.
    pub name: &'static str,
    /// The code of the clause.
    pub code: &'static str,
    /// What a store has to have for the case to concern it. Where it lacks something, its refusal is checked instead.
    pub needs: Capabilities,
    pub(crate) run: RunFn,
}

impl Case {
    /// The clause that the case is about.
    pub fn clause(&self) -> &'static Clause {
        // Every code in the table is one of a clause; a test goes through all of them.
        Clause::find(self.code).unwrap_or(&crate::clause::CLAUSES[0])
    }

    /// The case of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        CASES.iter().find(|case| case.name == name)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, code, needs, run: _ } = self;
        f.debug_struct("Case").field("name", name).field("code", code).field("needs", needs).finish()
    }
}

const ANY: Capabilities = Capabilities::none();
const CONDITIONAL: Capabilities = ANY.conditional_write();
const DELETE: Capabilities = ANY.delete();
const LOCK: Capabilities = ANY.locking(Exclusion::Process);
const HOLDER: Capabilities = LOCK.holder();
const FORCE: Capabilities = LOCK.force_unlock();
const LEASE: Capabilities = LOCK.lease();
const FENCE: Capabilities = LOCK.fencing();

const fn case(name: &'static str, code: &'static str, needs: Capabilities, run: RunFn) -> Case {
    Case { name, code, needs, run }
}

/// All cases, in the order of their clauses.
pub static CASES: &[Case] = &[
    case("absent_reads_as_none", "R1", ANY, |cx| Box::pin(reading::absent(cx))),
    case("absent_reads_as_none_after_delete", "R1", DELETE, |cx| Box::pin(reading::deleted(cx))),
    case("absent_reads_as_none_where_zero_bytes_lie", "R1", ANY, |cx| Box::pin(reading::zero_bytes(cx))),
    case("absent_reads_as_none_but_not_without_container", "R1", ANY, |cx| {
        Box::pin(reading::no_container(cx))
    }),
    case("reads_own_and_others_writes", "R2", ANY, |cx| Box::pin(reading::others_writes(cx))),
    case("reads_own_and_others_writes_of_any_bytes", "R2", ANY, |cx| Box::pin(reading::any_bytes(cx))),
    case("reads_own_and_others_writes_of_megabytes", "R2", ANY, |cx| Box::pin(reading::megabytes(cx))),
    case("reads_own_and_others_writes_after_a_restart", "R2", ANY, |cx| Box::pin(reading::restart(cx))),
    case("reads_whole_snapshots", "R3", ANY, |cx| Box::pin(reading::snapshots(cx))),
    case("reads_whole_snapshots_on_threads", "R3", ANY, |cx| Box::pin(reading::snapshots_on_threads(cx))),
    case("reads_without_lock", "R4", LOCK, |cx| Box::pin(reading::without_lock(cx))),
    case("equal_versions_mean_equal_bytes", "R5", ANY, |cx| Box::pin(reading::versions(cx))),
    case("write_replaces_all", "W1", ANY, |cx| Box::pin(writing::replaces(cx))),
    case("write_refuses_nothing", "W2", ANY, |cx| Box::pin(writing::zero_bytes(cx))),
    case("write_is_all_or_nothing", "W3", ANY, |cx| Box::pin(writing::all_or_nothing(cx))),
    case("write_is_all_or_nothing_in_random_histories", "W3", ANY, |cx| Box::pin(together::lost_answers(cx))),
    case("expect_absent", "W4", CONDITIONAL, |cx| Box::pin(writing::expect_absent(cx))),
    case("expect_version", "W5", CONDITIONAL, |cx| Box::pin(writing::expect_version(cx))),
    case("check_and_write_are_one", "W6", CONDITIONAL, |cx| Box::pin(together::same_expectation(cx))),
    case("check_and_write_are_one_on_threads", "W6", CONDITIONAL, |cx| Box::pin(together::on_threads(cx))),
    case("check_and_write_are_one_in_random_histories", "W6", CONDITIONAL, |cx| {
        Box::pin(together::histories(cx))
    }),
    case("refused_writes_change_nothing", "W7", ANY, |cx| Box::pin(writing::refused(cx))),
    case("write_may_need_the_lock", "W8", LOCK, |cx| Box::pin(writing::while_locked(cx))),
    case("delete_removes", "D1", DELETE, |cx| Box::pin(deleting::removes(cx))),
    case("delete_is_repeatable", "D2", DELETE, |cx| Box::pin(deleting::repeatable(cx))),
    case("delete_honours_options", "D3", DELETE.conditional_write(), |cx| Box::pin(deleting::options(cx))),
    case("delete_keeps_the_lock", "D4", DELETE.locking(Exclusion::Process), |cx| {
        Box::pin(deleting::keeps_the_lock(cx))
    }),
    case("lock_excludes", "L1", LOCK, |cx| Box::pin(locking::excludes(cx))),
    case("lock_excludes_all_but_one_of_many", "L1", LOCK, |cx| Box::pin(together::many_locks(cx))),
    case("lock_excludes_on_threads", "L1", LOCK, |cx| Box::pin(together::increments(cx))),
    case("lock_excludes_in_random_histories", "L1", LOCK, |cx| Box::pin(together::lock_histories(cx))),
    case("lock_excludes_other_processes", "L1", LOCK, |cx| Box::pin(locking::other_processes(cx))),
    case("lock_answers_at_once", "L2", LOCK, |cx| Box::pin(locking::at_once(cx))),
    case("unlock_frees", "L3", LOCK, |cx| Box::pin(locking::frees(cx))),
    case("unlock_needs_the_id", "L4", LOCK, |cx| Box::pin(locking::needs_the_id(cx))),
    case("unlock_twice_fails", "L5", LOCK, |cx| Box::pin(locking::twice(cx))),
    case("lock_leaves_the_state_alone", "L6", LOCK, |cx| Box::pin(locking::leaves_the_state(cx))),
    case("locks_are_told_apart", "L7", LOCK, |cx| Box::pin(locking::told_apart(cx))),
    case("refusal_names_the_holder", "L8", HOLDER, |cx| Box::pin(holder::in_the_refusal(cx))),
    case("refusal_names_the_holder_of_a_long_document", "L8", HOLDER, |cx| {
        Box::pin(holder::of_a_long_document(cx))
    }),
    case("a_dropped_lock_is_held_or_free", "L9", LOCK, |cx| Box::pin(locking::dropped(cx))),
    case("holder_is_known", "H1", HOLDER, |cx| Box::pin(holder::is_known(cx))),
    case("force_unlock_frees", "K1", FORCE, |cx| Box::pin(holder::force_frees(cx))),
    case("force_unlock_needs_the_id", "K2", FORCE, |cx| Box::pin(holder::force_needs_the_id(cx))),
    case("lease_expires", "E1", LEASE, |cx| Box::pin(lease::expires(cx))),
    case("renew_prolongs", "E2", LEASE, |cx| Box::pin(lease::renew(cx))),
    case("lost_lease_is_said", "E3", LEASE, |cx| Box::pin(lease::lost(cx))),
    case("lost_lease_is_said_after_force", "E3", LEASE.force_unlock(), |cx| Box::pin(lease::broken(cx))),
    case("tokens_grow", "F1", FENCE, |cx| Box::pin(fencing::grow(cx))),
    case("tokens_grow_across_a_restart", "F1", FENCE, |cx| Box::pin(fencing::restart(cx))),
    case("outdated_tokens_are_refused", "F2", FENCE, |cx| Box::pin(fencing::outdated(cx))),
    case("outdated_tokens_are_refused_in_a_race", "F2", FENCE, |cx| Box::pin(fencing::race(cx))),
    case("broken_locks_are_fenced", "F3", FENCE.force_unlock(), |cx| Box::pin(fencing::broken(cx))),
    case("lacking_means_unsupported", "C1", ANY, |cx| Box::pin(everything::lacking(cx))),
    case("display_names_the_place", "C2", ANY, |cx| Box::pin(everything::display(cx))),
    case("terraform_full_manager", "T1", ANY, |cx| Box::pin(terraform::full(cx))),
    case("terraform_remote_client", "T2", ANY, |cx| Box::pin(terraform::remote_client(cx))),
    case("terraform_remote_locks", "T3", LOCK, |cx| Box::pin(terraform::remote_locks(cx))),
    case("terraform_backend_locks", "T4", LOCK, |cx| Box::pin(backend::locks(cx))),
    case("terraform_backend_force_unlock", "T5", FORCE.holder(), |cx| Box::pin(backend::force_unlock(cx))),
    case("terraform_workspaces", "T6", ANY, |cx| Box::pin(backend::workspaces(cx))),
    case("terraform_remote_sequence", "T7", ANY, |cx| Box::pin(terraform::remote_sequence(cx))),
    case("managers_lose_no_update", "M1", ANY, |cx| Box::pin(managers::lose_no_update(cx))),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CASES;
    use crate::clause::CLAUSES;

    #[test]
    fn every_clause_has_a_case_of_its_name_and_every_case_a_clause() {
        for clause in CLAUSES {
            let case = CASES.iter().find(|case| case.name == clause.name);
            assert_eq!(case.map(|case| case.code), Some(clause.code), "{clause}");
        }
        for case in CASES {
            assert!(CLAUSES.iter().any(|clause| clause.code == case.code), "{case:?}");
            assert!(case.name.starts_with(case.clause().name), "{case:?}");
        }
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len());
    }
}
