//! Paths: every call of the protocol, both ways.

use groundstate_pulumi_protocol::{
    Authorization, CreateKind, ProjectPath, Route, StackCall, StackPath, UpdateCall,
};
use proptest::prelude::*;

fn stack(call: StackCall) -> Route {
    Route::Stack { stack: StackPath::new("o", "p", "s"), call }
}

fn update(call: UpdateCall) -> Route {
    Route::Update { stack: StackPath::new("o", "p", "s"), update: "u1".to_owned(), call }
}

/// Each call as the CLI sends it.
fn calls() -> Vec<(&'static str, &'static str, Route)> {
    let stacks = [
        ("GET", "/api/stacks/o/p/s", StackCall::Get),
        ("DELETE", "/api/stacks/o/p/s", StackCall::Delete),
        ("POST", "/api/stacks/o/p/s/rename", StackCall::Rename),
        ("PATCH", "/api/stacks/o/p/s/tags", StackCall::SetTags),
        ("PUT", "/api/stacks/o/p/s/config", StackCall::SetConfig),
        ("POST", "/api/stacks/o/p/s/update", StackCall::CreateUpdate(CreateKind::Update)),
        ("POST", "/api/stacks/o/p/s/preview", StackCall::CreateUpdate(CreateKind::Preview)),
        ("POST", "/api/stacks/o/p/s/refresh", StackCall::CreateUpdate(CreateKind::Refresh)),
        ("POST", "/api/stacks/o/p/s/destroy", StackCall::CreateUpdate(CreateKind::Destroy)),
        ("GET", "/api/stacks/o/p/s/export", StackCall::Export),
        ("GET", "/api/stacks/o/p/s/export/12", StackCall::ExportVersion(12)),
        ("POST", "/api/stacks/o/p/s/import", StackCall::Import),
        ("GET", "/api/stacks/o/p/s/updates", StackCall::Updates),
        ("GET", "/api/stacks/o/p/s/updates/latest", StackCall::LatestUpdate),
        ("GET", "/api/stacks/o/p/s/updates/3", StackCall::UpdateVersion(3)),
        ("GET", "/api/stacks/o/p/s/updates/latest/previews", StackCall::Previews),
        ("POST", "/api/stacks/o/p/s/versions", StackCall::AppendVersion),
        ("POST", "/api/stacks/o/p/s/lock", StackCall::Lock),
        ("PATCH", "/api/stacks/o/p/s/lock", StackCall::RenewLock),
        ("DELETE", "/api/stacks/o/p/s/lock", StackCall::Unlock),
        ("GET", "/api/stacks/o/p/s/resources", StackCall::Resources),
        ("GET", "/api/stacks/o/p/s/outputs", StackCall::Outputs),
        ("POST", "/api/stacks/o/p/s/encrypt", StackCall::Encrypt),
        ("POST", "/api/stacks/o/p/s/decrypt", StackCall::Decrypt),
        ("POST", "/api/stacks/o/p/s/batch-encrypt", StackCall::BatchEncrypt),
        ("POST", "/api/stacks/o/p/s/batch-decrypt", StackCall::BatchDecrypt),
        ("POST", "/api/stacks/o/p/s/decrypt/log-decryption", StackCall::LogDecryption),
        ("POST", "/api/stacks/o/p/s/decrypt/log-batch-decryption", StackCall::LogBatchDecryption),
    ];
    let updates = [
        ("GET", "/api/stacks/o/p/s/update/u1", UpdateCall::Status),
        ("POST", "/api/stacks/o/p/s/update/u1", UpdateCall::Start),
        ("PATCH", "/api/stacks/o/p/s/update/u1/journalentries", UpdateCall::JournalEntries),
        ("PATCH", "/api/stacks/o/p/s/update/u1/checkpoint", UpdateCall::Checkpoint),
        ("PATCH", "/api/stacks/o/p/s/update/u1/checkpointverbatim", UpdateCall::CheckpointVerbatim),
        ("PATCH", "/api/stacks/o/p/s/update/u1/checkpointdelta", UpdateCall::CheckpointDelta),
        ("POST", "/api/stacks/o/p/s/update/u1/events/batch", UpdateCall::RecordEvents),
        ("GET", "/api/stacks/o/p/s/update/u1/events", UpdateCall::Events),
        ("GET", "/api/stacks/o/p/s/update/u1/journal", UpdateCall::Journal),
        ("POST", "/api/stacks/o/p/s/update/u1/renew_lease", UpdateCall::RenewLease),
        ("POST", "/api/stacks/o/p/s/update/u1/complete", UpdateCall::Complete),
        ("POST", "/api/stacks/o/p/s/update/u1/cancel", UpdateCall::Cancel),
    ];
    let mut calls = vec![
        ("GET", "/api/user", Route::User),
        ("GET", "/api/user/organizations/default", Route::DefaultOrganization),
        ("GET", "/api/user/stacks", Route::ListStacks),
        ("GET", "/api/capabilities", Route::Capabilities),
        ("GET", "/api/cli/version", Route::CliVersion),
        ("HEAD", "/api/stacks/o/p", Route::HasProject(ProjectPath::new("o", "p"))),
        ("POST", "/api/stacks/o/p", Route::CreateStack(ProjectPath::new("o", "p"))),
    ];
    calls.extend(stacks.map(|(method, path, call)| (method, path, stack(call))));
    calls.extend(updates.map(|(method, path, call)| (method, path, update(call))));
    calls
}

#[test]
fn every_call_is_read_and_written() {
    for (method, path, route) in calls() {
        assert_eq!(Route::parse(method, path).as_ref(), Some(&route), "{method} {path}");
        assert_eq!((route.method(), &*route.path()), (method, path));
    }
}

#[test]
fn a_call_is_not_read_under_another_method() {
    for (method, path, route) in calls() {
        for other in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "get", ""] {
            let read = Route::parse(other, path);
            assert_eq!(read.as_ref() == Some(&route), other == method, "{other} {path}");
        }
    }
}

#[test]
fn an_update_is_called_under_all_four_words() {
    for kind in CreateKind::ALL {
        let path = format!("/api/stacks/o/p/s/{kind}/u1/complete");
        assert_eq!(Route::parse("POST", &path), Some(update(UpdateCall::Complete)), "{path}");
    }
    assert_eq!(Route::parse("POST", "/api/stacks/o/p/s/import/u1/complete"), None);
}

#[test]
fn names_are_decoded_within_their_segment() {
    let read = Route::parse("GET", "/api/stacks/a%2Fb/p%20%25/s%C3%A9");
    let stack = StackPath::new("a/b", "p %", "sé");
    assert_eq!(read, Some(Route::Stack { stack, call: StackCall::Get }));
}

#[test]
fn other_paths_are_no_call() {
    for path in [
        "",
        "/",
        "/api",
        "/api/",
        "/API/user",
        "/api/user/",
        "/api//user",
        "/api/users",
        "/api/esc/environments/o",
        "/api/stacks",
        "/api/stacks/o",
        "/api/stacks/o/p",
        "/api/stacks//p/s",
        "/api/stacks/o/p/s/",
        "/api/stacks/o/p/s/policypacks",
        "/api/stacks/o/p/s/export/",
        "/api/stacks/o/p/s/export/-1",
        "/api/stacks/o/p/s/export/+1",
        "/api/stacks/o/p/s/export/latest",
        "/api/stacks/o/p/s/export/18446744073709551616",
        "/api/stacks/o/p/s/update/u1/events/batch/x",
        "/api/stacks/o/p/s/update/u1/a/b/c/d/e",
        "/api/stacks/o/p/%",
        "/api/stacks/o/p/%4",
        "/api/stacks/o/p/%zz",
        "/api/stacks/o/p/%ff",
        "/api/stacks/o/p/é%é",
    ] {
        assert_eq!(Route::parse("GET", path), None, "{path}");
    }
}

#[test]
fn only_the_holder_of_a_lease_writes() {
    let with_lease: Vec<String> = calls()
        .into_iter()
        .filter(|(.., route)| route.authorization() == Authorization::UpdateToken)
        .map(|(method, path, _)| format!("{method} {}", path.rsplit("u1/").next().unwrap_or_default()))
        .collect();
    assert_eq!(
        with_lease,
        [
            "PATCH journalentries",
            "PATCH checkpoint",
            "PATCH checkpointverbatim",
            "PATCH checkpointdelta",
            "POST events/batch",
            "POST renew_lease",
            "POST complete",
        ]
    );
    assert_eq!(Route::CliVersion.authorization(), Authorization::Anonymous);
    assert_eq!(update(UpdateCall::Cancel).authorization(), Authorization::Token);
}

#[test]
fn references_are_shown_on_one_line() {
    assert_eq!(StackPath::new("o", "p", "s").to_string(), "o/p/s");
    assert!(!StackPath::new("o", "p", "s\n\u{1b}[2J").to_string().contains(['\n', '\u{1b}']));
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same_call(
        names in prop::collection::vec("[a-zA-Z0-9_.~%/?# é漢\u{0}-]{1,8}", 4),
        version in any::<u64>(),
        which in any::<prop::sample::Index>(),
    ) {
        let calls = calls();
        let path = StackPath::new(&*names[0], &*names[1], &*names[2]);
        let project = ProjectPath::new(&*names[0], &*names[1]);
        let route = match which.get(&calls).2.clone() {
            Route::HasProject(_) => Route::HasProject(project),
            Route::CreateStack(_) => Route::CreateStack(project),
            Route::Stack { call: StackCall::ExportVersion(_), .. } => {
                Route::Stack { stack: path, call: StackCall::ExportVersion(version) }
            }
            Route::Stack { call, .. } => Route::Stack { stack: path, call },
            Route::Update { call, .. } => Route::Update { stack: path, update: names[3].clone(), call },
            fixed => fixed,
        };
        let written = route.path();
        prop_assert!(written.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~%/".contains(&b)), "{}", written);
        prop_assert_eq!(Route::parse(route.method(), &written), Some(route));
    }
}
