//! The suite of servers finds each flaw by the clause that names it, and nothing in a server without one.

use groundstate_conformance::http::{HTTP_CLAUSES, HttpServer, run};
use groundstate_testkit::{HttpFlaw, HttpStateServer};

fn at(server: &HttpStateServer) -> HttpServer {
    HttpServer::new(format!("{}/states", server.endpoint()))
}

#[test]
fn a_careful_server_has_no_flaw() {
    let server = HttpStateServer::start_blocking();
    let report = run(&at(&server), None);
    assert!(report.is_success(), "{report}");
    assert_eq!(report.counts().not_applicable, 0, "{report}");
    // As GitLab has it, and with credentials.
    server.require_basic("ana", "hunter2");
    let mut other = at(&server);
    other.address = format!("{}/states/{{state}}", server.endpoint());
    other.lock_suffix = "/lock".to_owned();
    other.lock_method = "POST".to_owned();
    other.unlock_method = "DELETE".to_owned();
    other.update_method = "PUT".to_owned();
    (other.username, other.password) = (Some("ana".to_owned()), Some("hunter2".to_owned()));
    let report = run(&other, None);
    assert!(report.is_success() && !format!("{report}{other:?}").contains("hunter2"), "{report}");
}

#[test]
fn each_flaw_is_found_by_the_clause_that_names_it() {
    use HttpFlaw as Flaw;
    for (flaw, code) in [
        (Flaw::RedirectsReads, "P1"),
        (Flaw::AbsentIsAnError, "P2"),
        (Flaw::ReformatsStates, "P3"),
        (Flaw::SendsWrongDigests, "P3"),
        (Flaw::HasOneState, "P4"),
        (Flaw::AcceptsUploadsForLater, "P5"),
        (Flaw::IgnoresDigests, "P6"),
        (Flaw::RefusesChunks, "P7"),
        (Flaw::LosesChunks, "P7"),
        (Flaw::GrantsWith201, "P8"),
        (Flaw::GrantsEveryLock, "P9"),
        (Flaw::RefusesLocksWith500, "P9"),
        (Flaw::HidesTheHolder, "P9"),
        (Flaw::WrapsTheHolder, "P9"),
        (Flaw::ShortensTheHolder, "P9"),
        (Flaw::RefusesTheHolder, "P10"),
        (Flaw::GrantsLocksWithoutId, "P11"),
        (Flaw::ReleasesWith204, "P12"),
        (Flaw::ReleasesAnyId, "P13"),
        (Flaw::RefusesRepeatedReleases, "P14"),
        (Flaw::FailsOnEmptyReleases, "P21"),
        (Flaw::IgnoresEmptyReleases, "P15"),
        (Flaw::AcceptsWritesUnderAnyLock, "P16"),
        (Flaw::AcceptsWritesWithLostLocks, "P17"),
        (Flaw::RefusesRepeatedWrites, "P18"),
        (Flaw::TakesAnyMethodForUpload, "P19"),
        (Flaw::FailsOnUnknownMethods, "P19"),
        (Flaw::KeepsDeletedStates, "P20"),
    ] {
        let server = HttpStateServer::start_flawed(flaw);
        let report = run(&at(&server), None);
        let found = report.most_basic().map(|first| first.clause.code);
        assert_eq!(found, Some(code), "{flaw:?}: {report}");
    }
}

#[test]
fn a_failure_says_what_was_expected_and_which_requests_led_to_it() {
    let server = HttpStateServer::start_flawed(HttpFlaw::ReleasesAnyId);
    let report = run(&at(&server), Some("P13"));
    let text = report.to_string();
    for part in ["P13 unlock_needs_the_id is broken", "is refused", "rule:", "LOCK", "UNLOCK"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!((&json["most_basic"], &json["cases"][0]["outcome"]), (&"P13".into(), &"failed".into()));
}

#[test]
fn a_server_that_forbids_unlocking_without_an_id_is_careful_too() {
    let server = HttpStateServer::start_blocking();
    server.deny_unlock_without_id();
    assert!(run(&at(&server), Some("P15")).is_success());
}

#[test]
fn a_server_that_takes_no_change_without_a_lock_is_careful_too() {
    let server = HttpStateServer::start_blocking();
    server.require_lock_for_changes();
    let report = run(&at(&server), None);
    assert!(report.is_success(), "{report}");
    assert_eq!(report.counts().not_applicable, 0, "{report}");
}

#[test]
fn a_run_changes_only_states_of_its_own_and_removes_them() {
    let server = HttpStateServer::start_blocking();
    run(&at(&server), None);
    let mut paths: Vec<String> = server.requests().iter().map(|request| request.path.clone()).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        assert!(path.starts_with("/states/conformance-"), "{path}");
        assert_eq!((server.state(&path), server.lock_of(&path)), (None, None), "{path}");
    }
    // What a failed case leaves is removed as well.
    let flawed = HttpStateServer::start_flawed(HttpFlaw::HidesTheHolder);
    assert!(!run(&at(&flawed), Some("P9")).is_success());
    let paths: Vec<String> = flawed.requests().iter().map(|request| request.path.clone()).collect();
    assert!(paths.iter().all(|path| flawed.lock_of(path).is_none()), "{paths:?}");
}

#[test]
fn a_server_that_has_one_state_for_all_addresses_keeps_it() {
    let server = HttpStateServer::start_flawed(HttpFlaw::HasOneState);
    server.put_state("", r#"{"version":4}"#);
    let report = run(&at(&server), Some("P3"));
    assert!(!report.is_reliable(), "{report}");
    assert_eq!(report.most_basic().map(|first| first.clause.code), Some("P2"), "{report}");
    assert!(report.to_string().contains("nothing was sent: "), "{report}");
    assert!(server.requests().iter().all(|request| request.method == "GET"), "{report}");
}

#[test]
fn what_should_be_is_told_apart_from_what_must_be() {
    for (flaw, is_reliable) in [
        (HttpFlaw::IgnoresDigests, true),
        (HttpFlaw::RefusesTheHolder, true),
        (HttpFlaw::ReleasesAnyId, false),
    ] {
        let server = HttpStateServer::start_flawed(flaw);
        let report = run(&at(&server), None);
        assert!(!report.is_success(), "{flaw:?}: {report}");
        assert_eq!(report.is_reliable(), is_reliable, "{flaw:?}: {report}");
    }
}

#[test]
fn no_server_and_no_case_are_no_success() {
    let gone = HttpStateServer::start_blocking().endpoint();
    let report = run(&HttpServer::new(gone), Some("P2"));
    assert!(!report.is_success(), "{report}");
    assert_eq!(report.most_basic(), HTTP_CLAUSES.get(1).copied(), "{report}");
    assert!(!run(&HttpServer::new("http://127.0.0.1:1"), Some("no_such_case")).is_success());
}
