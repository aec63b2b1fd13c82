//! Differences of whole files.

use serde_json::{Value as Json, json};

use super::*;
use groundstate_statefile::{DecodeOptions, decode};

fn file(document: &Json) -> File {
    file_of(&document.to_string())
}

fn file_of(text: &str) -> File {
    decode(text.as_bytes(), &DecodeOptions::default()).expect("a valid state")
}

fn document(outputs: Json, resources: Json) -> Json {
    json!({
        "version": 4, "terraform_version": "1.9.0", "serial": 7, "lineage": "l",
        "outputs": outputs, "resources": resources, "check_results": null,
    })
}

/// A resource `test.r` with these instances.
fn resource(instances: Json) -> Json {
    let provider = "provider[\"registry.terraform.io/hashicorp/test\"]";
    json!({"mode": "managed", "type": "test", "name": "r", "provider": provider, "instances": instances})
}

fn instances(instances: Json) -> Json {
    document(json!({}), json!([resource(instances)]))
}

/// An object of `test.r` with these attributes and other members.
fn object(attributes: Json, members: Json) -> Json {
    let mut object = json!({"schema_version": 0, "attributes": attributes});
    let members = members.as_object().expect("an object").clone();
    object.as_object_mut().expect("an object").extend(members);
    object
}

/// The differences as lines: a sign, the subject, and for each field its path and values.
fn lines(a: &Json, b: &Json) -> Vec<String> {
    shown(&diff(&file(a), &file(b)))
}

fn shown(diff: &Diff) -> Vec<String> {
    let value = |value: &Option<DiffValue>| match value {
        None => "-".to_owned(),
        Some(value) => value.plain().unwrap_or("(sensitive)").to_owned(),
    };
    let mut lines = Vec::new();
    for entry in &diff.entries {
        lines.push(format!("{} {}", entry.kind, entry.subject));
        for field in &entry.fields {
            lines.push(format!("  {}: {} -> {}", field.path, value(&field.before), value(&field.after)));
        }
    }
    lines
}

#[test]
fn equal_states_do_not_differ() {
    let state = instances(json!([object(json!({"a": 1}), json!({}))]));
    assert_eq!(lines(&state, &state), [""; 0]);
    assert!(diff(&file(&state), &file(&state)).is_empty());
}

#[test]
fn metadata_is_compared() {
    let a = json!({"version": 4, "terraform_version": "1.9.0", "serial": 7, "lineage": "a", "odd": {"x": 1}});
    let b = json!({"version": 4, "serial": 8, "lineage": "b", "odd": {"x": 2}, "new": true});
    let expected = [
        "changed document",
        "  terraform_version: \"1.9.0\" -> -",
        "  serial: 7 -> 8",
        "  lineage: \"a\" -> \"b\"",
        "  new: - -> (sensitive)",
        "  odd: (sensitive) -> (sensitive)",
    ];
    assert_eq!(lines(&a, &b), expected);
}

#[test]
fn outputs_are_compared_by_value_and_type() {
    let a = json!({
        "gone": {"value": 1, "type": "number"},
        "map": {"value": {"a": 1, "b": 2}, "type": ["map", "number"]},
        "same": {"value": [2, 1], "type": ["set", "number"]},
        "text": {"value": "1", "type": "string"},
    });
    let b = json!({
        "map": {"value": {"b": 3, "a": 1}, "type": ["map", "number"]},
        "new": {"value": true, "type": "bool"},
        "same": {"value": [1, 2.0], "type": ["set", "number"]},
        "text": {"value": 1, "type": "number", "deprecated": "old", "odd": 1},
    });
    let expected = [
        "removed output.gone",
        "  value: 1 -> -",
        "  type: \"number\" -> -",
        "changed output.map",
        "  value.b: 2 -> 3",
        "added output.new",
        "  value: - -> true",
        "  type: - -> \"bool\"",
        "changed output.text",
        "  value: \"1\" -> 1",
        "  type: \"string\" -> \"number\"",
        "  deprecated: - -> \"old\"",
        "  odd: - -> (sensitive)",
    ];
    assert_eq!(lines(&document(a, json!([])), &document(b, json!([]))), expected);
}

#[test]
fn sensitive_outputs_are_hidden_whichever_side_marks_them() {
    let plain = |value: &str| json!({"o": {"value": {"k": value}, "type": ["map", "string"]}});
    let secret =
        |value: &str| json!({"o": {"value": {"k": value}, "type": ["map", "string"], "sensitive": true}});
    let state = |outputs| document(outputs, json!([]));
    let cases = [
        (state(secret("s1")), state(secret("s2")), None),
        (state(plain("s1")), state(secret("s2")), Some("  sensitive: false -> true")),
        (state(secret("s1")), state(plain("s2")), Some("  sensitive: true -> false")),
    ];
    for (a, b, more) in cases {
        let mut expected = vec!["changed output.o", "  value: (sensitive) -> (sensitive)"];
        expected.extend(more);
        assert_eq!(lines(&a, &b), expected);
        let diff = diff(&file(&a), &file(&b));
        assert!(!format!("{diff:?}").contains("s1"), "secrets never stand in debug output");
        assert_eq!(diff.entries[0].fields[0].before.as_ref().map(DiffValue::reveal), Some(r#"{"k":"s1"}"#));
    }
    let added = lines(&state(json!({})), &state(secret("s1")));
    assert_eq!(added[1], "  value: - -> (sensitive)");
    assert_eq!(
        lines(&state(secret("s1")), &state(plain("s1"))),
        ["changed output.o", "  sensitive: true -> false"]
    );
}

#[test]
fn resources_and_objects_come_and_go() {
    let a = instances(json!([
        {"index_key": 10, "attributes": {}},
        {"index_key": 2, "attributes": {}, "status": "tainted"},
        {"index_key": 2, "attributes": {}, "deposed": "0000000a"},
    ]));
    let b = instances(json!([
        {"index_key": "k", "attributes": {}},
        {"index_key": 2, "attributes": {}, "deposed": "0000000b"},
        {"index_key": 10, "attributes": {}},
    ]));
    let expected = [
        "removed test.r[2]",
        "  status: \"tainted\" -> -",
        "removed test.r[2] (deposed 0000000a)",
        "added test.r[2] (deposed 0000000b)",
        "added test.r[\"k\"]",
    ];
    assert_eq!(lines(&a, &b), expected);
    let diff = diff(&file(&a), &file(&b));
    let counts = [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed].map(|kind| diff.count(kind));
    assert_eq!(counts, [2, 2, 0]);
}

#[test]
fn a_resource_without_instances_shows_itself() {
    let none = document(json!({}), json!([]));
    let provider = "\"provider[\\\"registry.terraform.io/hashicorp/test\\\"]\"";
    let husk = instances(json!([]));
    assert_eq!(lines(&none, &husk), ["added test.r".to_owned(), format!("  provider: - -> {provider}")]);
    assert_eq!(lines(&husk, &none), ["removed test.r".to_owned(), format!("  provider: {provider} -> -")]);
    let full = instances(json!([{"attributes": {}}]));
    assert_eq!(lines(&none, &full), ["added test.r"]);
    assert_eq!(lines(&husk, &full), ["added test.r"]);
}

#[test]
fn a_changed_provider_belongs_to_the_resource() {
    let mut other = resource(json!([{"attributes": {}}]));
    other["provider"] = "provider[\"registry.terraform.io/acme/test\"].eu".into();
    other["note"] = 1.into();
    let a = instances(json!([{"attributes": {}}]));
    let expected = [
        "changed test.r",
        "  provider: \"provider[\\\"registry.terraform.io/hashicorp/test\\\"]\" -> \
         \"provider[\\\"registry.terraform.io/acme/test\\\"].eu\"",
        "  note: - -> (sensitive)",
    ];
    assert_eq!(lines(&a, &document(json!({}), json!([other]))), expected);
}

#[test]
fn every_field_of_an_object_is_compared() {
    let a = object(json!({"id": "a", "tags": {"x y": 1, "gone": null}, "list": [1, 2, 3, 4]}), json!({}));
    let b = object(
        json!({"tags": {"x y": 2}, "id": "a", "list": [1, 5, 3, 4], "new": []}),
        json!({
            "status": "tainted", "schema_version": 3, "private": "c2VjcmV0",
            "dependencies": ["test.b", "test.a"], "depends_on": ["test.b[0]"], "create_before_destroy": true,
            "skip_destroy": true, "identity": {"id": 1}, "identity_schema_version": 2, "odd": "x",
        }),
    );
    let expected = [
        "changed test.r",
        "  status: \"ready\" -> \"tainted\"",
        "  schema_version: 0 -> 3",
        "  attributes.list[1]: 2 -> 5",
        "  attributes.new: - -> []",
        "  attributes.tags.gone: null -> -",
        "  attributes.tags.\"x y\": 1 -> 2",
        "  private: - -> (sensitive)",
        "  dependencies: - -> [\"test.a\",\"test.b\"]",
        "  depends_on: - -> [\"test.b[0]\"]",
        "  create_before_destroy: false -> true",
        "  skip_destroy: false -> true",
        "  identity: - -> {\"id\":1}",
        "  identity_schema_version: - -> 2",
        "  odd: - -> (sensitive)",
    ];
    assert_eq!(lines(&instances(json!([a])), &instances(json!([b]))), expected);
}

#[test]
fn identities_are_compared_by_member() {
    let with = |identity: &str| {
        let text = instances(json!([object(json!({}), json!({"identity": "?"}))])).to_string();
        file_of(&text.replace("\"?\"", identity))
    };
    let a = with(r#"{"id": 1, "zone": "a"}"#);
    assert_eq!(shown(&diff(&a, &with(r#"{"zone":"a","id":1.0}"#))), [""; 0]);
    let expected = ["changed test.r", "  identity.zone: \"a\" -> \"b\""];
    assert_eq!(shown(&diff(&a, &with(r#"{"zone": "b", "id": 1}"#))), expected);
}

#[test]
fn keys_of_providers_belong_to_the_instance() {
    let with = |key: &str| {
        let provider = format!("provider[\"registry.opentofu.org/hashicorp/test\"].p{key}");
        let mut resource = resource(json!([object(json!({}), json!({"provider": provider}))]));
        resource.as_object_mut().expect("an object").remove("provider");
        document(json!({}), json!([resource]))
    };
    let (none, a, b) = (with(""), with("[\"a\"]"), with("[\"b\"]"));
    let line = |before: &str, after: &str| {
        vec!["changed test.r".to_owned(), format!("  provider_key: {before} -> {after}")]
    };
    assert_eq!(lines(&a, &b), line(r#""[\"a\"]""#, r#""[\"b\"]""#));
    assert_eq!(lines(&none, &b), line("-", r#""[\"b\"]""#));
    assert_eq!(lines(&none, &none), [""; 0]);
}

#[test]
fn order_of_sets_does_not_count() {
    let path = |name: &str| json!([{"type": "get_attr", "value": name}]);
    let with = |dependencies: [&str; 2], paths: [Json; 2]| {
        let members = json!({"dependencies": dependencies, "sensitive_attributes": paths});
        instances(json!([object(json!({"a": 1}), members)]))
    };
    let a = with(["test.a", "test.b"], [path("x"), path("y")]);
    let b = with(["test.b", "test.a"], [path("y"), path("x")]);
    assert_eq!(lines(&a, &b), [""; 0]);
    assert_eq!(
        lines(&a, &with(["test.a", "test.b"], [path("x"), path("x")])),
        [
            "changed test.r",
            "  sensitive_attributes: [[{\"type\":\"get_attr\",\"value\":\"x\"}],\
             [{\"type\":\"get_attr\",\"value\":\"y\"}]] -> [[{\"type\":\"get_attr\",\"value\":\"x\"}]]",
        ]
    );
}

#[test]
fn sensitive_attributes_are_hidden_with_what_is_around_them() {
    let attribute = |name: &str| json!({"type": "get_attr", "value": name});
    let index = |value: Json, of: Json| json!({"type": "index", "value": {"value": value, "type": of}});
    let cases = [
        // The path itself, and everything below it: not even which member differs is shown.
        (json!([attribute("m")]), "attributes.m"),
        (json!([]), "attributes"),
        (json!([attribute("m"), attribute("list")]), "attributes.m.list"),
        (json!([attribute("m"), index(json!("list"), json!("string"))]), "attributes.m.list"),
        (
            json!([attribute("m"), attribute("list"), index(json!(0), json!("number"))]),
            "attributes.m.list[0]",
        ),
        (
            json!([attribute("m"), attribute("list"), index(json!(0), json!("number")), attribute("k")]),
            "attributes.m.list[0].k",
        ),
        // An element of a set has no position.
        (
            json!([
                attribute("m"),
                attribute("list"),
                index(json!({"k": "s1"}), json!(["object", {"k": "string"}]))
            ]),
            "attributes.m.list[0]",
        ),
        (json!([attribute("m"), attribute("list"), attribute("k")]), "attributes.m.list[0]"),
    ];
    let with = |secret: &str, path: &Json| {
        let attributes = json!({"m": {"list": [{"k": secret}, "y"]}});
        let members = json!({"sensitive_attributes": [path]});
        instances(json!([object(attributes, members)]))
    };
    for (path, hidden) in cases {
        let (a, b) = (with("s1", &path), with("s2", &path));
        assert_eq!(
            lines(&a, &b),
            ["changed test.r".to_owned(), format!("  {hidden}: (sensitive) -> (sensitive)")],
            "{path}"
        );
    }
    // No other number names an element.
    for number in ["-1", "0.5"] {
        let path = json!([attribute("m"), attribute("list"), index(json!("?"), json!("number"))]);
        let with = |secret| file_of(&with(secret, &path).to_string().replace("\"?\"", number));
        let [a, b] = ["s1", "s2"].map(with);
        let expected = ["changed test.r", "  attributes.m.list[0]: (sensitive) -> (sensitive)"];
        assert_eq!(shown(&diff(&a, &b)), expected, "{number}");
    }
    // Paths that lead elsewhere hide nothing.
    for path in [
        json!([attribute("x")]),
        json!([attribute("m"), attribute("list"), index(json!(1), json!("number"))]),
    ] {
        let expected = ["changed test.r", "  attributes.m.list[0].k: \"s1\" -> \"s2\""];
        assert_eq!(lines(&with("s1", &path), &with("s2", &path)), expected);
    }
}

#[test]
fn secrets_are_hidden_where_they_stand_among_others() {
    let index = |at: u64| json!({"type": "index", "value": {"value": at, "type": "number"}});
    let with = |path: Json, attributes: Json| {
        instances(json!([object(attributes, json!({"sensitive_attributes": [path]}))]))
    };
    let attribute = json!({"type": "get_attr", "value": "m"});
    let list = |a: &str, b: &str| with(json!([attribute, index(1)]), json!({"m": ["x", a, b]}));
    assert_eq!(
        lines(&list("s1", "y"), &list("s2", "z")),
        [
            "changed test.r",
            "  attributes.m[1]: (sensitive) -> (sensitive)",
            "  attributes.m[2]: \"y\" -> \"z\""
        ]
    );
    // Numbers are names in an object.
    let map = |a: &str, b: &str| with(json!([attribute, index(1)]), json!({"m": {"1": a, "2": b}}));
    assert_eq!(
        lines(&map("s1", "y"), &map("s2", "z")),
        [
            "changed test.r",
            "  attributes.m.1: (sensitive) -> (sensitive)",
            "  attributes.m.2: \"y\" -> \"z\""
        ]
    );
}

#[test]
fn a_value_with_a_secret_inside_is_hidden_as_a_whole() {
    let path = json!([[{"type": "get_attr", "value": "m"}, {"type": "get_attr", "value": "password"}]]);
    let members = json!({"sensitive_attributes": path});
    let a = instances(json!([object(json!({"m": null}), members.clone())]));
    let b = instances(json!([object(json!({"m": {"password": "s1", "n": 1}}), json!({}))]));
    let found = lines(&a, &b);
    assert_eq!(found[1], "  attributes.m: (sensitive) -> (sensitive)");
    // Whole objects that come or go show no attribute at all.
    assert_eq!(lines(&document(json!({}), json!([])), &a), ["added test.r"]);
}

#[test]
fn paths_lead_through_the_wrappers_of_dynamic_attributes() {
    let with = |secret: &str| {
        let inner = json!({"value": {"pw": secret}, "type": ["object", {"pw": "string"}]});
        let path = json!([{"type": "get_attr", "value": "input"}, {"type": "get_attr", "value": "pw"}]);
        instances(json!([object(json!({"input": inner}), json!({"sensitive_attributes": [path]}))]))
    };
    let found = lines(&with("s1"), &with("s2"));
    assert_eq!(found, ["changed test.r", "  attributes.input.value.pw: (sensitive) -> (sensitive)"]);
    // Only a wrapper has a type beside the value and nothing else, and only its value goes on.
    let shows = |name: &str, members: fn(&str) -> Json| {
        let path = json!([{"type": "get_attr", "value": "m"}, {"type": "get_attr", "value": "pw"}]);
        let members = |pw| json!({"m": members(pw)});
        let [a, b] = ["a", "b"]
            .map(|pw| instances(json!([object(members(pw), json!({"sensitive_attributes": [path]}))])));
        let line = format!("  attributes.m.{name}.pw: \"a\" -> \"b\"");
        assert_eq!(lines(&a, &b), ["changed test.r".to_owned(), line]);
    };
    shows("value", |pw| json!({"value": {"pw": pw}}));
    shows("value", |pw| json!({"value": {"pw": pw}, "other": 1}));
    shows("value", |pw| json!({"value": {"pw": pw}, "type": "x", "other": 1}));
    shows("type", |pw| json!({"value": "x", "type": {"pw": pw}}));
    let plain = instances(json!([object(json!({"input": {"pw": "s3"}}), json!({}))]));
    for found in [lines(&with("s1"), &plain), lines(&plain, &with("s1"))] {
        assert!(!found.iter().any(|line| line.contains("\"s1\"") || line.contains("\"s3\"")), "{found:?}");
    }
}

#[test]
fn names_in_paths_are_compared_as_composed_text() {
    for (written, named) in
        [("e\u{301}", "\u{e9}"), ("\u{e9}", "e\u{301}"), ("K", "\u{212a}"), ("\u{212a}", "K")]
    {
        let with = |secret: &str| {
            let members = json!({"sensitive_attributes": [[{"type": "get_attr", "value": named}]]});
            instances(json!([object(json!({written: secret}), members)]))
        };
        let found = lines(&with("s1"), &with("s2"));
        assert!(found[1].ends_with(": (sensitive) -> (sensitive)"), "{found:?}");
        let other = with("s1").to_string().replace(written, "\u{e8}");
        let other = |secret| file_of(&other.replace("s1", secret));
        assert_eq!(shown(&diff(&other("s1"), &other("s2")))[1], "  attributes.\u{e8}: \"s1\" -> \"s2\"");
    }
}

#[test]
fn paths_that_hold_an_element_of_a_set_are_hidden_themselves() {
    let with = |key: Json, of: Json| {
        let index = json!({"type": "index", "value": {"value": key, "type": of}});
        let path = json!([{"type": "get_attr", "value": "set"}, index]);
        instances(json!([object(json!({"set": []}), json!({"sensitive_attributes": [path]}))]))
    };
    let text = |key: &str| with(json!(key), json!("string"));
    let object = |key: &str| with(json!({"k": key}), json!(["object", {"k": "string"}]));
    for (a, b) in [(text("s1"), text("s2")), (object("s1"), object("s2"))] {
        assert_eq!(lines(&a, &b)[1], "  sensitive_attributes: (sensitive) -> (sensitive)");
    }
    let position = |at: u64| with(json!(at), json!("number"));
    assert!(lines(&position(1), &position(2))[1].contains("\"value\":2"));
}

#[test]
fn flat_attributes_are_compared_by_key() {
    let flat = |value: &str| instances(json!([{"attributes_flat": {"tags.%": "1", "tags.a": value}}]));
    let expected = ["changed test.r", "  attributes_flat.\"tags.a\": \"1\" -> \"2\""];
    assert_eq!(lines(&flat("1"), &flat("2")), expected);
    let expected = [
        "changed test.r",
        "  attributes: - -> {\"tags\":{\"a\":\"1\"}}",
        "  attributes_flat: {\"tags.%\":\"1\",\"tags.a\":\"1\"} -> -",
    ];
    let json = instances(json!([object(json!({"tags": {"a": "1"}}), json!({}))]));
    assert_eq!(lines(&flat("1"), &json), expected);
}

#[test]
fn check_results_are_compared_in_any_order() {
    let with = |results: Json| {
        let mut state = document(json!({}), json!([]));
        state["check_results"] = results;
        state
    };
    let check = |name: &str, status: &str, messages: &[&str]| {
        let addr = format!("check.{name}");
        let objects = json!([{"object_addr": addr, "status": status, "failure_messages": messages}]);
        json!({"object_kind": "check", "config_addr": addr, "status": status, "objects": objects})
    };
    let a = with(json!([check("a", "pass", &[]), check("b", "fail", &["x", "y"]), {"object_kind": "new"}]));
    let b = with(json!([{"object_kind": "new"}, check("b", "fail", &["y", "x"]), check("a", "pass", &[])]));
    assert_eq!(lines(&a, &b), [""; 0]);
    assert_eq!(lines(&with(json!(null)), &with(json!([]))), [""; 0]);
    let b = with(json!([check("b", "pass", &[]), check("c", "pass", &[])]));
    let expected = [
        "removed check.a",
        "  status: \"pass\" -> -",
        "changed check.b",
        "  status: \"fail\" -> \"pass\"",
        "  objects[\"check.b\"].status: \"fail\" -> \"pass\"",
        "  objects[\"check.b\"].failure_messages: [\"x\",\"y\"] -> -",
        "added check.c",
        "  status: - -> \"pass\"",
        "changed document",
        "  check_results: (sensitive) -> -",
    ];
    assert_eq!(lines(&a, &b), expected);
}

/// The members of the current object of `test.r`: path, text if it may be shown.
fn described(object: Json) -> Vec<(String, Option<String>)> {
    let file = file(&instances(json!([object])));
    let (_, instance) = file.state.resource_instances().next().expect("an instance");
    let current = instance.current.as_deref().expect("an object");
    members(current)
        .into_iter()
        .map(|member| (member.path.clone(), member.value.plain().map(str::to_owned)))
        .collect()
}

#[test]
fn the_members_of_an_object_are_its_attributes_and_what_else_has_a_value() {
    let secret = json!([[{"type": "get_attr", "value": "key"}], [{"type": "get_attr", "value": "tags"}, {"type": "index", "value": {"value": "a", "type": "string"}}]]);
    let extra = json!({
        "sensitive_attributes": secret, "private": "c2VjcmV0", "dependencies": ["test.s"], "depends_on": ["test.s[0]"],
        "identity": {"id": "i"}, "identity_schema_version": 1, "later": 1,
    });
    let found =
        described(object(json!({"id": "i", "key": "k", "tags": {"a": "x", "b": "y"}, "none": null}), extra));
    let shown = |path: &str, text: &str| (path.to_owned(), Some(text.to_owned()));
    let hidden = |path: &str| (path.to_owned(), None);
    assert_eq!(
        found,
        [
            shown("attributes.id", "\"i\""),
            hidden("attributes.key"),
            shown("attributes.none", "null"),
            hidden("attributes.tags"),
            hidden("private"),
            shown("dependencies", "[\"test.s\"]"),
            shown("depends_on", "[\"test.s[0]\"]"),
            shown("identity", "{\"id\":\"i\"}"),
            shown("identity_schema_version", "1"),
            hidden("later"),
        ]
    );
    // A path without a step marks everything.
    let all = described(object(json!({"id": "i"}), json!({"sensitive_attributes": [[]]})));
    assert_eq!(all, [hidden("attributes")]);
    assert_eq!(described(object(json!({}), json!({}))), []);
}
