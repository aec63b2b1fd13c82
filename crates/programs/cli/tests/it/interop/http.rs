//! What is otherwise with Terraform's http backend: it shows its own request in place of the holder, and unlocks by force without an id.

use groundstate_testkit::TestBackend;
use serde_json::{Value, json};

use super::places::http;
use super::scenarios::{NO_LOCK, id_of_holder};
use super::workdir::Workdir;

#[test]
fn terraform_frees_our_lock_whatever_id_it_is_told() {
    let Some(place) = http() else { return };
    let first = Workdir::applied(&place);
    let second = Workdir::new(&place);
    first.groundstate_holds().kill();
    let refused = second.terraform(&["plan", "-no-color"]).fails();
    let id = id_of_holder(&second);
    assert!(refused.contains(&format!("ID={id}")), "{id} is not in {refused}");
    second.terraform(&["force-unlock", "-force", &id]).succeeds();
    assert_eq!(place.locks().len(), 0);
    second.plan_is_clean();
    first.groundstate(&["rm", ".", "terraform_data.many"]).succeeds();
}

#[test]
fn we_free_terraforms_lock_by_its_id_and_no_other() {
    let Some(place) = http() else { return };
    let first = Workdir::applied(&place);
    let second = Workdir::new(&place);
    first.terraform_holds().kill();
    let id = id_of_holder(&second);
    second.groundstate(&["unlock", ".", NO_LOCK]).fails();
    assert_eq!(place.locks().len(), 1);
    second.groundstate(&["unlock", ".", &id]).succeeds();
    assert_eq!(place.locks().len(), 0);
    second.groundstate(&["unlock", ".", &id]).fails_with(7);
    // What it was about to add when it was killed is not stored.
    second.plan_is_clean();
}

#[test]
fn two_terraforms_keep_each_other_out() {
    let Some(place) = http() else { return };
    let first = Workdir::applied(&place);
    let second = Workdir::new(&place);
    let held = first.terraform_holds();
    let [lock] = &place.locks()[..] else { panic!("there is one lock") };
    let holder: Value = serde_json::from_str(lock).unwrap();
    assert_eq!(holder["Operation"], "OperationTypeApply");
    let refused = second.terraform(&["plan", "-no-color"]).fails();
    assert!(refused.contains(&format!("ID={}", holder["ID"].as_str().unwrap())), "{refused}");
    held.release().succeeds();
    assert_eq!(place.locks().len(), 0);
}

/// The place with the verbs and addresses of GitLab.
fn as_gitlab(place: TestBackend) -> TestBackend {
    let lock = format!("{}/lock", place.settings()["address"].as_str().unwrap());
    let options = [
        ("lock_address", lock.as_str()),
        ("unlock_address", &lock),
        ("lock_method", "POST"),
        ("unlock_method", "DELETE"),
        ("update_method", "PUT"),
    ];
    options.into_iter().fold(place, |place, (name, value)| place.with(name, value))
}

#[test]
fn both_speak_with_a_server_that_has_other_verbs() {
    let Some(place) = http().map(as_gitlab) else { return };
    let dir = Workdir::applied(&place);
    let held = dir.groundstate_holds();
    dir.terraform(&["plan", "-no-color"]).fails();
    held.release().succeeds();
    dir.groundstate(&["rm", ".", "terraform_data.many[\"b\"]"]).succeeds();
    assert!(!dir.terraform(&["state", "list"]).succeeds().contains("many[\"b\"]"));
    let server = place.server().unwrap();
    assert_eq!((server.count("LOCK", "*"), server.count("UNLOCK", "*")), (0, 0));
    assert!(server.count("PUT", "*/app") > 1 && server.count("DELETE", "*/app/lock") > 1);
}

#[test]
fn what_terraform_records_for_an_http_block_is_confirmed_by_it() {
    let Some(place) = http() else { return };
    // Everything that the block can have; what is null in it is recorded so.
    let place = [
        ("retry_max", json!(1)),
        ("retry_wait_min", json!(1)),
        ("username", json!("ana")),
        ("password", json!("pw")),
    ]
    .into_iter()
    .fold(place, |place, (name, value)| place.with(name, value));
    let dir = Workdir::applied(&place);
    dir.groundstate(&["list", "."]).succeeds();
    let basic = |method: &str| {
        let requests = place.server().unwrap().requests();
        let last = requests.iter().rev().find(|request| request.method == method).unwrap();
        last.header("authorization").map(str::to_owned)
    };
    assert_eq!(basic("GET").as_deref(), Some("Basic YW5hOnB3"));
}
