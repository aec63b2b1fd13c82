//! Members that appear twice in a document: the later one counts, for readers and for edits alike.

use groundstate_state_edit::Editor;
use groundstate_statefile::Document;
use groundstate_states::addr::{ProviderSource, TERRAFORM_REGISTRY};

use crate::support::{PROVIDER, at, lines};

/// An entry of `resources`: type `test`, this name, and the text of its instances.
fn entry(name: &str, provider: &str, instances: &str) -> String {
    format!(
        r#"{{"mode":"managed","type":"test","name":"{name}","provider":"{provider}","instances":{instances}}}"#
    )
}

fn needs(name: &str) -> String {
    format!(r#"[{{"attributes":{{}},"dependencies":["test.{name}"]}}]"#)
}

fn document(members: &str) -> Document {
    Document::open(format!(r#"{{"version":4,"serial":1,"lineage":"l",{members}}}"#).into_bytes()).unwrap()
}

/// Two lists of resources, of which the first is longer, names other providers and other dependencies.
fn two_lists() -> Document {
    let other = r#"provider[\"registry.terraform.io/acme/test\"]"#;
    // Nothing in it looks like what is searched for, so that only the right places of the second list will do.
    let first = ["w", "x", "y", "z"]
        .map(|name| entry(name, r#"provider[\"registry.terraform.io/acme/unlike\"]"#, &needs("w")));
    let second = [
        entry("a", PROVIDER, r#"[{"attributes":{}}]"#),
        entry("b", PROVIDER, &needs("a")),
        entry("c", other, &needs("b")),
    ];
    document(&format!(r#""resources":[{}],"resources":[{}]"#, first.join(","), second.join(",")))
}

#[test]
fn dependencies_follow_a_move_in_the_list_that_counts() {
    let document = two_lists();
    let mut editor = Editor::on_document(&document);
    let summary = editor.move_address(&at("test.a"), &at("test.new"), Default::default()).unwrap();
    let dependents: Vec<String> =
        summary.dependents.iter().map(|(instance, _)| instance.to_string()).collect();
    assert_eq!(dependents, ["test.b"]);
    let written = editor.edit().unwrap().unwrap().to_vec().unwrap();
    let after = Document::open(written).unwrap().to_file().unwrap();
    assert_eq!(lines(&after), ["test.b: test.new", "test.c: test.b", "test.new"]);
}

#[test]
fn providers_are_replaced_in_the_list_that_counts() {
    let source = |text| ProviderSource::parse(text, TERRAFORM_REGISTRY).unwrap();
    for (from, expected) in [("acme/test", &["test.c"][..]), ("hashicorp/test", &["test.a", "test.b"])] {
        let document = two_lists();
        let mut editor = Editor::on_document(&document);
        let summary = editor.replace_provider(&source(from), &source("new/test")).unwrap();
        let changed: Vec<String> = summary.changes.iter().map(ToString::to_string).collect();
        let to = "registry.terraform.io/new/test";
        let expected: Vec<String> = expected
            .iter()
            .map(|name| format!("Replaced provider of {name}: registry.terraform.io/{from} by {to}"))
            .collect();
        assert_eq!(changed, expected);
        let after =
            Document::open(editor.edit().unwrap().unwrap().to_vec().unwrap()).unwrap().to_file().unwrap();
        let having = after
            .state
            .all_resources()
            .filter(|(_, _, resource)| resource.provider.source == source("new/test"));
        assert_eq!(having.count(), expected.len());
    }
}

#[test]
fn of_two_lists_of_instances_the_second_has_the_dependencies() {
    let twice = entry("b", PROVIDER, &format!(r#"{},"instances":{}"#, needs("a"), needs("c")));
    let plain = |name| entry(name, PROVIDER, r#"[{"attributes":{}}]"#);
    let document = document(&format!(r#""resources":[{},{twice},{}]"#, plain("a"), plain("c")));
    for (from, dependents, after) in [
        ("test.a", 0, ["test.b: test.c", "test.c", "test.new"]),
        ("test.c", 1, ["test.a", "test.b: test.new", "test.new"]),
    ] {
        let mut editor = Editor::on_document(&document);
        let summary = editor.move_address(&at(from), &at("test.new"), Default::default()).unwrap();
        assert_eq!(summary.dependents.len(), dependents, "{from}");
        assert_eq!(lines(&editor.to_file().unwrap()), after);
    }
}
