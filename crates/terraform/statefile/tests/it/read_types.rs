//! A value of every kind in the place of every known member.

use groundstate_statefile::{Code, EncodeError, EncodeOptions, encode};
use serde_json::{Value, json};

use crate::support::{read, refused, strict_verdict, verdict};

/// A document with every member that any release writes.
fn everything() -> Value {
    json!({
        "terraform_version": "1.12.0",
        "serial": 1,
        "lineage": "l",
        "outputs": { "a": { "value": "x", "type": "string", "sensitive": true, "deprecated": "d" } },
        "resources": [{
            "module": "module.m[0]", "mode": "managed", "type": "t", "name": "n", "each": "list",
            "provider": "provider[\"registry.opentofu.org/a/b\"]",
            "instances": [{
                "index_key": 0, "status": "tainted", "deposed": "0000000a",
                "provider": "provider[\"registry.opentofu.org/a/b\"].x[\"k\"]", "schema_version": 1,
                "attributes": { "id": "1" }, "attributes_flat": { "id": "1" },
                "sensitive_attributes": [[
                    { "type": "get_attr", "value": "id" },
                    { "type": "index", "value": { "value": 1, "type": "number" } }
                ]],
                "private": "YQ==", "dependencies": ["t.n"], "depends_on": ["t.n[0]"],
                "create_before_destroy": true, "skip_destroy": true, "identity": {}, "identity_schema_version": 1
            }]
        }],
        "check_results": [{
            "object_kind": "var", "config_addr": "var.v", "status": "fail",
            "objects": [{ "object_addr": "var.v", "status": "fail", "failure_messages": ["m"] }]
        }]
    })
}

/// The document with its version in front, as every writer has it.
fn text_of(document: &Value) -> String {
    let text = document.to_string();
    format!(r#"{{"version":4,{}"#, text.strip_prefix('{').expect("an object"))
}

const ANYTHING: &[&str] = &["null", "bool", "number", "string", "array", "object"];
const TEXT: &[&str] = &["null", "string"];
const FLAG: &[&str] = &["null", "bool"];
const WHOLE: &[&str] = &["null", "whole"];
const LIST: &[&str] = &["null", "array"];
const MAP: &[&str] = &["null", "object"];
const ITEM: &[&str] = &["object"];

/// Each member, the kinds it takes, and the code of the problem with all others.
const MEMBERS: [(&str, &[&str], Code); 52] = [
    ("/terraform_version", TEXT, Code::WrongType),
    ("/serial", WHOLE, Code::WrongType),
    ("/lineage", TEXT, Code::WrongType),
    ("/outputs", MAP, Code::WrongType),
    ("/outputs/a", MAP, Code::WrongType),
    ("/outputs/a/value", ANYTHING, Code::OutputValue),
    ("/outputs/a/type", &["string"], Code::OutputType),
    ("/outputs/a/sensitive", FLAG, Code::WrongType),
    ("/outputs/a/deprecated", TEXT, Code::WrongType),
    ("/resources", LIST, Code::WrongType),
    ("/resources/0", ITEM, Code::WrongType),
    ("/resources/0/module", TEXT, Code::WrongType),
    ("/resources/0/mode", TEXT, Code::WrongType),
    ("/resources/0/type", TEXT, Code::WrongType),
    ("/resources/0/name", TEXT, Code::WrongType),
    ("/resources/0/each", TEXT, Code::WrongType),
    ("/resources/0/provider", TEXT, Code::WrongType),
    ("/resources/0/instances", LIST, Code::WrongType),
    ("/resources/0/instances/0", ITEM, Code::WrongType),
    ("/resources/0/instances/0/index_key", &["null", "whole", "string"], Code::IndexKey),
    ("/resources/0/instances/0/status", TEXT, Code::WrongType),
    ("/resources/0/instances/0/deposed", TEXT, Code::WrongType),
    ("/resources/0/instances/0/provider", TEXT, Code::WrongType),
    ("/resources/0/instances/0/schema_version", WHOLE, Code::WrongType),
    ("/resources/0/instances/0/attributes", ANYTHING, Code::WrongType),
    ("/resources/0/instances/0/attributes_flat", MAP, Code::WrongType),
    ("/resources/0/instances/0/attributes_flat/id", TEXT, Code::WrongType),
    ("/resources/0/instances/0/sensitive_attributes", LIST, Code::SensitivePath),
    ("/resources/0/instances/0/sensitive_attributes/0", LIST, Code::SensitivePath),
    ("/resources/0/instances/0/sensitive_attributes/0/0", ITEM, Code::SensitivePath),
    ("/resources/0/instances/0/sensitive_attributes/0/0/type", &["string"], Code::SensitivePath),
    ("/resources/0/instances/0/sensitive_attributes/0/0/value", &["string"], Code::SensitivePath),
    ("/resources/0/instances/0/sensitive_attributes/0/1/value", ITEM, Code::SensitivePath),
    ("/resources/0/instances/0/sensitive_attributes/0/1/value/type", &["string"], Code::SensitivePath),
    ("/resources/0/instances/0/private", TEXT, Code::WrongType),
    ("/resources/0/instances/0/dependencies", LIST, Code::WrongType),
    ("/resources/0/instances/0/dependencies/0", TEXT, Code::WrongType),
    ("/resources/0/instances/0/depends_on", LIST, Code::WrongType),
    ("/resources/0/instances/0/depends_on/0", TEXT, Code::WrongType),
    ("/resources/0/instances/0/create_before_destroy", FLAG, Code::WrongType),
    ("/resources/0/instances/0/skip_destroy", FLAG, Code::WrongType),
    ("/resources/0/instances/0/identity", ANYTHING, Code::WrongType),
    ("/resources/0/instances/0/identity_schema_version", WHOLE, Code::WrongType),
    ("/check_results", LIST, Code::WrongType),
    ("/check_results/0", ITEM, Code::WrongType),
    ("/check_results/0/object_kind", TEXT, Code::WrongType),
    ("/check_results/0/config_addr", TEXT, Code::WrongType),
    ("/check_results/0/status", TEXT, Code::WrongType),
    ("/check_results/0/objects", LIST, Code::WrongType),
    ("/check_results/0/objects/0", ITEM, Code::WrongType),
    ("/check_results/0/objects/0/failure_messages", LIST, Code::WrongType),
    ("/check_results/0/objects/0/failure_messages/0", TEXT, Code::WrongType),
];

/// A value of each kind, marked so that its place is found again.
fn substitutes() -> [(&'static str, Value); 9] {
    [
        ("null", Value::Null),
        ("bool", json!(false)),
        ("number", json!(-3.25)),
        ("number", json!(-1)),
        ("whole", json!(71)),
        ("string", json!("zz 9")),
        ("string", json!("")),
        ("array", json!([])),
        ("object", json!({})),
    ]
}

/// `/resources/0/mode` as places print it: `resources[0].mode`.
fn place_of(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        match step.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) if path.is_empty() => path.push_str(step),
            Err(_) => path.push_str(&format!(".{step}")),
        }
    }
    path
}

#[test]
fn a_member_of_the_wrong_kind_is_reported_at_its_place() {
    assert!(strict_verdict(text_of(&everything()).as_bytes()));
    for (pointer, kinds, code) in MEMBERS {
        for (kind, value) in substitutes() {
            let mut document = everything();
            *document.pointer_mut(pointer).expect("the document has every member") = value.clone();
            let text = text_of(&document);
            let accepted = strict_verdict(text.as_bytes());
            let fits = kinds.contains(&kind) || (kind == "whole" && kinds.contains(&"number"));
            if fits {
                continue;
            }
            assert!(!accepted, "{pointer}: {value}");
            let error = refused(&text);
            let place = place_of(pointer);
            let problem =
                error.problems().iter().find(|problem| problem.code == code && problem.place.path == place);
            let problem = problem.unwrap_or_else(|| unreachable!("{pointer}: {value}: {error}"));
            let found = &text[problem.place.offset..];
            assert!(found.starts_with(&value.to_string()), "{pointer}: {found}");
            assert!(!error.to_string().contains("zz 9") || code == Code::OutputType, "{error}");
        }
    }
}

#[test]
fn every_member_may_be_missing_or_stand_twice() {
    for (pointer, _, _) in MEMBERS {
        let Some((parent, name)) = pointer.rsplit_once('/') else { continue };
        if name.parse::<usize>().is_ok() {
            continue;
        }
        let mut document = everything();
        let object = document.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
        let value = object.remove(name).expect("the member");
        verdict(text_of(&document).as_bytes());
        // The marker becomes two members of the same name.
        let object = document.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
        object.insert("MARK".into(), Value::Null);
        for (first, second) in [(&value, &value), (&Value::Null, &value), (&value, &Value::Null)] {
            let twice = format!(r#""{name}":{first},"{name}":{second}"#);
            let text = text_of(&document).replacen(r#""MARK":null"#, &twice, 1);
            strict_verdict(text.as_bytes());
        }
    }
}

#[test]
fn a_member_that_stands_twice_with_different_values_is_a_loss() {
    let mut base = everything();
    // These stand beside members that win over them, which is a loss of its own.
    for (parent, name) in [("/resources/0", "provider"), ("/resources/0/instances/0", "attributes_flat")] {
        base.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(name);
    }
    let lost =
        |text: &str| matches!(encode(&read(text), &EncodeOptions::default()), Err(EncodeError::Loss(_)));
    assert!(!lost(&text_of(&base)));
    let mut tried = 0;
    for (pointer, _, _) in MEMBERS {
        let Some((parent, name)) = pointer.rsplit_once('/') else { continue };
        // Outputs of two members are added, so none is lost.
        if pointer == "/outputs" {
            continue;
        }
        let mut document = base.clone();
        let object = document.pointer_mut(parent).and_then(Value::as_object_mut);
        let Some((object, value)) =
            object.and_then(|object| object.remove(name).map(|value| (object, value)))
        else {
            continue;
        };
        object.insert("MARK".into(), Value::Null);
        let twice = |first: &Value| format!(r#""{name}":{first},"{name}":{value}"#);
        let text = |first: &Value| text_of(&document).replacen(r#""MARK":null"#, &twice(first), 1);
        // Keys of a dynamic value must not appear twice at all.
        if verdict(text(&Value::Null).as_bytes()) {
            assert!(lost(&text(&Value::Null)), "{pointer}");
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried}");
}
