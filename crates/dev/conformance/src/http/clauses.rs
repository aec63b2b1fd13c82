//! The clauses of the protocol, and the cases of each.

use std::fmt;

use super::wire::Cx;
use super::{locking, refusing, states};
use crate::clause::Clause;
use crate::frame::cases;

/// How much depends on a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Level {
    /// Commands of Terraform fail without it, or states get lost.
    Must,
    /// It helps where answers get lost or clients do wrong; Terraform's commands work without it.
    Should,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Must => "must",
            Self::Should => "should",
        })
    }
}

/// A clause of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpClause {
    /// Its code and name; the advice is the rule, in one sentence.
    pub clause: Clause,
    /// How much depends on it.
    pub level: Level,
}

const fn must(code: &'static str, name: &'static str, advice: &'static str) -> HttpClause {
    HttpClause { clause: Clause { code, name, advice }, level: Level::Must }
}

const fn should(code: &'static str, name: &'static str, advice: &'static str) -> HttpClause {
    HttpClause { clause: Clause { code, name, advice }, level: Level::Should }
}

/// What a server of Terraform's HTTP protocol has to answer, the most basic first.
pub static HTTP_CLAUSES: &[HttpClause] = &[
    must(
        "P1",
        "no_redirects",
        "answer at the address itself: a client turns LOCK and POST into GET at 301, 302 and 303, and loses the body",
    ),
    must("P2", "absent_is_404_or_204", "answer GET with 404 or 204 where nothing is stored"),
    must("P3", "stored_bytes_come_back", "store the body as it is, and answer GET with 200 and these bytes"),
    must("P4", "states_are_apart", "keep a state and a lock for each address"),
    must(
        "P5",
        "uploads_answer_200_201_or_204",
        "answer an upload with 200, 201 or 204, and only once it is stored",
    ),
    should(
        "P6",
        "digests_are_compared",
        "compare `Content-MD5` with the body before anything is stored, answer 400",
    ),
    should("P7", "chunked_bodies_are_read", "read bodies with `Transfer-Encoding: chunked`"),
    must("P8", "lock_answers_200", "answer a lock that is taken with 200 and nothing else"),
    must(
        "P9",
        "refused_locks_name_the_holder",
        "answer a lock that is held with 423 or 409 and the document that the holder sent, at the top level of the body",
    ),
    should(
        "P10",
        "a_lock_is_repeatable",
        "answer 200 when the holder asks again under its id: its first answer may have been lost",
    ),
    should("P11", "locks_need_an_id", "answer 400 to a lock whose body is missing or has no ID"),
    must("P12", "unlock_answers_200", "answer a release with 200 and nothing else"),
    must(
        "P13",
        "unlock_needs_the_id",
        "compare the ID in the body with that of the lock, answer 409 or another 4xx",
    ),
    should(
        "P14",
        "unlock_is_repeatable",
        "answer 200 when a release comes again: its first answer may have been lost",
    ),
    must(
        "P15",
        "force_unlock_frees_or_is_refused",
        "`terraform force-unlock` sends an empty body, OpenTofu's the ID alone: free the lock and answer 200, or refuse and leave it",
    ),
    must(
        "P16",
        "writes_need_the_lock_in_force",
        "compare `?ID=` of an upload with the lock in force, answer 423 or 409 with the holder's document",
    ),
    must(
        "P17",
        "lost_locks_do_not_write",
        "refuse an upload whose `?ID=` is that of a lock which is not held any more, answer 409",
    ),
    should(
        "P18",
        "writes_are_repeatable",
        "answer the same upload of the holder as before: its first answer may have been lost",
    ),
    should(
        "P19",
        "unknown_methods_change_nothing",
        "answer methods that the protocol does not have with 405 or 501",
    ),
    should("P20", "delete_removes", "answer DELETE with 200, and GET with 404 or 204 from then on"),
    should(
        "P21",
        "refusals_are_4xx",
        "refuse with 4xx: clients take 5xx for a failure that passes, and ask again before they say what is wrong",
    ),
];

/// The clause of this code; every code of a case is one, as a test shows.
pub(super) fn clause_of(code: &str) -> &'static HttpClause {
    HTTP_CLAUSES.iter().find(|known| known.clause.code == code).unwrap_or(&HTTP_CLAUSES[0])
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
    P21 refusals_are_4xx refusing::decisions,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{HTTP_CASES, HTTP_CLAUSES, clause_of};

    #[test]
    fn every_case_has_a_clause_and_every_clause_a_case_that_is_called_after_it() {
        for case in HTTP_CASES {
            let clause = clause_of(case.code).clause;
            assert_eq!(clause.code, case.code);
            assert!(case.name.starts_with(clause.name), "{}", case.name);
        }
        let covered: BTreeSet<&str> = HTTP_CASES.iter().map(|case| case.code).collect();
        assert_eq!(covered.len(), HTTP_CLAUSES.len());
    }
}
