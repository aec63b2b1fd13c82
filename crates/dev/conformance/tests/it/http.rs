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
        (Flaw::FailsOnEmptyReleases, "P15"),
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
        let found = report.most_basic().map(|clause| clause.code);
        assert_eq!(found, Some(code), "{flaw:?}: {report}");
    }
}

#[test]
fn a_failure_says_what_was_expected_and_which_requests_led_to_it() {
    let server = HttpStateServer::start_flawed(HttpFlaw::ReleasesAnyId);
    let report = run(&at(&server), Some("P13"));
    let text = report.to_string();
    for part in ["P13 unlock_needs_the_id is broken", "refused with 4xx", "LOCK", "UNLOCK", "next step"] {
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
fn no_server_and_no_case_are_no_success() {
    let gone = HttpStateServer::start_blocking().endpoint();
    let report = run(&HttpServer::new(gone), Some("P2"));
    assert!(!report.is_success(), "{report}");
    assert_eq!(report.most_basic(), HTTP_CLAUSES.get(1).copied());
    assert!(!run(&HttpServer::new("http://127.0.0.1:1"), Some("no_such_case")).is_success());
}
