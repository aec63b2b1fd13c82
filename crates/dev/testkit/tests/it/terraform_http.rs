//! Terraform's own http backend.

use groundstate_testkit::{Fault, TestBackend};

use crate::terraform::{complaint, directory, is_there, printed};

fn block(place: &TestBackend) -> String {
    let text = |name: &str| place.settings()[name].as_str().unwrap().to_owned();
    let options = place.settings().keys().map(|name| format!("{name} = {:?}\n", text(name)));
    format!("backend \"http\" {{\n{}}}", options.collect::<String>())
}

#[test]
fn it_applies_destroys_and_plans_nothing_afterwards() {
    if !is_there() {
        return;
    }
    let place = TestBackend::http_here();
    let dir = directory(&block(&place));
    printed(dir.path(), &["init"]);
    printed(dir.path(), &["apply", "-auto-approve"]);
    printed(dir.path(), &["plan", "-detailed-exitcode"]);
    printed(dir.path(), &["state", "mv", "terraform_data.a", "terraform_data.b"]);
    printed(dir.path(), &["destroy", "-auto-approve"]);
    assert!(place.object("").is_some_and(|state| state.ends_with(b"}\n")));
    assert_eq!(place.locks(), [""; 0]);
}

#[test]
fn it_respects_locks_and_breaks_them_without_naming_them() {
    if !is_there() {
        return;
    }
    let place = TestBackend::http_here();
    let dir = directory(&block(&place));
    printed(dir.path(), &["init"]);
    let server = place.server().unwrap();
    // A dropped answer: the lock is taken, and Terraform is told so when it asks again.
    server.fault(Fault::drop_after_commit().on("LOCK", "*").nth(1));
    printed(dir.path(), &["apply", "-auto-approve"]);
    assert_eq!(server.count("LOCK", "*"), 2);
    // An answer that is dropped each time: the lock stays behind.
    server.fault(Fault::after_commit_500().on("LOCK", "*"));
    complaint(dir.path(), &["apply", "-auto-approve"]);
    server.clear_faults();
    let [lock] = &place.locks()[..] else { panic!("a lock without a holder stays behind") };
    let lock: serde_json::Value = serde_json::from_str(lock).unwrap();
    let text = complaint(dir.path(), &["apply", "-auto-approve"]);
    assert!(text.contains(lock["ID"].as_str().unwrap()), "{text}");
    printed(dir.path(), &["force-unlock", "-force", "any"]);
    assert_eq!(place.locks(), [""; 0]);
}
