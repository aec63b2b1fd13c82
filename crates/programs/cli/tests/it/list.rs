//! `groundstate list`.

use super::support::{groundstate, groundstate_with, resource, state, with_resources};

const SHOP: &str = "webshop-v4-terraform.tfstate";

#[test]
fn lists_every_instance_in_the_order_of_terraform() {
    insta::assert_snapshot!(groundstate(&["list", SHOP]).clean());
}

#[test]
fn lists_every_format() {
    for version in ["v1", "v2", "v3", "v4-opentofu"] {
        let listed = groundstate(&["list", &format!("webshop-{version}.tfstate")]).clean();
        assert!(listed.lines().any(|line| line == "aws_s3_bucket.assets"), "{version}: {listed}");
    }
}

#[test]
fn lists_what_addresses_stand_for_in_their_order() {
    let listed =
        groundstate(&["list", SHOP, "random_id.suffix", "module.network", "random_id.suffix"]).clean();
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!((lines.first(), lines.last()), (Some(&"random_id.suffix"), Some(&"random_id.suffix")));
    assert!(
        lines.len() > 3 && lines[1..lines.len() - 1].iter().all(|line| line.starts_with("module.network."))
    );
}

#[test]
fn takes_a_module_without_key_for_all_its_instances() {
    let all = groundstate(&["list", SHOP]).clean();
    let keyed = all.lines().find(|line| line.starts_with("module.") && line.contains("[\"")).unwrap();
    let name = &keyed[..keyed.find('[').unwrap()];
    let listed = groundstate(&["list", SHOP, name]).clean();
    let expected: Vec<&str> = all.lines().filter(|line| line.starts_with(&format!("{name}["))).collect();
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn does_not_confuse_modules_whose_names_begin_alike() {
    let inside =
        |module: &str| resource("a", "b", "{}").replacen('{', &format!("{{\"module\": \"{module}\", "), 1);
    let file = state(with_resources(&[inside("module.foo"), inside("module.foobar")].join(", ")));
    assert_eq!(groundstate(&["list", &file.path, "module.foo"]).clean(), "module.foo.a.b\n");
}

#[test]
fn lists_nothing_when_one_address_is_unknown() {
    for (address, what) in [
        ("aws_instance.nope", "resource aws_instance.nope"),
        ("random_id.suffix[3]", "resource instance random_id.suffix[3]"),
        ("module.nope", "module module.nope"),
    ] {
        let message = groundstate(&["list", SHOP, "random_id.suffix", address]).failed(7);
        assert!(message.starts_with(&format!("error: {SHOP} has no {what}\n")), "{message}");
    }
}

#[test]
fn knows_resources_without_instances() {
    let file = state(with_resources(&resource("a", "b", "")));
    assert_eq!(groundstate(&["list", &file.path, "a.b"]).clean(), "");
    assert_eq!(groundstate(&["list", &file.path]).clean(), "");
}

#[test]
fn explains_addresses_that_are_none() {
    let message = groundstate(&["list", SHOP, "aws_instance.web[key]"]).failed(2);
    assert!(message.contains("quote the address for the shell"), "{message}");
    let message = groundstate(&["list", SHOP, "aws_instance"]).failed(2);
    assert!(message.contains("`aws_instance`"), "{message}");
}

#[test]
fn filters_by_the_id_of_the_current_object() {
    let instances = r#"{"index_key": 0, "attributes": {"id": "x"}}, {"index_key": 1, "attributes": {"id": "y"}},
        {"index_key": 2, "deposed": "00000001", "attributes": {"id": "x"}}"#;
    let file = state(with_resources(&resource("a", "b", instances)));
    assert_eq!(groundstate(&["list", &file.path, "--id", "x"]).clean(), "a.b[0]\n");
    assert_eq!(groundstate(&["list", &file.path, "a.b[1]", "--id=x"]).clean(), "");
    assert_eq!(groundstate(&["list", &file.path, "--id", "nope"]).clean(), "");
    let old = groundstate(&["list", "webshop-v3.tfstate", "--id", "fzo"]).clean();
    assert_eq!(old, "random_id.suffix\n");
}

#[test]
fn prints_json_with_escaped_keys() {
    let file = state(with_resources(&resource("a", "b", r#"{"index_key": "<\"x\">"}"#)));
    insta::assert_snapshot!(
        groundstate(&["list", &file.path, "--json"]).clean(),
        @r#"{"format_version":"1.0","instances":["a.b[\"\u003c\\\"x\\\"\u003e\"]"]}"#
    );
}

#[test]
fn sorts_integers_by_value_before_strings() {
    let keys = ["10", "\"b\"", "9", "\"a\"", "2"].map(|key| format!("{{\"index_key\": {key}}}"));
    let file = state(with_resources(&resource("a", "b", &keys.join(", "))));
    let listed = groundstate(&["list", &file.path]).clean();
    assert_eq!(listed, "a.b[2]\na.b[9]\na.b[10]\na.b[\"a\"]\na.b[\"b\"]\n");
}

#[test]
fn reads_large_files_in_parts_and_gives_the_same_list() {
    let attributes = format!(r#""attributes": {{"text": "{}"}}"#, "x".repeat(1000));
    let resources: Vec<String> = (0..12_000)
        .map(|n| {
            let instances = format!("{{\"index_key\": 0, {attributes}}}");
            format!("\n    {{\n      {}", resource("a", &format!("n{n:05}"), &instances).split_at(1).1)
        })
        .collect();
    let usual = with_resources(&resources.join(",")).replacen('{', "{\n  ", 1);
    assert!(usual.len() > 12 << 20);
    let expected: String = (0..12_000).map(|n| format!("a.n{n:05}[0]\n")).collect();
    let file = state(&usual);
    assert!(groundstate(&["list", &file.path]).clean() == expected);
    assert!(groundstate_with(&["list", "-"], usual.as_bytes()).clean() == expected);
    // Text that only looks like the beginning of a resource leads the threads astray, and must not matter.
    let bait = "\\n    {\\n      \\\"".repeat(100);
    let compact = usual.replace("\n    {\n      ", "{").replace(&"x".repeat(100), &bait);
    assert!(groundstate(&["list", &state(&compact).path]).clean() == expected);
    // A mistake near the end is found by every reader.
    let broken = usual.replace("\"n11999\"", "7");
    assert!(groundstate(&["list", &state(&broken).path]).failed(5).contains("GS0111"));
}
