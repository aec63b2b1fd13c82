//! `groundstate upgrade`.

use std::fs;

use super::support::{groundstate, resource, state, with_resources, workspace};

#[test]
fn writes_version_4_of_every_version() {
    for version in ["v1", "v2", "v3", "v4-terraform", "v4-opentofu"] {
        let name = format!("webshop-{version}.tfstate");
        let run = groundstate(&["upgrade", &name]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.starts_with("{\n  \"version\": 4,\n"), "{}", run.stdout);
        let again = state(&run.stdout);
        assert_eq!(groundstate(&["upgrade", &again.path]).clean(), run.stdout);
    }
}

#[test]
fn gives_canonical_files_back_byte_for_byte() {
    for version in ["v4-terraform", "v4-opentofu"] {
        let name = format!("webshop-{version}.tfstate");
        let text = fs::read_to_string(workspace().join("tests/fixtures/states").join(&name)).unwrap();
        assert_eq!(groundstate(&["upgrade", &name]).clean(), text);
    }
}

#[test]
fn notes_on_standard_error_what_it_left_out() {
    let v3 = r#"{"version": 3, "terraform_version": "0.11.14", "serial": 1, "lineage": "l", "modules": [
  {"path": ["root"], "outputs": {}, "depends_on": [], "resources": {
    "a_b.c": {"type": "a_b", "provider": "provider.a",
      "depends_on": ["a_b.d"],
      "primary": {"id": "i", "attributes": {"id": "i"}, "meta": {}, "tainted": false}, "deposed": []}}}]}"#;
    let file = state(v3);
    let run = groundstate(&["upgrade", &file.path]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(file.mask(&run.stderr));
}

#[test]
fn replaces_a_file_or_leaves_it_alone() {
    let out = state("old");
    assert_eq!(groundstate(&["upgrade", "webshop-v4-opentofu.tfstate", "-o", &out.path]).clean(), "");
    let expected = fs::read(workspace().join("tests/fixtures/states/webshop-v4-opentofu.tfstate")).unwrap();
    assert_eq!(fs::read(&out.path).unwrap(), expected);

    groundstate(&["upgrade", &state("{}").path, "-o", &out.path]).failed(4);
    groundstate(&["upgrade", "webshop-v4-opentofu.tfstate", "--dialect=terraform", "-o", &out.path])
        .failed(6);
    assert_eq!(fs::read(&out.path).unwrap(), expected);
    assert_eq!(fs::read_dir(out.dir.path()).unwrap().count(), 1);

    let missing = out.dir.path().join("no/such/dir");
    let message = groundstate(&["upgrade", "webshop-v1.tfstate", "-o", missing.to_str().unwrap()]);
    assert_eq!(message.code, 3);
    assert!(message.stderr.contains("cannot write"), "{}", message.stderr);
}

#[test]
fn writes_to_standard_output_by_each_of_its_names() {
    let plain = groundstate(&["upgrade", "webshop-v4-terraform.tfstate"]).clean();
    assert_eq!(groundstate(&["upgrade", "webshop-v4-terraform.tfstate", "-o", "-"]).clean(), plain);
    #[cfg(unix)]
    assert_eq!(groundstate(&["upgrade", "webshop-v4-terraform.tfstate", "-o", "/dev/stdout"]).clean(), plain);
}

#[test]
fn upgrades_a_file_in_place() {
    let file = state(with_resources(&resource("a", "b", "{}")));
    let run = groundstate(&["upgrade", &file.path, "--output", &file.path]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("the state before is backup 1"), "{}", run.stderr);
    assert!(fs::read_to_string(&file.path).unwrap().starts_with("{\n  \"version\": 4,"));
}

#[test]
fn keeps_the_dialect_of_the_file_and_lists_what_the_other_would_drop() {
    let message =
        groundstate(&["upgrade", "webshop-v4-opentofu.tfstate", "--dialect", "terraform"]).failed(6);
    insta::assert_snapshot!(message);
    let run = groundstate(&["upgrade", "webshop-v4-opentofu.tfstate", "--dialect", "terraform", "--lossy"]);
    assert_eq!(run.code, 0);
    assert!(!run.stdout.contains("skip_destroy") && run.stderr.contains("warning: Terraform drops: "));
    let same = groundstate(&["upgrade", "webshop-v4-opentofu.tfstate", "--dialect", "opentofu"]).clean();
    assert_eq!(same, groundstate(&["upgrade", "webshop-v4-opentofu.tfstate"]).clean());
}

#[test]
fn keeps_the_version_of_the_writer() {
    let text = groundstate(&["upgrade", "webshop-v3.tfstate"]).stdout;
    assert!(text.contains("\"terraform_version\": \"0.11.14\""), "{text}");
}

#[test]
fn refuses_to_lose_what_it_cannot_keep() {
    let twice =
        r#""outputs": {"o": {"value": "1", "type": "string"}, "o": {"value": "2", "type": "string"}}"#;
    let file = state(with_resources("").replace("\"outputs\": {}", twice));
    let message = groundstate(&["upgrade", &file.path]);
    assert_eq!((message.code, &*message.stdout), (6, ""));
    assert!(message.stderr.contains("so nothing was written"), "{}", message.stderr);
    let run = groundstate(&["upgrade", &file.path, "--lossy"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("warning: lost: "), "{}", run.stderr);
}

/// A state of format 3 with a resource of this provider.
fn v3() -> &'static str {
    r#"{"version": 3, "terraform_version": "0.11.14", "serial": 1, "lineage": "l", "modules": [
  {"path": ["root"], "outputs": {}, "depends_on": [], "resources": {
    "null_resource.c": {"type": "null_resource", "provider": "provider.null", "depends_on": [],
      "primary": {"id": "i", "attributes": {"id": "i"}, "meta": {}, "tainted": false}, "deposed": []}}}]}"#
}

#[test]
fn an_old_state_is_upgraded_for_the_product_that_is_named() {
    let file = state(v3());
    for (product, host) in [("terraform", "registry.terraform.io"), ("opentofu", "registry.opentofu.org")] {
        let text = groundstate(&["upgrade", &file.path, "--dialect", product]).clean();
        assert!(text.contains(&format!("provider[\\\"{host}/-/null\\\"]")), "{text}");
    }
}

#[test]
fn resources_that_the_named_product_drops_are_refused() {
    let tofu = resource("a", "b", "{}").replace("registry.terraform.io/hashicorp", "registry.opentofu.org/-");
    let file = state(with_resources(&tofu));
    let message = groundstate(&["upgrade", &file.path, "--dialect", "terraform"]).failed(6);
    assert!(message.contains("a.b, because Terraform cannot read its provider"), "{message}");
    groundstate(&["upgrade", &file.path, "--dialect", "opentofu"]).clean();
    let run = groundstate(&["upgrade", &file.path, "--dialect", "terraform", "--lossy"]);
    assert!(run.code == 0 && run.stderr.contains("Terraform drops"), "{}", run.stderr);
    let run = groundstate(&["check", &file.path]);
    assert!(run.stdout.contains("GS0082"), "{}", run.stdout);
}

#[test]
fn addresses_without_a_registry_are_written_out_for_a_product_only() {
    let short = resource("a", "b", "{}").replace("registry.terraform.io/", "");
    let file = state(with_resources(&short));
    let text = groundstate(&["upgrade", &file.path]).clean();
    assert!(text.contains(r#""provider[\"hashicorp/test\"]""#), "{text}");
    for (product, host) in [("terraform", "registry.terraform.io"), ("opentofu", "registry.opentofu.org")] {
        let text = groundstate(&["upgrade", &file.path, "--dialect", product]).clean();
        assert!(text.contains(&format!("provider[\\\"{host}/hashicorp/test\\\"]")), "{text}");
    }
}
