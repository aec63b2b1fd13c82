//! What programs ask a comparison for.

use groundstate_state_edit::{DiffValue, diff};

use crate::support::{PROVIDER, read};

/// A state of a resource `test.a` with these instances and an output.
fn state(serial: u32, output: &str, instances: &str) -> String {
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"l","outputs":{output},"resources":[
        {{"mode":"managed","type":"test","name":"a","provider":"{PROVIDER}","instances":[{instances}]}}]}}"#
    )
}

#[test]
fn what_differs_is_named_by_kind_and_name_address_or_key() {
    let before = state(1, "{}", r#"{"schema_version":0,"attributes":{"id":"1"}}"#);
    let after = state(
        2,
        r#"{"o":{"value":1,"type":"number"}}"#,
        r#"{"schema_version":0,"attributes":{"id":"2"}},{"deposed":"0a1b2c3d","schema_version":0,"attributes":{}}"#,
    );
    let changes = diff(&read(&before), &read(&after));
    assert!(!changes.is_empty());
    let names: Vec<_> = changes.entries.iter().map(|entry| entry.subject.names()).collect();
    let told: Vec<_> = names
        .iter()
        .map(|names| {
            (names.kind, names.name.as_deref(), names.address.as_deref(), names.deposed_key.as_deref())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("document", None, None, None),
            ("output", Some("o"), None, None),
            ("object", None, Some("test.a"), None),
            ("deposed_object", None, Some("test.a"), Some("0a1b2c3d")),
        ]
    );
}

#[test]
fn only_values_that_are_marked_are_sensitive() {
    let object = |id: &str| {
        format!(
            r#"{{"schema_version":0,"attributes":{{"id":"{id}","key":"{id}"}},
            "sensitive_attributes":[[{{"type":"get_attr","value":"key"}}]]}}"#
        )
    };
    let changes = diff(&read(state(1, "{}", &object("1"))), &read(state(1, "{}", &object("2"))));
    let fields: Vec<_> = changes.entries.iter().flat_map(|entry| &entry.fields).collect();
    let told: Vec<_> = fields
        .iter()
        .map(|field| (&*field.path, field.after.as_ref().map(DiffValue::is_sensitive)))
        .collect();
    assert_eq!(told, [("attributes.id", Some(false)), ("attributes.key", Some(true))]);
}
