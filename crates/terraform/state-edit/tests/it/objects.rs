//! Single objects of an instance: deposed ones, recorded identities, and providers of instances that move.

use groundstate_state_edit::{
    Editor, MoveOptions, OpenState, Script, ScriptOptions, Summary, Transfer, diff,
};
use groundstate_statefile::Document;
use groundstate_states::{DeposedObject, Generation};

use crate::support::{at, read};

const STATE: &str = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "resources": [
    {"mode": "managed", "type": "t", "name": "a", "provider": "provider[\"registry.terraform.io/hashicorp/t\"].west",
     "instances": [{"schema_version": 0, "attributes": {"id": "1"}, "identity": {"id": "1"}, "identity_schema_version": 2},
                   {"deposed": "0a1b2c3d", "schema_version": 0, "attributes": {"id": "2"}},
                   {"deposed": "0a1b2c3e", "schema_version": 0, "attributes": {"id": "3"}, "identity_schema_version": 1}]},
    {"mode": "managed", "type": "t", "name": "only", "provider": "provider[\"registry.terraform.io/hashicorp/t\"]",
     "instances": [{"index_key": "x", "deposed": "00000001", "schema_version": 0, "attributes": {"id": "4"}}]},
    {"mode": "managed", "type": "t", "name": "east", "provider": "provider[\"registry.terraform.io/acme/t\"]",
     "instances": [{"index_key": "k", "schema_version": 0, "attributes": {"id": "5"}}]}]}"#;

fn objects(editor: &Editor<'_>) -> Vec<String> {
    let file = editor.to_file().unwrap();
    let objects = file.state.objects().map(|(instance, generation, _)| match generation {
        Generation::Current => instance.to_string(),
        Generation::Deposed(key) => DeposedObject { instance, key }.to_string(),
    });
    objects.collect()
}

#[track_caller]
fn run(script: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let document = Document::open(STATE.into()).unwrap();
    let mut editor = Editor::on_document(&document);
    let script = Script::parse(script).map_err(|error| error.to_string())?;
    let report = editor.run(&script, &ScriptOptions::default()).map_err(|error| error.to_string())?;
    let changes = report.statements.iter().flat_map(|done| &done.summary.changes).map(ToString::to_string);
    Ok((objects(&editor), changes.collect()))
}

#[test]
fn one_deposed_object_leaves_the_others_where_they_are() {
    let (left, said) = run("rm t.a (deposed 0a1b2c3d)").unwrap();
    assert_eq!(
        left,
        ["t.a", "t.a (deposed 0a1b2c3e)", r#"t.east["k"]"#, r#"t.only["x"] (deposed 00000001)"#]
    );
    assert_eq!(said, ["Removed t.a (deposed 0a1b2c3d)"]);
    // The last object of a resource takes it along.
    let (left, said) = run(r#"rm 't.only["x"] (deposed 00000001)' t.east"#).unwrap();
    assert_eq!(left, ["t.a", "t.a (deposed 0a1b2c3d)", "t.a (deposed 0a1b2c3e)"]);
    assert_eq!(said.len(), 2);
}

#[test]
fn deposed_object_that_is_missing_or_meant_for_another_verb_is_refused() {
    for (script, said) in [
        ("rm t.a (deposed 00000009)", "t.a (deposed 00000009) is not in the state"),
        ("rm t.z (deposed 0a1b2c3d)", "t.z (deposed 0a1b2c3d) is not in the state"),
        ("mv t.a (deposed 0a1b2c3d) t.b", "this is a deposed object, which `rm` can take"),
        ("taint t.a (deposed 0a1b2c3d)", "this is a deposed object"),
        ("rm module (deposed 0a1b2c3d)", "module"),
    ] {
        let error = run(script).unwrap_err();
        assert!(error.contains(said), "{script}: {error}");
    }
    let document = Document::open(STATE.into()).unwrap();
    let mut editor = Editor::on_document(&document);
    let script = Script::parse("rm t.a (deposed 00000009) t.east").unwrap();
    let report = editor.run(&script, &ScriptOptions::default().skip_missing(true)).unwrap();
    assert_eq!(report.changes(), 1);
}

#[test]
fn identities_are_removed_of_the_named_objects_alone() {
    for script in ["rm-identity t.a", "rm-identity **.*.*", "rm-identity t.east t.a"] {
        if script.contains("east") {
            assert!(run(script).unwrap_err().contains("t.east records no identity"));
            continue;
        }
        let (left, said) = run(script).unwrap();
        assert_eq!((left.len(), said), (5, vec!["Removed identity of t.a".to_owned()]));
    }
    let document = Document::open(STATE.into()).unwrap();
    let mut editor = Editor::on_document(&document);
    editor.remove_identity(&[at("t.a")]).unwrap();
    let written = editor.edit().unwrap().unwrap().to_vec().unwrap();
    assert!(!String::from_utf8(written.clone()).unwrap().contains("identity"));
    let changes = diff(&read(STATE), &read(written)).entries.len();
    assert_eq!(changes, 2, "the current object and one of the deposed");
}

#[test]
fn instance_that_joins_another_provider_configuration_is_reported() {
    let expected = r#"provider of t.east["b"]: provider["registry.terraform.io/hashicorp/t"].west -> provider["registry.terraform.io/acme/t"]"#;
    let said = |summary: &Summary| summary.providers.iter().map(ToString::to_string).collect::<Vec<_>>();
    let state = OpenState::open(STATE.into()).unwrap();
    let mut editor = state.editor();
    let moved = editor.move_address(&at("t.a"), &at(r#"t.east["b"]"#), MoveOptions::default()).unwrap();
    assert_eq!(said(&moved), [expected]);
    let preview = editor.preview().unwrap();
    let field = preview.entries.iter().flat_map(|entry| &entry.fields).find(|field| field.path == "provider");
    let values = field.map(|field| (field.before.is_some(), field.after.is_some()));
    assert_eq!(values, Some((true, true)));
    // To another state.
    let (from, other) = (state.editor(), OpenState::open(STATE.into()).unwrap());
    let transfer = Transfer::plan(&from, &[(at("t.a"), at(r#"t.east["b"]"#))]).unwrap();
    assert_eq!(said(&transfer.add_to(&mut other.editor()).unwrap()), [expected]);
    // A new resource brings its provider along.
    let moved = state.editor().move_address(&at("t.a"), &at("t.new"), MoveOptions::default()).unwrap();
    assert_eq!(said(&moved), Vec::<String>::new());
}
