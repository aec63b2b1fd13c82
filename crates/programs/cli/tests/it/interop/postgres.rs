//! The command and terraform in PostgreSQL, where locks are sessions of the server and have no documents of Terraform's.

use groundstate_testkit::TestBackend;

use super::places::pg;
use super::workdir::Workdir;

/// The process of the server that has the lock.
fn process(place: &TestBackend) -> String {
    let locks = place.locks();
    assert_eq!(locks.len(), 1, "{locks:?}");
    locks[0].clone()
}

#[test]
fn a_lock_of_terraform_keeps_us_out_and_its_session_is_named() {
    let Some(place) = pg() else { return };
    let (first, second) = (Workdir::applied(&place), Workdir::new(&place));
    let held = first.terraform_holds();
    let id = format!("process-{}", process(&place));
    let remove = ["rm", ".", "terraform_data.many[\"b\"]"];
    let refused = second.groundstate(&remove).fails_with(8);
    assert!(refused.contains(&id) && refused.contains("tf@127.0.0.1"), "{refused}");
    let locks = second.groundstate(&["locks", "."]).succeeds();
    assert!(locks.contains("has the row of the workspace locked") && locks.contains(&id), "{locks}");
    // Reading takes no lock.
    assert!(second.groundstate(&["list", "."]).succeeds().contains("terraform_data.many[\"b\"]"));
    held.release().succeeds();
    second.groundstate(&remove).succeeds();
    assert!(!first.terraform(&["state", "list"]).succeeds().contains("many[\"b\"]"));
    assert_eq!(place.locks(), [""; 0]);
}

#[test]
fn a_lock_of_ours_keeps_terraform_out_and_names_its_holder_to_us() {
    let Some(place) = pg() else { return };
    let (first, second) = (Workdir::applied(&place), Workdir::new(&place));
    let held = first.groundstate_holds();
    let refused = second.terraform(&["plan", "-no-color"]).fails();
    assert!(refused.contains("Workspace is already locked"), "{refused}");
    let locks = second.groundstate(&["locks", ".", "--json"]).succeeds();
    let locks: serde_json::Value = serde_json::from_str(&locks).unwrap();
    assert_eq!(locks["locks"][0]["holder"]["alive"], true, "{locks}");
    assert!(locks["locks"][0]["holder"]["version"].as_str().unwrap().starts_with("groundstate "), "{locks}");
    held.release().succeeds();
    second.plan_is_clean();
}

#[test]
fn the_first_apply_of_terraform_keeps_us_from_the_first_push_and_the_other_way_round() {
    let Some(place) = pg() else { return };
    let (first, second) = (Workdir::new(&place), Workdir::new(&place));
    second.write(
        "state.json",
        r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"a","outputs":{},"resources":[]}"#,
    );
    let held = first.terraform_holds();
    let refused = second.groundstate(&["push", ".", "state.json"]).fails_with(8);
    assert!(refused.contains(&format!("process-{}", process(&place))), "{refused}");
    held.release().succeeds();

    let Some(place) = pg() else { return };
    let (first, second) = (Workdir::new(&place), Workdir::new(&place));
    let held = first.groundstate_holds();
    let refused = second.terraform(&["apply", "-auto-approve", "-no-color"]).fails();
    assert!(refused.contains("locked for workspace creation"), "{refused}");
    held.release().succeeds();
    second.terraform(&["apply", "-auto-approve"]).succeeds();
}

#[test]
fn what_unlock_claims_is_so() {
    let Some(place) = pg() else { return };
    let (first, second) = (Workdir::applied(&place), Workdir::new(&place));
    second.groundstate(&["unlock", ".", "process-1"]).fails_with(7);
    let held = first.terraform_holds();
    let id = format!("process-{}", process(&place));
    second.groundstate(&["unlock", ".", "process-1"]).fails();
    assert_eq!(format!("process-{}", process(&place)), id);
    second.groundstate(&["unlock", ".", &id]).succeeds();
    assert_eq!(place.locks(), [""; 0]);
    second.groundstate(&["rm", ".", "terraform_data.many"]).succeeds();
    held.kill();

    // In a directory of its own: what was killed has left its files in the other.
    let third = Workdir::new(&place);
    let held = third.groundstate_holds();
    second.groundstate(&["unlock", ".", "--force"]).succeeds();
    assert_eq!(place.locks(), [""; 0]);
    let lost = held.release();
    assert_ne!(lost.code, Some(0), "the holder is told: {lost}");
    assert!(lost.stderr.contains("process"), "{lost}");
}

#[test]
fn a_killed_command_leaves_no_lock() {
    let Some(place) = pg() else { return };
    let (first, second) = (Workdir::applied(&place), Workdir::new(&place));
    first.groundstate_holds().kill();
    let started = std::time::Instant::now();
    while !place.locks().is_empty() && started.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    second.groundstate(&["rm", ".", "terraform_data.many"]).succeeds();
    second.terraform(&["plan", "-no-color"]).succeeds();
}

#[test]
fn addresses_and_the_environment_name_the_same_states_as_a_directory() {
    let Some(place) = pg() else { return };
    let dir = Workdir::applied(&place);
    let conn_str = place.settings()["conn_str"].as_str().unwrap();
    let (user, rest) = conn_str.strip_prefix("postgres://").unwrap().split_once('@').unwrap();
    let url = format!("pg://{rest}&user={user}");
    let listed = dir.groundstate(&["list", "."]).succeeds();
    assert!(listed.contains("terraform_data.first"), "{listed}");
    assert_eq!(dir.groundstate(&["list", &url]).succeeds(), listed);
    dir.groundstate(&["workspaces", "new", &url, "dev"]).succeeds();
    assert_eq!(dir.groundstate(&["list", &format!("{url}&workspace=dev")]).succeeds(), "");
    let other = dir.groundstate(&["list", &format!("{url}&schema_name=other")]);
    assert_ne!(other.code, Some(0), "{other}");
    let secret = dir
        .groundstate(&["list", &format!("pg://{rest}&user={user}&password=hunter2&sslmode=maybe")])
        .fails();
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[test]
fn a_state_that_terraform_changed_meanwhile_is_kept() {
    let Some(place) = pg() else { return };
    let dir = Workdir::applied(&place);
    let pulled = dir.groundstate(&["pull", "."]).succeeds();
    dir.write("pulled.json", &pulled);
    dir.write("more.tf", "resource \"terraform_data\" \"more\" {}\n");
    dir.terraform(&["apply", "-auto-approve"]).succeeds();
    dir.groundstate(&["push", ".", "pulled.json"]).fails();
    dir.plan_is_clean();
}
