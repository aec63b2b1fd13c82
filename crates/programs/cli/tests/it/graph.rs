//! `groundstate graph`.

use std::fs;

use super::support::{groundstate, resource, state, with_resources, workspace};

fn pulumi() -> String {
    workspace().join("tests/fixtures/pulumi/states/export-pretty.json").to_str().unwrap().to_owned()
}

#[test]
fn draws_the_dependencies_that_a_state_records() {
    let draw = |format: &str| groundstate(&["graph", "webshop-v4-terraform.tfstate", "-f", format]).clean();
    insta::assert_snapshot!("terraform_dot", draw("dot"));
    insta::assert_snapshot!("terraform_mermaid", draw("mermaid"));
    let json: serde_json::Value = serde_json::from_str(&draw("json")).unwrap();
    let name = |edge: &serde_json::Value, end: &str| {
        json["nodes"][edge[end].as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned()
    };
    let edges: Vec<_> =
        json["edges"].as_array().unwrap().iter().map(|e| (name(e, "from"), name(e, "to"))).collect();
    assert!(
        edges.contains(&(
            "module.network.aws_subnet.public".to_owned(),
            "module.network.aws_vpc.main".to_owned()
        )),
        "{edges:?}"
    );
    assert!(draw("svg").starts_with("<svg"));
}

#[test]
fn draws_components_around_what_belongs_to_them() {
    let draw = |format: &str| groundstate(&["graph", &pulumi(), "-f", format]).clean();
    insta::assert_snapshot!("pulumi_dot", draw("dot"));
    insta::assert_snapshot!("pulumi_mermaid", draw("mermaid"));
    let json: serde_json::Value = serde_json::from_str(&draw("json")).unwrap();
    let edges = json["edges"].as_array().unwrap();
    for kind in ["parent", "dependency", "property", "provider", "deleted_with"] {
        assert!(edges.iter().any(|edge| edge["kind"] == kind), "{kind}");
    }
}

#[test]
fn shows_what_is_named_and_not_there() {
    let file =
        state(with_resources(&resource("a", "b", r#"{"attributes": {}, "dependencies": ["a.gone"]}"#)));
    let dot = groundstate(&["graph", &file.path]).clean();
    assert!(dot.contains("a.gone\\n(missing)") && dot.contains("n0 -> n1;"), "{dot}");
    let broken = workspace().join("tests/fixtures/pulumi/upgrade/v3-integrity-errors.json");
    let dot = groundstate(&["graph", broken.to_str().unwrap()]).clean();
    assert!(dot.contains("urn:pulumi:dev::shop::t:t:T::gone\\n(missing)"), "{dot}");
}

#[test]
fn writes_into_a_file() {
    let file = state("old");
    groundstate(&["graph", &pulumi(), "-o", &file.path]).clean();
    assert_eq!(fs::read_to_string(&file.path).unwrap(), groundstate(&["graph", &pulumi()]).clean());
    groundstate(&["graph", &state("{}").path]).failed(4);
    groundstate(&["graph", "webshop-v4-terraform.tfstate", "-f", "png"]).failed(2);
}
