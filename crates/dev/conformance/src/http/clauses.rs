//! The clauses of the protocol, and the cases of each.

use super::wire::Cx;
use super::{locking, refusing, states};
use crate::clause::Clause;
use crate::frame::cases;

const fn clause(code: &'static str, name: &'static str, advice: &'static str) -> Clause {
    Clause { code, name, advice }
}

/// What a server of Terraform's HTTP protocol has to answer, the most basic first.
pub static HTTP_CLAUSES: &[Clause] = &[
    clause(
        "P1",
        "no_redirects",
        "answer at the address itself: a client turns LOCK and POST into GET at 301, 302 and 303, and loses the body",
    ),
    clause("P2", "absent_is_404_or_204", "answer GET with 404 or 204 where nothing is stored"),
    clause(
        "P3",
        "stored_bytes_come_back",
        "store the body as it is, and answer GET with 200 and these bytes",
    ),
    clause("P4", "states_are_apart", "keep a state and a lock for each address"),
    clause("P5", "uploads_answer_200_201_or_204", "answer an upload once it is stored, with one of these"),
    clause(
        "P6",
        "digests_are_compared",
        "compare `Content-MD5` with the body before anything is stored, answer 400",
    ),
    clause("P7", "chunked_bodies_are_read", "read bodies with `Transfer-Encoding: chunked`"),
    clause("P8", "lock_answers_200", "answer a lock that is taken with 200 and nothing else"),
    clause(
        "P9",
        "refused_locks_name_the_holder",
        "answer a lock that is held with 423 or 409 and the document that the holder sent, at the top level of the body",
    ),
    clause(
        "P10",
        "a_lock_is_repeatable",
        "answer 200 when the holder asks again under its id: its first answer may have been lost",
    ),
    clause("P11", "locks_need_an_id", "answer 400 to a lock whose body is missing or has no ID"),
    clause("P12", "unlock_answers_200", "answer a release with 200 and nothing else"),
    clause(
        "P13",
        "unlock_needs_the_id",
        "compare the ID in the body with that of the lock, answer 409 or another 4xx",
    ),
    clause(
        "P14",
        "unlock_is_repeatable",
        "answer 200 when a release comes again: its first answer may have been lost",
    ),
    clause(
        "P15",
        "force_unlock_frees_or_is_refused",
        "`terraform force-unlock` sends an empty body, OpenTofu's the ID alone: free the lock and answer 200, or refuse with 4xx",
    ),
    clause(
        "P16",
        "writes_need_the_lock_in_force",
        "compare `?ID=` of an upload with the lock in force, answer 423 or 409 with the holder's document",
    ),
    clause(
        "P17",
        "lost_locks_do_not_write",
        "refuse an upload whose `?ID=` is that of a lock which is not held any more, answer 409",
    ),
    clause(
        "P18",
        "writes_are_repeatable",
        "answer the same upload of the holder as before: its first answer may have been lost",
    ),
    clause(
        "P19",
        "unknown_methods_change_nothing",
        "answer methods that the protocol does not have with 405 or 501",
    ),
    clause("P20", "delete_removes", "answer DELETE with 200, and GET with 404 from then on"),
];

/// The clause of this code; every code of a case is one, as a test shows.
pub(super) fn clause_of(code: &str) -> &'static Clause {
    HTTP_CLAUSES.iter().find(|clause| clause.code == code).unwrap_or(&HTTP_CLAUSES[0])
}

cases! {
    /// All cases, in the order of their clauses.
    HTTP_CASES: Cx;
    P1 no_redirects states::no_redirects,
    P2 absent_is_404_or_204 states::absent,
    P3 stored_bytes_come_back states::come_back,
    P4 states_are_apart states::apart,
    P5 uploads_answer_200_201_or_204 states::uploads,
    P6 digests_are_compared refusing::digests,
    P7 chunked_bodies_are_read states::chunked,
    P7 chunked_bodies_are_read_for_locks locking::chunked,
    P8 lock_answers_200 locking::lock,
    P9 refused_locks_name_the_holder locking::holder,
    P10 a_lock_is_repeatable locking::repeated_lock,
    P11 locks_need_an_id refusing::no_id,
    P12 unlock_answers_200 locking::unlock,
    P13 unlock_needs_the_id refusing::other_id,
    P14 unlock_is_repeatable locking::repeated_unlock,
    P15 force_unlock_frees_or_is_refused_of_terraform locking::empty_unlock,
    P15 force_unlock_frees_or_is_refused_of_opentofu locking::id_alone,
    P16 writes_need_the_lock_in_force refusing::other_writers,
    P17 lost_locks_do_not_write refusing::lost_locks,
    P18 writes_are_repeatable states::repeated,
    P19 unknown_methods_change_nothing refusing::methods,
    P20 delete_removes states::delete,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{HTTP_CASES, HTTP_CLAUSES, clause_of};

    #[test]
    fn every_case_has_a_clause_and_every_clause_a_case_that_is_called_after_it() {
        for case in HTTP_CASES {
            let clause = clause_of(case.code);
            assert_eq!(clause.code, case.code);
            assert!(case.name.starts_with(clause.name), "{}", case.name);
        }
        let covered: BTreeSet<&str> = HTTP_CASES.iter().map(|case| case.code).collect();
        assert_eq!(covered.len(), HTTP_CLAUSES.len());
    }
}
