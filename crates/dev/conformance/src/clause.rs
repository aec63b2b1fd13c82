//! The clauses of the contract, by the names they have in the documentation of `StateStore`.

use std::fmt;

/// One clause of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clause {
    /// Its letter and number, as in the documentation of the trait.
    pub code: &'static str,
    /// Its name, which a case has too.
    pub name: &'static str,
    /// Where to look when a case of it fails.
    pub advice: &'static str,
}

impl Clause {
    /// The clause of this code.
    pub fn find(code: &str) -> Option<&'static Self> {
        CLAUSES.iter().find(|clause| clause.code == code)
    }

    /// Whether the contract has it before the other one: what is broken there makes later ones fail, too.
    pub fn comes_before(&self, other: &Self) -> bool {
        let at = |clause: &Self| CLAUSES.iter().position(|known| known.code == clause.code);
        at(self) < at(other)
    }

    /// Whether it is a clause of `StateStore`; the others follow from those.
    pub fn is_of_stores(&self) -> bool {
        !self.code.starts_with(['T', 'M'])
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Clauses of blobs have no codes.
        if self.code == self.name { f.write_str(self.name) } else { write!(f, "{} {}", self.code, self.name) }
    }
}

const fn clause(code: &'static str, name: &'static str, advice: &'static str) -> Clause {
    Clause { code, name, advice }
}

/// All clauses in the order of the documentation; at the end those of managers over the store.
///
/// The clauses `T1` to `T7` are the sequences that Terraform's own suites run on any place that it can keep a state in;
/// `M1` is what all the others are for.
pub static CLAUSES: &[Clause] = &[
    clause(
        "R1",
        "absent_reads_as_none",
        "answer `Ok(None)` when the service has no object, or one of no bytes",
    ),
    clause(
        "R2",
        "reads_own_and_others_writes",
        "return from `write` only when every client reads the new bytes; keep no cache",
    ),
    clause(
        "R3",
        "reads_whole_snapshots",
        "replace the object in one step, or write it elsewhere first and switch over then",
    ),
    clause("R4", "reads_without_lock", "let `read` go past the lock"),
    clause(
        "R5",
        "equal_versions_mean_equal_bytes",
        "use the service's ETag or generation, a digest, or a counter that survives deletions",
    ),
    clause("W1", "write_replaces_all", "cut the old content off, and create the object where there is none"),
    clause("W2", "write_refuses_nothing", "answer `Invalid` for zero bytes before anything else is done"),
    clause(
        "W3",
        "write_is_all_or_nothing",
        "if an answer may have got lost, read what is stored or answer `Ambiguous`",
    ),
    clause(
        "W4",
        "expect_absent",
        "hand `Expect::Absent` to the service as its own condition (`If-None-Match: *`)",
    ),
    clause(
        "W5",
        "expect_version",
        "hand `Expect::Version` to the service as its own condition (`If-Match`), and use `Error::conflict`",
    ),
    clause(
        "W6",
        "check_and_write_are_one",
        "check and write in one request, one transaction, or under one mutex that all clients share",
    ),
    clause("W7", "refused_writes_change_nothing", "make all checks before the first effect"),
    clause(
        "W8",
        "write_may_need_the_lock",
        "refuse with `Locked` or write, and know the holder's own writes by its client",
    ),
    clause("D1", "delete_removes", "remove the object itself, not only its content"),
    clause(
        "D2",
        "delete_is_repeatable",
        "take the service's \"not found\" for success when anything is expected",
    ),
    clause("D3", "delete_honours_options", "make the checks of `write` in `delete` too"),
    clause(
        "D4",
        "delete_keeps_the_lock",
        "delete the state alone: the lock, its document and the count of tokens stay where they are",
    ),
    clause(
        "L1",
        "lock_excludes",
        "create the lock with the service's own \"only if absent\"; refuse a second lock, the holder's own included",
    ),
    clause(
        "L2",
        "lock_answers_at_once",
        "do not wait in `lock`: answer `Locked`, callers wait with `lock_with`",
    ),
    clause("L3", "unlock_frees", "remove the lock itself, in the place where `lock` looks for it"),
    clause(
        "L4",
        "unlock_needs_the_id",
        "compare the id with the one in force and remove the lock in one step",
    ),
    clause("L5", "unlock_twice_fails", "answer `NotFound` when there is no lock"),
    clause("L6", "lock_leaves_the_state_alone", "keep the lock beside the state, not in it"),
    clause("L7", "locks_are_told_apart", "grant the id of the document, or one that is fresh for each lock"),
    clause(
        "L8",
        "refusal_names_the_holder",
        "keep the holder's document with the lock, whole and with all members, and use `Error::locked` with it",
    ),
    clause("L9", "a_dropped_lock_is_held_or_free", "take the lock in one step, under the id of the document"),
    clause(
        "H1",
        "holder_is_known",
        "read the lock's document for every client, and answer `None` when there is no lock",
    ),
    clause("K1", "force_unlock_frees", "remove the lock, whichever client took it"),
    clause("K2", "force_unlock_needs_the_id", "compare the id with the one in force, as `unlock` does"),
    clause("E1", "lease_expires", "store the end with the lock, and treat a lock past its end as free"),
    clause("E2", "renew_prolongs", "move the end and keep the token"),
    clause(
        "E3",
        "lost_lease_is_said",
        "remember what this client was granted, and answer `LockLost` when another lock is in its place",
    ),
    clause("F1", "tokens_grow", "keep the counter apart from lock and state, and only ever add to it"),
    clause(
        "F2",
        "outdated_tokens_are_refused",
        "compare the token in the same step as the write, before the expectation",
    ),
    clause("F3", "broken_locks_are_fenced", "count the token on when a lock is broken by force"),
    clause(
        "C1",
        "lacking_means_unsupported",
        "answer `Unsupported` for everything that `capabilities` does not name, before anything is done",
    ),
    clause(
        "C2",
        "display_names_the_place",
        "print the address of the place without credentials, on one line",
    ),
    clause("T1", "terraform_full_manager", "the store loses or changes bytes: see the cases of R and W"),
    clause("T2", "terraform_remote_client", "the store loses or changes bytes: see the cases of R, W and D"),
    clause("T3", "terraform_remote_locks", "see the cases of L"),
    clause(
        "T4",
        "terraform_backend_locks",
        "see the cases of L, and let managers be opened while a lock is held",
    ),
    clause("T5", "terraform_backend_force_unlock", "see the cases of L8 and K"),
    clause(
        "T6",
        "terraform_workspaces",
        "keep the states of workspaces apart, and list only those that exist",
    ),
    clause(
        "T7",
        "terraform_remote_sequence",
        "versions change without a write, or conditions are not honoured: see R5 and W5",
    ),
    clause(
        "M1",
        "managers_lose_no_update",
        "see the cases of W6, or of L1 where the store has no conditional writes",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{CLAUSES, Clause};

    #[test]
    fn codes_and_names_are_unique_and_found() {
        let codes: BTreeSet<&str> = CLAUSES.iter().map(|clause| clause.code).collect();
        let names: BTreeSet<&str> = CLAUSES.iter().map(|clause| clause.name).collect();
        assert_eq!((codes.len(), names.len()), (CLAUSES.len(), CLAUSES.len()));
        assert_eq!(Clause::find("W5").map(|clause| clause.name), Some("expect_version"));
        assert_eq!(Clause::find("X1"), None);
    }
}
