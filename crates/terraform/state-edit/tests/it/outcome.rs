//! What an operation reports and leaves behind: lines for users, providers, members that follow, files that are opened.

use groundstate_state_edit::{Change, Editor, MoveOptions, OpenState, Script, ScriptOptions, Transfer};
use groundstate_statefile::{Dialect, Document, File};
use groundstate_states::addr::{ProviderSource, TERRAFORM_REGISTRY, Target};
use groundstate_states::{Lineage, Serial};

use crate::support::{PROVIDER, at, document, instance, lines, operate};

fn said(changes: &[Change]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}

#[test]
fn every_change_has_the_line_that_users_know() {
    let document = document(&["test.a", "test.b[0]: test.a", r#"test.c["k"]"#, "module.m.test.d"]);
    let mut editor = Editor::on_document(&document);
    let mut done = Vec::new();
    let from_to = |editor: &mut Editor<'_>, from: &str, to: &str| {
        said(&editor.move_address(&at(from), &at(to), MoveOptions::default()).unwrap().changes)
    };
    done.extend(from_to(&mut editor, "test.a", r#"test.q["x"]"#));
    done.extend(from_to(&mut editor, r#"test.c["k"]"#, r#"test.c["tab\tand \"quote\" \\ é"]"#));
    done.extend(from_to(&mut editor, "module.m", "module.n"));
    done.extend(said(&editor.taint(&instance("test.b[0]")).unwrap().changes));
    done.extend(said(&editor.untaint(&instance("test.b[0]")).unwrap().changes));
    let script = Script::parse("rm-dependency test.b test.q").unwrap();
    let report = editor.run(&script, &ScriptOptions::default()).unwrap();
    done.extend(said(&report.statements[0].summary.changes));
    done.extend(said(&editor.remove(&[at("test.b[0]")]).unwrap().changes));
    assert_eq!(
        done,
        [
            r#"Move "test.a" to "test.q[\"x\"]""#,
            r#"Move "test.c[\"k\"]" to "test.c[\"tab\\tand \\\"quote\\\" \\\\ é\"]""#,
            r#"Move "module.m" to "module.n""#,
            "Resource instance test.b[0] has been marked as tainted.",
            "Resource instance test.b[0] has been successfully untainted.",
            "Removed dependency of test.b[0] on test.q",
            "Removed test.b[0]",
        ]
    );
}

#[test]
fn a_name_cannot_control_the_terminal_through_the_line_of_a_move() {
    let text = format!(
        r#"{{"version":4,"serial":1,"lineage":"l","resources":[{{"mode":"managed","type":"test","name":"a\u0001","provider":"{PROVIDER}","instances":[{{"attributes":{{}}}}]}}]}}"#
    );
    let document = Document::open(text.into_bytes()).unwrap();
    let odd = Target::Resource(document.entries()[0].address().clone());
    let mut editor = Editor::on_document(&document);
    let summary = editor.move_address(&odd, &at("test.b"), MoveOptions::default()).unwrap();
    assert_eq!(said(&summary.changes), [r#"Move "test.a\x01" to "test.b""#]);
}

/// Two resources of different providers; the first has members that are not understood, at all levels.
fn two_providers() -> Document {
    let text = format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"l","resources":[
        {{"mode":"managed","type":"test","name":"a","provider":"{PROVIDER}","color":"red","instances":[
            {{"index_key":0,"attributes":{{"id":"0"}}}},{{"index_key":1,"attributes":{{"id":"1"}}}}]}},
        {{"mode":"managed","type":"test","name":"b","provider":"provider[\"registry.terraform.io/acme/test\"].west",
            "instances":[{{"index_key":0,"attributes":{{"id":"2"}}}}]}}]}}"#
    );
    Document::open(text.into_bytes()).unwrap()
}

fn provider(file: &File, resource: &str) -> String {
    let found = file.state.all_resources().find(|(_, name, _)| name.to_string() == resource);
    found.unwrap().2.provider.to_string()
}

#[test]
fn an_instance_takes_the_provider_of_the_resource_it_joins_and_brings_its_own_to_a_new_one() {
    let after = operate(&two_providers(), |editor| {
        editor.move_address(&at("test.a[0]"), &at("test.b[9]"), MoveOptions::default()).unwrap();
        editor.move_address(&at("test.a[1]"), &at("test.c"), MoveOptions::default()).unwrap();
    });
    assert_eq!(lines(&after), ["test.b[0]", "test.b[9]", "test.c"]);
    assert_eq!(provider(&after, "test.b"), r#"provider["registry.terraform.io/acme/test"].west"#);
    assert_eq!(provider(&after, "test.c"), r#"provider["registry.terraform.io/hashicorp/test"]"#);
}

#[test]
fn members_that_are_not_understood_follow_the_last_instance_and_are_never_in_two_places() {
    let document = two_providers();
    let colors = |pairs: &[(&str, &str)]| {
        let mut editor = Editor::on_document(&document);
        for (from, to) in pairs {
            editor.move_address(&at(from), &at(to), MoveOptions::default()).unwrap();
        }
        let file = editor.to_file().unwrap();
        let having =
            file.state.all_resources().filter(|(_, _, resource)| resource.extra.iter().next().is_some());
        having.map(|(_, name, _)| name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(colors(&[("test.a[0]", "test.c[0]")]), ["test.a"]);
    assert_eq!(colors(&[("test.a[0]", "test.c[0]"), ("test.a[1]", "test.d")]), ["test.d"]);
    assert_eq!(colors(&[("test.a", "test.z")]), ["test.z"]);
    // It joined a resource that has members of its own, and takes them over.
    assert_eq!(colors(&[("test.a[0]", "test.c[0]"), ("test.a[1]", "test.c[1]")]), [""; 0]);
}

#[test]
fn a_new_state_is_what_moves_under_the_release_of_the_state_it_leaves() {
    let document = two_providers();
    let pairs = [(at("test.a"), at("module.m.test.z"))];
    let transfer = Transfer::plan(&Editor::on_document(&document), &pairs).unwrap();
    assert_eq!(said(&transfer.changes()), [r#"Move "test.a" to "module.m.test.z""#]);
    assert_eq!(transfer.dialect(), Dialect::Terraform);
    let file = transfer.to_new_file(Lineage::new("fresh")).unwrap();
    assert_eq!(lines(&file), ["module.m.test.z[0]", "module.m.test.z[1]"]);
    assert_eq!((file.serial, file.lineage.as_str()), (Serial::new(1), "fresh"));
    assert_eq!(file.terraform_version.as_ref().unwrap().to_string(), "1.11.4");
    assert!(file.state.outputs().is_empty());
}

#[test]
fn a_transfer_that_is_refused_in_part_adds_nothing() {
    let from = document(&["test.a", "test.b", "test.c"]);
    let other = document(&["test.x", "test.y", "test.z", "test.c"]);
    let pairs = [(at("test.a"), at("test.a")), (at("test.b"), at("test.b")), (at("test.c"), at("test.c"))];
    let transfer = Transfer::plan(&Editor::on_document(&from), &pairs).unwrap();
    let mut to = Editor::on_document(&other);
    transfer.add_to(&mut to).unwrap_err();
    assert!(!to.is_changed().unwrap());
    // In the state that it leaves everything goes, or nothing does.
    let later = document(&["test.a", "test.b"]);
    let mut editor = Editor::on_document(&later);
    transfer.remove_from(&mut editor).unwrap_err();
    assert!(!editor.is_changed().unwrap());
}

#[test]
fn states_of_every_version_open_and_are_written_as_format_4() {
    let old = br#"{"version": 3, "serial": 7, "lineage": "a", "modules": [{"path": ["root"], "outputs": {}, "resources":
        {"null_resource.a": {"type": "null_resource", "primary": {"id": "1"}, "provider": "provider.null"}}}]}"#;
    let state = OpenState::open(old.to_vec()).unwrap();
    assert!(matches!(state, OpenState::File(_)));
    assert_eq!((state.serial(), state.lineage().as_str()), (Serial::new(7), "a"));
    let editor = state.editor();
    assert!(editor.edit().unwrap().is_none(), "there is no document to change");
    let mut written = Vec::new();
    editor.write_to(Serial::new(8), &mut written).unwrap();
    let rewrite = editor.rewrite(Serial::new(8)).unwrap();
    drop(editor);
    let shown = format!("Rewrite(Whole {{ bytes: {} }})", written.len());
    assert_eq!(format!("{rewrite:?}"), shown, "how much is written, and not what");
    assert_eq!(rewrite.into_text(state), written);
    let state = OpenState::open(written).unwrap();
    assert!(matches!(state, OpenState::Document(_)));
    assert_eq!((state.serial(), state.lineage().as_str()), (Serial::new(8), "a"));
    assert_eq!(state.editor().select("**.*.*").unwrap(), [at("null_resource.a")]);
    for text in ["", "{}", r#"{"version": 5}"#, "[]"] {
        assert!(OpenState::open(text.as_bytes().to_vec()).is_err(), "{text}");
    }
}

#[test]
fn the_debug_form_of_a_change_shows_no_attribute() {
    let document = document(&["test.a", "test.b"]);
    let secret = String::from_utf8(document.into_text()).unwrap().replace("i-1", "hunter2");
    let state = OpenState::open(secret.into_bytes()).unwrap();
    let mut editor = state.editor();
    editor.move_address(&at("test.b"), &at("test.c"), MoveOptions::default()).unwrap();
    let shown =
        format!("{editor:?} {:?} {:?}", editor.rewrite(Serial::new(2)).unwrap(), editor.preview().unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_provider_that_the_product_drops_is_refused_with_what_to_write_instead() {
    let document = document(&["test.a"]);
    let mut editor = Editor::on_document(&document);
    let source = |text: &str| ProviderSource::parse(text, TERRAFORM_REGISTRY).unwrap();
    let error = editor
        .replace_provider(&source("hashicorp/test"), &source("registry.opentofu.org/-/test"))
        .unwrap_err()
        .to_string();
    let head = "cannot give resources the provider registry.opentofu.org/-/test: ";
    assert!(error.starts_with(head) && error.contains(" drops resources with this address; "), "{error}");
    assert!(!editor.is_changed().unwrap());
}
