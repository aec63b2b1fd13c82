//! States of Terraform 0.11, which are changed as models.

use std::fs;

use groundstate_state_edit::{Editor, MoveOptions};
use groundstate_states::addr::AbsResourceInstance;
use serde_json::Value;

use crate::shared::fixtures;
use crate::support::at;
use crate::support::read;

/// What identifies the objects: their addresses and ids.
fn objects(file: &groundstate_statefile::File) -> Vec<(String, String)> {
    let id = |object: &groundstate_states::ObjectSrc| match &object.attributes {
        groundstate_states::Attributes::Flat(flat) => {
            flat.get("id").map(ToString::to_string).unwrap_or_default()
        }
        groundstate_states::Attributes::Json(_) => String::new(),
    };
    file.state.objects().map(|(a, _, o): (AbsResourceInstance, _, _)| (a.to_string(), id(o))).collect()
}

#[test]
fn operations_of_the_old_release_leave_the_same_objects() {
    let Some(folder) = fixtures().map(|folder| folder.join("terraform-0.11/moves")) else { return };
    let start = read(fs::read(folder.join("start.tfstate")).unwrap());
    let cases: Value = serde_json::from_slice(&fs::read(folder.join("cases.json")).unwrap()).unwrap();
    let mut compared = 0;
    for case in cases.as_array().unwrap() {
        let Some(after) = case["after"].as_str() else { continue };
        let args: Vec<&str> = case["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let mut editor = Editor::on_file(&start);
        match *args {
            [_, "mv", from, to] => {
                drop(editor.move_address(&at(from), &at(to), MoveOptions::default()).unwrap())
            }
            [_, "rm", target] => drop(editor.remove(&[at(target)]).unwrap()),
            _ => panic!("{args:?}"),
        }
        let expected = read(fs::read(folder.join(after)).unwrap());
        assert_eq!(objects(&editor.to_file().unwrap()), objects(&expected), "{args:?}");
        compared += 1;
    }
    assert_eq!(compared, 9);
}

#[test]
fn a_state_of_any_version_tells_its_serial_and_lineage() {
    use groundstate_state_edit::OpenState;
    for text in [
        r#"{"version": 4, "serial": 7, "lineage": "l"}"#,
        r#"{"version": 3, "serial": 7, "lineage": "l", "modules": [{"path": ["root"], "outputs": {}, "resources": {}}]}"#,
    ] {
        let state = OpenState::open(text.as_bytes().to_vec()).unwrap();
        assert_eq!((state.serial().get(), state.lineage().as_str()), (7, "l"), "{text}");
    }
}
