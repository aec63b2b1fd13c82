//! Dependencies after moves.

use groundstate_state_edit::{Editor, MoveOptions};
use groundstate_statefile::Document;

use crate::support::{at, document, instance, lines, moved, operate};

#[track_caller]
fn check(before: &[&str], from: &str, to: &str, expected: &[&str]) {
    assert_eq!(moved(before, from, to, MoveOptions::default()), expected, "{from} to {to}");
}

#[test]
fn an_entry_is_replaced_when_nothing_else_is_meant_by_it() {
    let before = ["test.a", "test.b: test.a test.x"];
    check(&before, "test.a", "test.z", &["test.b: test.x test.z", "test.z"]);
    check(&before, "test.a", "module.m.test.a", &["test.b: module.m.test.a test.x", "module.m.test.a"]);
}

#[test]
fn an_entry_stays_when_other_instances_are_meant_as_well() {
    let before = ["test.a[0]", "test.a[1]", "test.b: test.a"];
    check(&before, "test.a[1]", "test.z", &["test.a[0]", "test.b: test.a test.z", "test.z"]);
    check(&before, "test.a", "test.z", &["test.b: test.z", "test.z[0]", "test.z[1]"]);
    check(&before, "test.a[1]", "test.a[9]", &["test.a[0]", "test.a[9]", "test.b: test.a"]);
}

#[test]
fn nothing_comes_to_depend_on_itself() {
    check(&["test.a", "test.b: test.a"], "test.a", "test.b[1]", &["test.b", "test.b[1]"]);
    check(
        &["test.a", "test.b[0]: test.a", "test.b[1]: test.a"],
        "test.b[1]",
        "test.c",
        &["test.a", "test.b[0]: test.a", "test.c: test.a"],
    );
}

#[test]
fn an_unsorted_list_keeps_its_order_and_no_entry_stands_twice() {
    check(
        &["test.a", "test.m", "test.z: test.m test.a"],
        "test.a",
        "test.b",
        &["test.b", "test.m", "test.z: test.m test.b"],
    );
    check(
        &["test.a", "test.z: test.a test.gone"],
        "test.a",
        "test.gone",
        &["test.gone", "test.z: test.gone"],
    );
}

#[test]
fn inside_keyed_modules_each_instance_means_its_own() {
    let before = [
        "test.out: module.m.test.in",
        "module.m[0].test.in",
        "module.m[1].test.in",
        "module.m[0].module.deep.test.leaf: module.m.test.in",
        "module.m[1].module.deep.test.leaf: module.m.test.in",
    ];
    let before: Vec<&str> = {
        // The order of files: by the module's printed address.
        let mut sorted = before.to_vec();
        sorted.sort_by_key(|line| instance(line.split(':').next().unwrap()).resource.module.to_string());
        sorted
    };
    check(
        &before,
        "module.m[1]",
        "module.solo",
        &[
            "test.out: module.m.test.in module.solo.test.in",
            "module.m[0].test.in",
            "module.solo.test.in",
            "module.m[0].module.deep.test.leaf: module.m.test.in",
            "module.solo.module.deep.test.leaf: module.solo.test.in",
        ],
    );
    check(
        &before,
        "module.m[1].test.in",
        "test.free",
        &[
            "test.free",
            "test.out: module.m.test.in test.free",
            "module.m[0].test.in",
            "module.m[0].module.deep.test.leaf: module.m.test.in",
            "module.m[1].module.deep.test.leaf: test.free",
        ],
    );
}

/// A state of OpenTofu with a deposed object and precise dependencies.
fn tofu() -> Document {
    let provider = r#""provider":"provider[\"registry.opentofu.org/hashicorp/test\"]""#;
    let text = format!(
        r#"{{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"l","outputs":{{}},"resources":[
        {{"mode":"managed","type":"test","name":"a",{provider},"instances":[
            {{"index_key":0,"schema_version":0,"attributes":{{}}}},{{"index_key":1,"schema_version":0,"attributes":{{}}}}]}},
        {{"mode":"managed","type":"test","name":"b",{provider},"instances":[
            {{"schema_version":0,"attributes":{{}},"dependencies":["test.a"],"depends_on":["test.a[0]","test.a[1]"]}},
            {{"deposed":"0a1b2c3d","schema_version":0,"attributes":{{}},"dependencies":["test.a"]}}]}}]}}"#
    );
    Document::open(text.into_bytes()).unwrap()
}

#[test]
fn deposed_objects_and_precise_dependencies_follow_too() {
    let document = tofu();
    let after = operate(&document, |editor| {
        let summary = editor.move_address(&at("test.a"), &at("test.z"), MoveOptions::default()).unwrap();
        let changed: Vec<_> =
            summary.dependents.iter().map(|(address, at)| format!("{address} {at:?}")).collect();
        assert_eq!(changed, ["test.b Current", "test.b Deposed(DeposedKey(\"0a1b2c3d\"))"]);
    });
    assert_eq!(lines(&after), ["test.b: test.z", "test.b: test.z", "test.z[0]", "test.z[1]"]);
    let b = after.state.resource_instance(&instance("test.b")).unwrap();
    let precise: Vec<_> = b.current.as_ref().unwrap().depends_on.iter().map(ToString::to_string).collect();
    assert_eq!(precise, ["test.z[0]", "test.z[1]"]);
    let after = operate(&document, |editor| {
        editor.move_address(&at("test.a[1]"), &at(r#"test.a["one"]"#), MoveOptions::default()).unwrap();
    });
    let b = after.state.resource_instance(&instance("test.b")).unwrap();
    let precise: Vec<_> = b.current.as_ref().unwrap().depends_on.iter().map(ToString::to_string).collect();
    assert_eq!(precise, ["test.a[\"one\"]", "test.a[0]"], "sorted by text as before");
    assert_eq!(lines(&after), ["test.a[0]", "test.a[\"one\"]", "test.b: test.a", "test.b: test.a"]);
}

#[test]
fn compatible_moves_wipe_the_lists_of_current_objects_only() {
    let document = tofu();
    let mut editor = Editor::on_document(&document);
    editor.move_address(&at("test.a[1]"), &at("test.z"), MoveOptions::default().compat(true)).unwrap();
    let after = editor.to_file().unwrap();
    assert_eq!(lines(&after), ["test.a[0]", "test.b", "test.b: test.a", "test.z"]);
}

#[test]
fn dependencies_follow_one_move_after_the_other() {
    let document = document(&["test.a", "test.b: test.a", "test.c: test.a test.b"]);
    let after = operate(&document, |editor| {
        for (from, to) in [("test.a", "test.x"), ("test.b", "module.m.test.b"), ("test.x", "test.y")] {
            editor.move_address(&at(from), &at(to), MoveOptions::default()).unwrap();
        }
    });
    assert_eq!(lines(&after), ["test.c: module.m.test.b test.y", "test.y", "module.m.test.b: test.y"]);
}
