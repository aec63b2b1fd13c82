//! What Terraform 1.11.4 made of one state, operation by operation.

use std::fs;
use std::path::PathBuf;

use groundstate_state_edit::{Change, Editor, MoveOptions, ReplaceProviderError, Summary};
use groundstate_statefile::{Document, EncodeOptions, encode};
use groundstate_states::Serial;
use groundstate_states::addr::{ProviderSource, TERRAFORM_REGISTRY, Target};
use serde_json::Value;

use crate::shared::fixtures;
use crate::support::at;

fn folder() -> Option<PathBuf> {
    fixtures().map(|folder| folder.join("terraform-1.11/moves"))
}

/// Does what the command line says; the error's text if it is refused.
fn run(editor: &mut Editor<'_>, args: &[&str], compat: bool) -> Result<Summary, String> {
    let words: Vec<&str> = args.iter().skip(1).copied().filter(|word| !word.starts_with('-')).collect();
    match *words {
        ["mv", from, to] => editor
            .move_address(&at(from), &at(to), MoveOptions::default().compat(compat))
            .map_err(|error| error.to_string()),
        ["rm", ref targets @ ..] => {
            let targets: Vec<Target> = targets.iter().map(|text| at(text)).collect();
            editor.remove(&targets).map_err(|error| error.to_string())
        }
        ["replace-provider", from, to] => {
            let source = |text| ProviderSource::parse(text, TERRAFORM_REGISTRY).unwrap();
            match editor.replace_provider(&source(from), &source(to)) {
                // The release succeeds, and says that there was nothing to do.
                Err(ReplaceProviderError::NothingMatched { .. }) => Ok(Summary::default()),
                result => result.map_err(|error| error.to_string()),
            }
        }
        _ => Err(format!("not a command: {args:?}")),
    }
}

/// The lines of the command's output that name changes. When modules move, their order is not stable.
fn named_changes(stdout: &str, prefixes: &[&str]) -> Vec<String> {
    let mut lines: Vec<_> = stdout
        .lines()
        .filter(|line| prefixes.iter().any(|prefix| line.starts_with(prefix)))
        .map(|line| line.replace("Would move", "Move").replace("Would remove", "Removed"))
        .collect();
    lines.sort();
    lines
}

#[test]
fn every_operation_gives_the_bytes_and_lines_of_the_release() {
    let Some(folder) = folder() else { return };
    let start = fs::read(folder.join("start.tfstate")).unwrap();
    let cases: Value = serde_json::from_slice(&fs::read(folder.join("cases.json")).unwrap()).unwrap();
    let document = Document::open(start).unwrap();
    let model = document.to_file().unwrap();
    for case in cases.as_array().unwrap() {
        let name = case["case"].as_str().unwrap();
        let args: Vec<&str> = case["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let mut editor = Editor::on_document(&document);
        let mut on_model = Editor::on_file(&model);
        let result = run(&mut editor, &args, true);
        assert_eq!(run(&mut on_model, &args, true), result, "{name}");
        assert_eq!(result.is_err(), case["exit"] == 1, "{name}: {result:?}");
        let Ok(summary) = result else {
            assert!(!editor.is_changed().unwrap(), "{name}");
            continue;
        };
        let stdout = case["stdout"].as_str().unwrap();
        if !name.starts_with("replace-provider") {
            let mut lines: Vec<_> = summary.changes.iter().map(Change::to_string).collect();
            lines.sort();
            let expected = named_changes(stdout, &["Move ", "Removed ", "Would move ", "Would remove "]);
            assert_eq!(lines, expected, "{name}");
        }
        let Some(after) = case["after"].as_str() else { continue };
        let expected = fs::read(folder.join(after)).unwrap();
        let mut edit = editor.edit().unwrap().unwrap();
        edit.serial(Serial::new(18));
        let written = edit.to_vec().unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            String::from_utf8(expected.clone()).unwrap(),
            "{name}"
        );
        let mut file = on_model.to_file().unwrap();
        file.serial = Serial::new(18);
        assert!(encode(&file, &EncodeOptions::default()).unwrap() == expected, "{name}");
    }
}

#[test]
fn removed_instances_are_counted_and_ordered_as_the_release_does() {
    let Some(folder) = folder() else { return };
    let document = Document::open(fs::read(folder.join("start.tfstate")).unwrap()).unwrap();
    let summary = Editor::on_document(&document).remove(&[at("module.many")]).unwrap();
    let lines: Vec<_> = summary.changes.iter().map(Change::to_string).collect();
    assert_eq!(
        lines,
        [
            "Removed module.many[\"k1\"].terraform_data.in",
            "Removed module.many[\"k2\"].terraform_data.in",
            "Removed module.many[\"k1\"].module.deep.terraform_data.leaf[0]",
            "Removed module.many[\"k1\"].module.deep.terraform_data.leaf[1]",
            "Removed module.many[\"k2\"].module.deep.terraform_data.leaf[0]",
            "Removed module.many[\"k2\"].module.deep.terraform_data.leaf[1]",
        ]
    );
}

#[test]
fn without_compatibility_no_dependency_of_the_release_is_lost() {
    let Some(folder) = folder() else { return };
    let document = Document::open(fs::read(folder.join("start.tfstate")).unwrap()).unwrap();
    for (from, to, of, expected) in [
        (
            "terraform_data.a",
            "terraform_data.z",
            r#"terraform_data.c["x"]"#,
            "terraform_data.b terraform_data.z",
        ),
        (
            "terraform_data.b[1]",
            "terraform_data.single",
            r#"terraform_data.c["y"]"#,
            "terraform_data.a terraform_data.b terraform_data.single",
        ),
        (
            "module.one",
            "module.uno",
            "terraform_data.after",
            "module.many.module.deep.terraform_data.leaf module.many.terraform_data.in module.uno.terraform_data.in",
        ),
        (
            "module.one",
            "module.uno",
            "module.uno.module.deep.terraform_data.leaf[1]",
            "module.uno.terraform_data.in",
        ),
        (
            r#"module.many["k1"]"#,
            "module.k1",
            "terraform_data.after",
            "module.k1.module.deep.terraform_data.leaf module.k1.terraform_data.in \
             module.many.module.deep.terraform_data.leaf module.many.terraform_data.in module.one.terraform_data.in",
        ),
        (
            r#"module.many["k1"]"#,
            "module.k1",
            "module.k1.module.deep.terraform_data.leaf[0]",
            "module.k1.terraform_data.in",
        ),
        (
            r#"module.many["k1"]"#,
            "module.k1",
            r#"module.many["k2"].module.deep.terraform_data.leaf[0]"#,
            "module.many.terraform_data.in",
        ),
        (
            "module.many",
            "module.lots",
            r#"module.lots["k2"].module.deep.terraform_data.leaf[0]"#,
            "module.lots.terraform_data.in",
        ),
    ] {
        let mut editor = Editor::on_document(&document);
        editor.move_address(&at(from), &at(to), MoveOptions::default()).unwrap();
        let file = editor.to_file().unwrap();
        let instance = file.state.resource_instance(&crate::support::instance(of)).unwrap();
        let dependencies: Vec<_> =
            instance.current.as_ref().unwrap().dependencies.iter().map(ToString::to_string).collect();
        assert_eq!(dependencies.join(" "), expected, "{from} to {to}: {of}");
    }
}
