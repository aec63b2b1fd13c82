//! Removals, providers and taints.

use groundstate_state_edit::{Change, Editor, ReplaceProviderError, TaintError};
use groundstate_state_edit::{ChangeKind, diff};
use groundstate_statefile::Document;
use groundstate_states::addr::{ProviderSource, TERRAFORM_REGISTRY};

use crate::support::{PROVIDER, at, document, instance, lines, operate};

const STATE: &[&str] = &[
    "test_thing.a",
    "test_thing.b[0]: test_thing.a",
    "test_thing.b[1]: test_thing.a",
    "module.foo.test_thing.in",
    "module.foo[0].test_thing.in",
    "module.foo[0].module.deep.test_thing.in",
    "module.foobar.test_thing.in",
];

#[track_caller]
fn check_rm(targets: &[&str], gone: &[&str], missing: usize) {
    let targets: Vec<_> = targets.iter().map(|text| at(text)).collect();
    let document = document(STATE);
    let after = operate(&document, |editor| {
        let summary = editor.remove(&targets).unwrap();
        assert_eq!(summary.missing.len(), missing);
        assert_eq!(summary.len(), gone.len());
    });
    let left: Vec<_> = STATE.iter().filter(|line| !gone.contains(line)).map(ToString::to_string).collect();
    let mut found = lines(&after);
    found.sort_by_key(|line| STATE.iter().position(|known| known == line));
    assert_eq!(found, left);
    let difference = diff(&document.to_file().unwrap(), &after);
    assert!(difference.entries.iter().all(|entry| entry.kind == ChangeKind::Removed), "{difference:?}");
}

#[test]
fn removes_what_an_address_names_and_nothing_else() {
    check_rm(&["test_thing.a"], &["test_thing.a"], 0);
    check_rm(&["test_thing.b[1]"], &["test_thing.b[1]: test_thing.a"], 0);
    check_rm(&["test_thing.b"], &["test_thing.b[0]: test_thing.a", "test_thing.b[1]: test_thing.a"], 0);
    check_rm(
        &["module.foo"],
        &[
            "module.foo.test_thing.in",
            "module.foo[0].test_thing.in",
            "module.foo[0].module.deep.test_thing.in",
        ],
        0,
    );
    check_rm(&["module.foobar"], &["module.foobar.test_thing.in"], 0);
    check_rm(&["test_thing.a", "test_thing.a", "test_thing.zz"], &["test_thing.a"], 1);
}

#[test]
fn refuses_to_remove_nothing() {
    let document = document(STATE);
    let mut editor = Editor::on_document(&document);
    let error = editor.remove(&[at("test_thing.zz"), at("module.zz")]).unwrap_err().to_string();
    assert_eq!(
        error,
        "nothing to remove: test_thing.zz and 1 more addresses match nothing in the state; list the state to see the \
         addresses it has"
    );
    assert!(!editor.is_changed().unwrap());
}

/// A husk, an object of its own kind, and a data source.
fn odd() -> Document {
    let text = format!(
        r#"{{"version":4,"serial":1,"lineage":"l","resources":[
        {{"mode":"data","type":"t","name":"d","provider":"{PROVIDER}","instances":[{{}}]}},
        {{"mode":"managed","type":"t","name":"deposed","provider":"{PROVIDER}","instances":[{{"deposed":"00000001"}}]}},
        {{"mode":"managed","type":"t","name":"husk","provider":"{PROVIDER}","instances":[],"x":1}},
        {{"mode":"managed","type":"t","name":"a","provider":"module.m.{PROVIDER}.west","x":2,
            "instances":[{{"status":"tainted","y":3}}]}}]}}"#
    );
    Document::open(text.into_bytes()).unwrap()
}

#[test]
fn husks_are_removed_when_they_are_named() {
    let document = odd();
    let mut editor = Editor::on_document(&document);
    let summary = editor.remove(&[at("t.husk"), at("t.deposed")]).unwrap();
    let lines: Vec<_> = summary.changes.iter().map(Change::to_string).collect();
    assert_eq!(lines, ["Removed t.husk", "Removed t.deposed"]);
    assert_eq!(editor.to_file().unwrap().state.all_resources().count(), 2);
}

#[test]
fn a_provider_is_replaced_with_alias_and_module_kept() {
    let source = |text| ProviderSource::parse(text, TERRAFORM_REGISTRY).unwrap();
    let after = operate(&odd(), |editor| {
        let summary = editor.replace_provider(&source("hashicorp/test"), &source("acme/test")).unwrap();
        assert_eq!(summary.len(), 4);
        let gone = editor.replace_provider(&source("hashicorp/test"), &source("acme/test"));
        assert!(matches!(gone, Err(ReplaceProviderError::NothingMatched { .. })), "{gone:?}");
        editor.replace_provider(&source("acme/test"), &source("acme/test")).unwrap_err();
    });
    let provider = after.state.resource_provider(&instance("t.a").resource).unwrap();
    assert_eq!(provider.to_string(), r#"module.m.provider["registry.terraform.io/acme/test"].west"#);
}

#[test]
fn taints_and_untaints_the_current_object() {
    let document = odd();
    let mut editor = Editor::on_document(&document);
    assert!(editor.taint(&instance("t.a")).unwrap().is_empty(), "it is tainted already");
    editor.untaint(&instance("t.a")).unwrap();
    assert!(editor.is_changed().unwrap());
    assert!(matches!(editor.untaint(&instance("t.a")), Err(TaintError::NotTainted { .. })));
    editor.taint(&instance("t.a")).unwrap();
    assert!(!editor.is_changed().unwrap(), "back to where it was");
    assert_eq!(editor.edit().unwrap().unwrap().to_vec().unwrap(), document.text());
    assert!(matches!(editor.taint(&instance("t.zz")), Err(TaintError::Missing { .. })));
    assert!(matches!(editor.taint(&instance("t.deposed")), Err(TaintError::NoCurrentObject { .. })));
    assert!(matches!(editor.taint(&instance("data.t.d")), Err(TaintError::NotManaged { .. })));
}

#[test]
fn unknown_members_go_along() {
    let document = odd();
    let mut editor = Editor::on_document(&document);
    editor.move_address(&at("t.a"), &at("t.b[\"k\"]"), Default::default()).unwrap();
    let written = String::from_utf8(editor.edit().unwrap().unwrap().to_vec().unwrap()).unwrap();
    assert!(written.contains(r#""x":2"#) && written.contains(r#""y":3"#), "{written}");
}
