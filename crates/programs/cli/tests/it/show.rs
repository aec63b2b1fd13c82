//! `groundstate show`.

use super::support::{groundstate, resource, state, with_resources};

const SHOP: &str = "webshop-v4-terraform.tfstate";

#[test]
fn shows_the_whole_state() {
    insta::assert_snapshot!(groundstate(&["show", SHOP]).clean());
}

#[test]
fn prints_the_whole_state_as_json() {
    let shown = groundstate(&["show", SHOP, "--json"]).clean();
    let value: serde_json::Value = serde_json::from_str(&shown).unwrap();
    insta::assert_json_snapshot!(value);
}

#[test]
fn hides_sensitive_values_unless_told_otherwise() {
    let instance = r#"{"attributes": {"name": "app", "password": "hunter2", "pins": ["1234", "5678"]},
        "sensitive_attributes": [[{"type": "get_attr", "value": "password"}],
        [{"type": "get_attr", "value": "pins"}, {"type": "index", "value": {"value": 1, "type": "number"}}]]}"#;
    let mut text = with_resources(&resource("a", "b", instance));
    text = text.replace(
        "\"outputs\": {}",
        r#""outputs": {"o": {"value": "tr0ub4", "type": "string", "sensitive": true}}"#,
    );
    let file = state(text);
    for args in [&["show", &file.path][..], &["show", &file.path, "--json"], &["show", &file.path, "a.b"]] {
        let shown = groundstate(args).clean();
        for secret in ["hunter2", "5678", "tr0ub4"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains("1234") && shown.contains("app"), "{shown}");
        let revealed = groundstate(&[args, &["--reveal"]].concat()).clean();
        assert!(revealed.contains("hunter2") && revealed.contains("5678"), "{revealed}");
    }
    let json = groundstate(&["show", &file.path, "--json"]).clean();
    assert!(json.contains(r#""values":{"name":"app","password":null,"pins":["1234",null]}"#), "{json}");
    assert!(json.contains(r#""sensitive_values":{"password":true,"pins":[false,true]}"#), "{json}");
    assert!(json.contains(r#""o":{"sensitive":true,"value":null,"type":"string"}"#), "{json}");
}

#[test]
fn marks_tainted_and_deposed_objects() {
    let instances = r#"{"status": "tainted", "attributes": {"id": "new"}},
        {"deposed": "0000000a", "attributes": {"id": "old"}}"#;
    let file = state(with_resources(&resource("a", "b", instances)));
    insta::assert_snapshot!(groundstate(&["show", &file.path, "a.b"]).clean(), @r#"
    # a.b: (tainted)
    resource "a" "b" {
        id = "new"
    }

    # a.b: (deposed object 0000000a)
    resource "a" "b" {
        id = "old"
    }
    "#);
    let json = groundstate(&["show", &file.path, "a.b", "--json"]).clean();
    assert!(json.contains(r#""tainted":true}"#) && json.contains(r#""deposed_key":"0000000a"}"#), "{json}");
}

#[test]
fn shows_an_instance_that_has_only_a_deposed_object() {
    let file =
        state(with_resources(&resource("a", "b", r#"{"deposed": "0000000a", "attributes": {"id": "old"}}"#)));
    let shown = groundstate(&["show", &file.path, "a.b"]).clean();
    assert!(shown.starts_with("# a.b: (deposed object 0000000a)\n"), "{shown}");
    let json = groundstate(&["show", &file.path, "--json"]).clean();
    assert!(json.contains(r#""values":{"id":"old"}"#), "{json}");
}

#[test]
fn shows_the_values_of_dynamic_attributes_without_their_types() {
    let instance = r#"{"attributes": {"input": {"value": {"a": [1]}, "type": ["object", {"a": ["tuple", ["number"]]}]},
        "spec": {"type": "string", "value": "a map, since its members are sorted"}}}"#;
    let file = state(with_resources(&resource("a", "b", instance)));
    insta::assert_snapshot!(groundstate(&["show", &file.path, "a.b"]).clean(), @r#"
    # a.b:
    resource "a" "b" {
        input = {
            a = [
                1,
            ]
        }
        spec  = {
            type  = "string"
            value = "a map, since its members are sorted"
        }
    }
    "#);
}

#[test]
fn shows_flat_attributes_of_old_formats_as_they_are() {
    let json = groundstate(&["show", "webshop-v3.tfstate", "random_id.suffix", "--json"]).clean();
    assert!(json.contains(r#""values":{"b64_std":"fzo=","byte_length":"2""#), "{json}");
    let text = groundstate(&["show", "webshop-v3.tfstate", "random_id.suffix"]).clean();
    assert!(text.contains("    byte_length = \"2\"\n"), "{text}");
}

#[test]
fn nests_modules_and_keeps_those_without_resources() {
    let inner = resource("a", "b", "{}").replacen('{', r#"{"module": "module.x.module.y[\"k\"]", "#, 1);
    let file = state(with_resources(&inner));
    let json = groundstate(&["show", &file.path, "--json"]).clean();
    let expected = concat!(
        r#""root_module":{"child_modules":[{"address":"module.x","child_modules":["#,
        r#"{"resources":[{"address":"module.x.module.y[\"k\"].a.b""#
    );
    assert!(json.contains(expected), "{json}");
}

#[test]
fn refuses_modules_that_nest_too_deep_for_a_document() {
    let path = vec!["module.m"; 300].join(".");
    let inner = resource("a", "b", "{}").replacen('{', &format!(r#"{{"module": "{path}", "#), 1);
    let file = state(with_resources(&inner));
    let message = groundstate(&["show", &file.path, "--json"]).failed(5);
    assert!(message.contains("too deep to show"), "{message}");
    assert!(groundstate(&["show", &file.path]).clean().contains("resource \"a\" \"b\" {"));
}

#[test]
fn says_little_of_states_that_hold_nothing() {
    let empty = state("");
    assert_eq!(groundstate(&["show", &empty.path, "--json"]).clean(), "{\"format_version\":\"1.0\"}\n");
    assert!(groundstate(&["show", &empty.path]).clean().ends_with("no state has been stored there yet\n"));
    let bare = state(with_resources(""));
    assert_eq!(groundstate(&["show", &bare.path, "--json"]).clean(), "{\"format_version\":\"1.0\"}\n");
}

#[test]
fn refuses_addresses_that_stand_for_nothing() {
    let message = groundstate(&["show", SHOP, "a.b"]).failed(7);
    assert!(message.contains("has no resource a.b"), "{message}");
    let empty = state("");
    groundstate(&["show", &empty.path, "a.b"]).failed(7);
    groundstate(&["show", SHOP, "a..b"]).failed(2);
}

#[test]
fn shows_attributes_that_nest_as_deep_as_a_file_may() {
    let deep = format!("{}{}", "[".repeat(9_000), "]".repeat(9_000));
    let file = state(with_resources(&resource("a", "b", &format!(r#"{{"attributes": {{"x": {deep}}}}}"#))));
    let json = groundstate(&["show", &file.path, "--json"]).clean();
    assert!(json.contains(&format!(r#""values":{{"x":{deep}}},"sensitive_values":{{"x":{deep}}}"#)));
    let text = groundstate(&["show", &file.path]).clean();
    assert!(text.lines().count() > 17_000);
    // Levels beyond all reason are not indented further: the text would be thousands of times the file.
    assert!(text.len() < 10_000_000, "{}", text.len());
}

#[test]
fn modules_without_instances_stand_in_the_document() {
    let husk = |module: &str| {
        resource("a", "b", "").replace("{\"mode\"", &format!("{{\"module\": \"{module}\", \"mode\""))
    };
    let filled = resource("a", "b", r#"{"attributes": {"id": "x"}}"#);
    let file = state(with_resources(
        &[filled, husk("module.e.module.f"), husk("module.m[1]"), husk("module.m[10]")].join(", "),
    ));
    let json = groundstate(&["show", &file.path, "--json"]).clean();
    let modules = r#""child_modules":[{"address":"module.e","child_modules":[{"address":"module.e.module.f"}]},{"address":"module.m[10]"},{"address":"module.m[1]"}]"#;
    assert!(json.contains(modules), "{json}");
    let json = groundstate(&["show", &file.path, "--json", "module.m[1]"]).clean();
    assert!(json.contains(r#""root_module":{"child_modules":[{"address":"module.m[1]"}]}"#), "{json}");
    let json = groundstate(&["show", &file.path, "--json", "a.b"]).clean();
    assert!(!json.contains("child_modules"), "{json}");
}

#[test]
fn identities_stand_where_each_product_puts_them() {
    let identity = r#""identity":{"id":"y"}"#;
    let version = r#""identity_schema_version":1"#;
    for (members, expected) in [
        (format!("{version},{identity}"), format!("{version},{identity}}}")),
        (format!("{identity},{version}"), format!("{identity},{version}}}")),
        (format!(r#"{identity},"skip_destroy":true"#), format!(r#"{{}},"skip_destroy":true,{identity}}}"#)),
    ] {
        let file = state(with_resources(&resource("a", "b", &format!(r#"{{"attributes":{{}},{members}}}"#))));
        let json = groundstate(&["show", &file.path, "--json"]).clean();
        assert!(json.contains(&expected), "{json}");
    }
}
