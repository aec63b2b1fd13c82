//! Members at the top that appear twice: what each reader makes of them, as Terraform does.

use groundstate_statefile::{Document, NoteKind, leading_outputs, outputs};
use groundstate_states::Serial;

use crate::support::read;

const A: &str =
    r#""outputs":{"a":{"value":1,"type":"number"},"b":{"value":1,"type":"number","sensitive":true}}"#;
const B: &str = r#""outputs":{"b":{"value":2,"type":"number"},"c":{"value":3,"type":"number"}}"#;

/// Documents with two members `outputs`, of which the second has three places and two spellings.
fn documents() -> Vec<String> {
    let head = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","#;
    let second = [B.to_owned(), B.replace("outputs", "\\u006futputs")];
    let mut all = Vec::new();
    for b in second {
        all.push(format!(r#"{head}{A},{b},"resources":[],"check_results":null}}"#));
        all.push(format!(r#"{head}{A},"resources":[],{b},"check_results":null}}"#));
        all.push(format!(r#"{head}{A},"resources":[],"check_results":null,{b}}}"#));
    }
    all
}

#[test]
fn every_reader_adds_the_outputs_of_both_members() {
    for text in documents() {
        let text = text.as_bytes();
        let file = read(text);
        let names: Vec<&str> = file.state.outputs().keys().map(|name| &**name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(!file.state.outputs()["b"].sensitive, "the later of one name counts");
        for found in [outputs(text, None).unwrap(), leading_outputs(text, text, None).unwrap()] {
            let found: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(found, names);
        }
        assert_eq!(leading_outputs(text, text, Some("c")).unwrap().len(), 1);
        let document = Document::open(text.to_vec()).unwrap();
        for (name, output) in file.state.outputs() {
            assert_eq!(document.output(name).unwrap().as_ref(), Some(&**output), "{name}");
        }
    }
}

#[test]
fn a_change_of_outputs_leaves_one_member() {
    for text in documents() {
        let document = Document::open(text.into_bytes()).unwrap();
        let mut edit = document.edit();
        edit.output("a", None).output("d", document.output("b").unwrap());
        let written = edit.to_vec().unwrap();
        let file = read(&written);
        let names: Vec<&str> = file.state.outputs().keys().map(|name| &**name).collect();
        assert_eq!(names, ["b", "c", "d"], "{}", String::from_utf8_lossy(&written));
    }
}

#[test]
fn null_takes_all_outputs_away_and_leaves_serial_and_lineage() {
    let text = format!(
        r#"{{"version":4,"serial":7,"lineage":"l",{A},"outputs":null,"serial":null,"lineage":null}}"#
    );
    let file = read(&text);
    assert!(file.state.outputs().is_empty());
    assert_eq!((file.serial, file.lineage.as_str()), (Serial::new(7), "l"));
    let document = Document::open(text.into_bytes()).unwrap();
    assert_eq!((document.serial(), document.lineage().as_str()), (Serial::new(7), "l"));
    let output = read(format!(r#"{{"version":4,{A}}}"#)).state.outputs()["a"].as_ref().clone();
    let mut edit = document.edit();
    edit.serial(Serial::new(8)).output("x", Some(output));
    let file = read(edit.to_vec().unwrap());
    assert_eq!(file.serial, Serial::new(8));
    assert_eq!(file.state.outputs().len(), 1);
}

#[test]
fn equal_members_are_no_loss() {
    let text = r#"{"version":4,"version":4,"serial":1,"serial":1,"lineage":"l","lineage":"l","resources":[],"resources":[]}"#;
    let file = read(text);
    assert_eq!(file.notes.len(), 4);
    assert!(file.notes.iter().all(|note| note.kind == NoteKind::Normalized), "{:?}", file.notes);
    let text = r#"{"version":4,"serial":1,"serial":2,"lineage":"l"}"#;
    assert_eq!(read(text).notes[0].kind, NoteKind::Lost);
}

#[test]
fn an_edited_file_keeps_its_line_ends() {
    let text = r#"{
  "version": 4,
  "serial": 1,
  "lineage": "l",
  "outputs": {},
  "resources": [
    {
      "mode": "managed",
      "type": "t",
      "name": "a",
      "provider": "provider[\"registry.terraform.io/hashicorp/t\"]",
      "instances": [
        {
          "schema_version": 0,
          "attributes": {
            "x": "1\n2"
          }
        }
      ]
    }
  ],
  "check_results": null
}
"#;
    let change = |text: String| {
        let document = Document::open(text.into_bytes()).unwrap();
        let a = document.resources().next().unwrap().clone();
        let resource = document.resource(&a).unwrap();
        let mut edit = document.edit();
        edit.serial(Serial::new(2)).resource(a, None);
        edit.resource(groundstate_states::addr::AbsResource::parse("t.b").unwrap(), resource);
        String::from_utf8(edit.to_vec().unwrap()).unwrap()
    };
    let plain = change(text.to_owned());
    assert!(plain.contains("\"name\": \"b\"") && !plain.contains('\r'));
    assert_eq!(change(text.replace('\n', "\r\n")), plain.replace('\n', "\r\n"));
}
