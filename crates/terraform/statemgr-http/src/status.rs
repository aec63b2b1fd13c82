//! What each status means as the answer to each request: the one table of the protocol.

use groundstate_statemgr::ErrorKind;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read,
    /// Looks what the server says of the state, without reading it.
    Look,
    Write,
    Delete,
    Lock,
    Unlock,
}

/// What a status means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It is done.
    Done,
    /// It is done by our account, and Terraform takes it for a failure.
    DoneOddly,
    /// There is nothing: no state, or no lock.
    Absent,
    /// A lock is in the way, whose holder may be in the body.
    Held,
    /// What is stored is not what the request expects, or the server does not take the content.
    Conflict,
    /// The server failed or has no time. A change may have been made.
    Later,
    /// The status says neither that it is done nor that it is not.
    Unclear,
    /// It is refused, and nothing has happened.
    Refused(ErrorKind),
}

/// The table. Terraform's own is narrower: it takes 200 alone for a lock, a release and a deletion, and 200, 201 and 204 for a
/// write.
pub(crate) fn meaning(call: Call, status: u16) -> Meaning {
    use Call::{Delete, Lock, Look, Read, Unlock, Write};
    match (call, status) {
        (Read | Look | Write | Delete | Lock | Unlock, 200) | (Write, 201 | 204) | (Delete, 202 | 204) => {
            Meaning::Done
        }
        (Unlock, 201..=299) => Meaning::DoneOddly,
        (Read | Look, 204 | 404) | (Delete | Unlock, 404 | 410) => Meaning::Absent,
        (Write | Delete | Lock | Unlock, 423) | (Lock | Unlock, 409) => Meaning::Held,
        (Write | Delete, 409 | 412) => Meaning::Conflict,
        (_, 408 | 425 | 429 | 500 | 502..=599) => Meaning::Later,
        (_, 401 | 403 | 407) => Meaning::Refused(ErrorKind::Denied),
        (_, 404 | 410) => Meaning::Refused(ErrorKind::NotFound),
        (_, 405 | 501) => Meaning::Refused(ErrorKind::Unsupported),
        (_, 300..=499) => Meaning::Refused(ErrorKind::Invalid),
        _ => Meaning::Unclear,
    }
}

/// What to do about a refusal that the status explains by itself.
pub(crate) fn advice(call: Call, status: u16) -> Option<&'static str> {
    Some(match (call, status) {
        (_, 300..=399) => {
            "it redirects, and only 307 and 308 are followed; correct the address, or log in where it leads to"
        }
        (_, 401) => "set TF_HTTP_USERNAME and TF_HTTP_PASSWORD, or the option `headers`",
        (_, 403) => "check the credentials, and what they may do there",
        (_, 407) => "the proxy wants credentials",
        (Call::Lock | Call::Unlock, 404 | 410) => "check `lock_address` and `unlock_address`",
        (_, 404 | 410) => "check the address",
        (Call::Lock | Call::Unlock, 405 | 501) => {
            "name another verb with `lock_method` and `unlock_method`, or other addresses for the lock"
        }
        (Call::Write, 405 | 501) => "name another verb with `update_method`",
        (_, 413) => "the server does not take bodies of this size",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use groundstate_statemgr::ErrorKind;

    use super::{Call, Meaning, advice, meaning};

    const CALLS: [Call; 5] = [Call::Read, Call::Write, Call::Delete, Call::Lock, Call::Unlock];

    #[test]
    fn what_terraform_takes_for_success_is_success() {
        for (call, statuses) in [
            (Call::Read, &[200][..]),
            (Call::Write, &[200, 201, 204]),
            (Call::Lock, &[200]),
            (Call::Unlock, &[200]),
            (Call::Delete, &[200]),
        ] {
            for status in statuses {
                assert_eq!(meaning(call, *status), Meaning::Done, "{call:?} {status}");
            }
        }
        for status in [201, 202, 204] {
            assert_eq!(meaning(Call::Unlock, status), Meaning::DoneOddly);
            assert_eq!(meaning(Call::Lock, status), Meaning::Unclear);
        }
        assert_eq!(meaning(Call::Write, 202), Meaning::Unclear);
    }

    #[test]
    fn what_terraform_repeats_is_repeated_and_nothing_that_a_server_decided() {
        for call in CALLS {
            for status in [429, 500, 502, 503, 504, 599] {
                assert_eq!(meaning(call, status), Meaning::Later, "{call:?} {status}");
            }
            for status in [400, 401, 403, 404, 405, 409, 412, 413, 418, 422, 423, 451, 501] {
                assert_ne!(meaning(call, status), Meaning::Later, "{call:?} {status}");
            }
            for status in [301, 302, 303, 304, 307, 308] {
                assert_eq!(meaning(call, status), Meaning::Refused(ErrorKind::Invalid), "{call:?} {status}");
                assert!(advice(call, status).is_some());
            }
        }
    }

    #[test]
    fn a_held_lock_is_told_by_two_statuses_and_an_absent_state_by_two() {
        for status in [409, 423] {
            assert_eq!(meaning(Call::Lock, status), Meaning::Held);
            assert_eq!(meaning(Call::Unlock, status), Meaning::Held);
        }
        assert_eq!(
            (meaning(Call::Write, 423), meaning(Call::Write, 409)),
            (Meaning::Held, Meaning::Conflict)
        );
        assert_eq!([204, 404].map(|status| meaning(Call::Read, status)), [Meaning::Absent; 2]);
        assert_eq!(meaning(Call::Write, 404), Meaning::Refused(ErrorKind::NotFound));
    }
}
