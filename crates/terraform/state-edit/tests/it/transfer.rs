//! Moves from one state to another.

use groundstate_state_edit::{Editor, MoveError, Summary, Transfer};
use groundstate_statefile::Document;

use crate::support::{PROVIDER, at, document, instance, lines};

/// Two states after a move between them, with the addresses of objects that lost dependencies in each.
struct Moved {
    left: Vec<String>,
    joined: Vec<String>,
    lost: [Vec<String>; 2],
}

fn plan(from: &Document, pairs: &[(&str, &str)]) -> Result<Transfer, MoveError> {
    let pairs: Vec<_> = pairs.iter().map(|(from, to)| (at(from), at(to))).collect();
    Transfer::plan(&Editor::on_document(from), &pairs)
}

#[track_caller]
fn moved(from: &[&str], to: &[&str], pairs: &[(&str, &str)]) -> Moved {
    let (from, to) = (document(from), document(to));
    let transfer = plan(&from, pairs).unwrap();
    let (mut from, mut to) = (Editor::on_document(&from), Editor::on_document(&to));
    let summaries = [transfer.add_to(&mut to).unwrap(), transfer.remove_from(&mut from).unwrap()];
    let lost = summaries
        .map(|summary| summary.dependents.iter().map(|(instance, _)| instance.to_string()).collect());
    Moved { left: lines(&from.to_file().unwrap()), joined: lines(&to.to_file().unwrap()), lost }
}

/// Why the other state does not take it; nothing may have changed.
#[track_caller]
fn refused(from: &[&str], to: &[&str], pair: (&str, &str)) -> String {
    let (from, to) = (document(from), document(to));
    let mut to = Editor::on_document(&to);
    let error = plan(&from, &[pair]).unwrap().add_to(&mut to).unwrap_err();
    assert!(!to.is_changed().unwrap());
    error.to_string()
}

#[test]
fn a_resource_an_instance_and_a_module_change_the_state() {
    let from = ["test.a", "test.b[0]", "test.b[1]", "module.m.test.c", "module.m.module.n.test.d"];
    let got =
        moved(&from, &["test.z"], &[("test.a", "test.a"), ("test.b[1]", "test.q"), ("module.m", "module.o")]);
    assert_eq!(got.left, ["test.b[0]"]);
    assert_eq!(got.joined, ["test.a", "test.q", "test.z", "module.o.test.c", "module.o.module.n.test.d"]);
    let got = moved(&from, &["test.b[7]"], &[("test.b[0]", "test.b[0]"), ("test.b[1]", "test.b[1]")]);
    assert_eq!(got.left, ["test.a", "module.m.test.c", "module.m.module.n.test.d"]);
    assert_eq!(got.joined, ["test.b[0]", "test.b[1]", "test.b[7]"]);
}

#[test]
fn dependencies_hold_among_what_moves_and_among_what_stays_alone() {
    let from = ["test.a", "test.b: test.a", "test.c: test.a test.b", "test.d: test.c"];
    let got = moved(&from, &[], &[("test.b", "test.y"), ("test.c", "test.z")]);
    assert_eq!(got.left, ["test.a", "test.d"]);
    assert_eq!(got.joined, ["test.y", "test.z: test.y"]);
    assert_eq!(got.lost, [vec!["test.y".to_owned(), "test.z".to_owned()], vec!["test.d".to_owned()]]);
    // A dependency that has another name is not lost.
    let got = moved(&from, &[], &[("test.a", "test.x"), ("test.b", "test.y")]);
    assert_eq!(got.joined, ["test.x", "test.y: test.x"]);
    assert_eq!(got.lost[0], [""; 0]);
    // The name means another resource there.
    let got = moved(&from, &["test.a"], &[("test.b", "test.b")]);
    assert_eq!(got.joined, ["test.a", "test.b"]);
    assert_eq!(got.left, ["test.a", "test.c: test.a", "test.d: test.c"]);
}

#[test]
fn a_dependency_on_instances_of_which_some_stay_is_kept_on_both_sides() {
    let from = ["test.a[0]", "test.a[1]", "test.b: test.a", "test.c: test.a"];
    let got = moved(&from, &[], &[("test.a[1]", "test.a[1]"), ("test.b", "test.b")]);
    assert_eq!(got.left, ["test.a[0]", "test.c: test.a"]);
    assert_eq!(got.joined, ["test.a[1]", "test.b: test.a"]);
    assert_eq!(got.lost, [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn precise_dependencies_hold_among_what_moves_and_among_what_stays_alone() {
    let resource = |name: &str, object: &str| {
        format!(
            r#"{{"mode":"managed","type":"test","name":"{name}","provider":"{PROVIDER}","instances":[{object}]}}"#
        )
    };
    let on_both = r#"{"attributes":{},"depends_on":["test.a","test.c"]}"#;
    let resources = [
        resource("a", r#"{"attributes":{}}"#),
        resource("b", on_both),
        resource("c", r#"{"attributes":{}}"#),
        resource("d", on_both),
    ];
    let text = format!(
        r#"{{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"l","resources":[{}]}}"#,
        resources.join(",")
    );
    let (from, other) = (Document::open(text.into_bytes()).unwrap(), document(&[]));
    let (mut left, mut joined) = (Editor::on_document(&from), Editor::on_document(&other));
    let transfer = plan(&from, &[("test.a", "test.y"), ("test.b", "test.z")]).unwrap();
    let lost = |summary: Summary| -> Vec<String> {
        summary.dependents.iter().map(|(instance, _)| instance.to_string()).collect()
    };
    assert_eq!(lost(transfer.add_to(&mut joined).unwrap()), ["test.z"]);
    assert_eq!(lost(transfer.remove_from(&mut left).unwrap()), ["test.d"]);
    let precise = |editor: &Editor<'_>, address: &str| -> Vec<String> {
        let file = editor.to_file().unwrap();
        let found = file.state.resource_instance(&instance(address)).unwrap().current.clone().unwrap();
        found.depends_on.iter().map(ToString::to_string).collect()
    };
    assert_eq!(precise(&joined, "test.z"), ["test.y"]);
    assert_eq!(precise(&left, "test.d"), ["test.c"]);
}

#[test]
fn an_address_that_is_taken_in_the_other_state_is_refused() {
    let from = ["test.gone", "test.a", "test.b[0]", "module.m.test.c"];
    let said = refused(&from, &["test.a"], ("test.a", "test.a"));
    assert!(said.starts_with("cannot move test.a to test.a: the other state has test.a already"), "{said}");
    let said = refused(&from, &["test.z[1]"], ("test.b[0]", "test.z[1]"));
    assert!(said.contains("has test.z[1] already"), "{said}");
    let said = refused(&from, &["module.m.test.other"], ("module.m", "module.m"));
    assert!(said.contains("has module.m already"), "{said}");
}

#[test]
fn a_move_that_stopped_after_the_first_write_is_ended_by_the_same_move() {
    let from = document(&["test.a", "test.b: test.a", "test.c[0]", "test.c[1]", "module.m.test.d"]);
    let pairs = [("test.b", "test.y"), ("test.c[1]", "test.c[1]"), ("module.m", "module.n")];
    let other = document(&["test.z"]);
    let mut to = Editor::on_document(&other);
    plan(&from, &pairs).unwrap().add_to(&mut to).unwrap();
    let other = Document::open(to.edit().unwrap().unwrap().to_vec().unwrap()).unwrap();

    let (mut from_editor, mut to) = (Editor::on_document(&from), Editor::on_document(&other));
    let transfer = plan(&from, &pairs).unwrap();
    transfer.add_to(&mut to).unwrap();
    assert!(!to.is_changed().unwrap());
    transfer.remove_from(&mut from_editor).unwrap();
    assert_eq!(lines(&from_editor.to_file().unwrap()), ["test.a", "test.c[0]"]);
    assert_eq!(lines(&to.to_file().unwrap()), ["test.c[1]", "test.y", "test.z", "module.n.test.d"]);
}

#[test]
fn what_has_changed_since_it_was_planned_is_not_removed() {
    let from = document(&["test.a", "test.b[0]", "test.b[1]"]);
    // The objects of other documents have other attributes.
    let later = document(&["test.A", "test.a", "test.b[0]", "test.b[1]"]);
    for (source, rest) in [("test.a", "test.a"), ("test.b[1]", "test.b[1]"), ("test.b", "test.b")] {
        let transfer = plan(&from, &[(source, rest)]).unwrap();
        let mut editor = Editor::on_document(&later);
        let error = transfer.remove_from(&mut editor).unwrap_err();
        assert_eq!(error, MoveError::SourceChanged { from: source.to_owned() });
        assert!(!editor.is_changed().unwrap());
    }
    let error = plan(&from, &[("test.missing", "test.a")]).unwrap_err();
    assert_eq!(error, MoveError::SourceMissing { from: "test.missing".to_owned() });
    let error = plan(&from, &[("test.a", "test.z"), ("test.b[0]", "test.z")]).unwrap_err();
    assert!(matches!(error, MoveError::DestinationTwice { .. }), "{error}");
}

#[test]
fn what_is_not_understood_moves_along() {
    let text = r#"{"version":4,"serial":1,"lineage":"l","resources":[{"mode":"managed","type":"test","name":"a","color":"red",
        "provider":"provider[\"registry.terraform.io/hashicorp/test\"]","instances":[{"shape":"round","attributes":{"id":"1"}}]}]}"#;
    let from = Document::open(text.as_bytes().to_vec()).unwrap();
    let other = document(&["test.z"]);
    let mut to = Editor::on_document(&other);
    plan(&from, &[("test.a", "module.m.test.b")]).unwrap().add_to(&mut to).unwrap();
    let written = String::from_utf8(to.edit().unwrap().unwrap().to_vec().unwrap()).unwrap();
    assert!(written.contains(r#""shape":"round"}],"color":"red"}"#), "{written}");
}
