//! `groundstate order` on Pulumi deployments.

use std::fs;

use super::support::{TempState, groundstate, groundstate_with, state, workspace};

const HANDLER: &str = "urn:pulumi:dev::shop::shop:index:Web$aws:lambda/function:Function::handler";
const WEB: &str = "urn:pulumi:dev::shop::shop:index:Web::web";
const ASSETS: &str = "urn:pulumi:dev::shop::aws:s3/bucketV2:BucketV2::assets";

fn path(name: &str) -> String {
    let path = workspace().join("tests/fixtures/pulumi/states").join(name);
    path.to_str().unwrap().to_owned()
}

fn export() -> String {
    path("export-pretty.json")
}

/// What a run prints, with a warning on standard error or without.
fn printed(args: &[&str]) -> String {
    let run = groundstate(args);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

/// The fixture after a change of its text, with nothing protected.
fn changed(from: &str, to: &str) -> TempState {
    let text = fs::read_to_string(export()).unwrap().replace("\"protect\": true", "\"protect\": false");
    let changed = text.replace(from, to);
    assert_ne!(text, changed, "{from}");
    state(changed)
}

#[test]
fn lists_every_envelope_and_what_stays_for_what_is_protected() {
    let run = groundstate(&["order", "destroy", &export()]);
    insta::assert_snapshot!(run.stdout);
    let warnings = format!(
        "warning: {ASSETS} is protected and cannot be deleted\n\
         warning: 2 more stay, since what is protected needs them\n"
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, warnings.as_str()));
    assert_eq!(printed(&["order", "destroy", &path("checkpoint-compact.json")]), run.stdout);
    // There the bucket is a view of another resource, and goes with it.
    let views = groundstate(&["order", "destroy", &path("export-v4.json")]).clean();
    assert!(!views.contains(ASSETS) && views.ends_with("5 operations in 3 waves.\n"), "{views}");
    let input = fs::read(export()).unwrap();
    assert_eq!(groundstate_with(&["order", "destroy", "-"], &input).stdout, run.stdout);
    for name in ["checkpoint-new-stack.json", "export-never-updated.json"] {
        assert_eq!(groundstate(&["order", "destroy", &path(name)]).clean(), "Nothing to do.\n", "{name}");
    }
}

#[test]
fn shows_waves_and_draws() {
    let draw = |format: &str| printed(&["order", "destroy", &export(), "-f", format]);
    insta::assert_snapshot!("order_pulumi_waves", printed(&["order", "waves", &export()]));
    insta::assert_snapshot!("order_pulumi_dot", draw("dot"));
    insta::assert_snapshot!("order_pulumi_mermaid", draw("mermaid"));
    assert!(draw("svg").starts_with("<svg"));
    let json: serde_json::Value = serde_json::from_str(&draw("json")).unwrap();
    assert_eq!((json["order"].as_array().unwrap().len(), json["waves"].as_array().unwrap().len()), (6, 4));
    let path = export();
    let edges = |args: &[&str]| {
        let args = [&["order", "destroy", &path, "-f", "json"], args].concat();
        let json: serde_json::Value = serde_json::from_str(&printed(&args)).unwrap();
        json["edges"].as_array().unwrap().len()
    };
    assert!(edges(&["--all-edges"]) > edges(&[]));
}

#[test]
fn selects_by_urn_name_and_wildcard() {
    let path = export();
    for (args, expected) in [
        (["--target", WEB], 3),
        (["--target", "web"], 3),
        (["--target", "**::handler"], 2),
        (["--target", "urn:pulumi:dev::shop::aws:*:*::*"], 4),
        (["--exclude", "web"], 2),
        (["--exclude", "**"], 0),
    ] {
        let args = [&["order", "destroy", &path, "-f", "json"], &args[..]].concat();
        let json: serde_json::Value = serde_json::from_str(&printed(&args)).unwrap();
        assert_eq!(json["order"].as_array().unwrap().len(), expected, "{args:?}");
    }
    let failure = groundstate(&["order", "destroy", &export(), "--target", "wep"]).failed(7);
    assert!(failure.contains("has no resource wep"), "{failure}");
    groundstate(&["order", "destroy", &export(), "--exclude", "**::missing*"]).failed(7);
    let twins = changed("Function::handler", "Function::web");
    let failure = groundstate(&["order", "destroy", &twins.path, "--target", "web"]).failed(2);
    assert!(failure.contains("2 resources are called web"), "{failure}");
}

#[test]
fn says_why_something_waits() {
    let why = |a: &str, b: &str| printed(&["order", "why", &export(), a, b]);
    let expected = format!(
        "{ASSETS} (protected) waits for {WEB} (remove): web depends on assets; web has its property bucket from assets\n\
         {WEB} (remove) waits for {HANDLER} (delete the old one): web is the parent of handler\n"
    );
    assert_eq!(why("assets", "handler"), expected);
    let expected = format!("{WEB} does not wait for {ASSETS}; {ASSETS} waits for {WEB}:\n");
    assert!(why("web", ASSETS).starts_with(&expected));
    assert!(why("default_6_0_2", "shop-dev").ends_with("they can go at the same time.\n"));
    let json = printed(&["order", "why", &export(), "shop-dev", "assets", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["relation"], &json["steps"][0]["reasons"][0]), (&"waits".into(), &"parent".into()));
    assert_eq!(
        json["steps"][0]["references"][0]["to"],
        "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"
    );
}

#[test]
fn says_what_goes_along() {
    let blast = printed(&["order", "blast", &export(), "web"]);
    let lines: Vec<&str> = blast.lines().collect();
    assert_eq!(lines[0], format!("{HANDLER} (delete the old one)  web is the parent of handler"));
    assert_eq!(lines.last(), Some(&&*format!("2 resources have to go before {WEB} can.")));
    let nothing = printed(&["order", "blast", &export(), "handler"]);
    assert_eq!(nothing, format!("Nothing else is destroyed with {HANDLER}.\n"));
    let json = printed(&["order", "blast", &export(), ASSETS, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let distances: Vec<u64> =
        json["affected"].as_array().unwrap().iter().map(|one| one["distance"].as_u64().unwrap()).collect();
    assert_eq!(distances, [1, 2, 2]);
}

#[test]
fn leads_from_damaged_deployments_to_check() {
    let damaged = changed(
        "\"parent\": \"urn:pulumi:dev::shop::shop:index:Web::web\"",
        "\"parent\": \"urn:pulumi:dev::shop::t::gone\"",
    );
    for command in [&["destroy"][..], &["waves"], &["blast", "web"], &["why", "web", "handler"]] {
        let args = [&["order", command[0], &damaged.path], &command[1..]].concat();
        let failure = groundstate(&args).failed(5);
        let damage = "GS0609 error: its parent urn:pulumi:dev::shop::t::gone is not there";
        assert!(failure.contains(damage) && failure.contains("at resources[4].parent"), "{failure}");
        assert!(failure.contains(&format!("`groundstate check {}`", damaged.path)), "{failure}");
    }
}

#[test]
fn draws_whole_groups_that_wait_for_whole_groups() {
    // All that belongs to the component waits for all that depends on it: more than ten million pairs.
    const EACH: usize = 3_200;
    let urn = |name: &str| format!("urn:pulumi:dev::shop::t:t:t::{name}");
    let resource = |name: String, rest: String| {
        format!(r#"{{"urn":"{}","custom":true,"id":"{name}","type":"t:t:t"{rest}}}"#, urn(&name))
    };
    let all = urn("all");
    let children = (0..EACH).map(|at| resource(format!("c{at}"), format!(r#","parent":"{all}""#)));
    let dependents = (0..EACH).map(|at| resource(format!("d{at}"), format!(r#","dependencies":["{all}"]"#)));
    let component = format!(r#"{{"urn":"{all}","custom":false,"type":"t:t:t"}}"#);
    let resources: Vec<String> = std::iter::once(component).chain(children).chain(dependents).collect();
    let manifest = r#"{"time":"2026-01-02T03:04:05Z","magic":"","version":""}"#;
    let text = format!(
        r#"{{"version":3,"deployment":{{"manifest":{manifest},"resources":[{}]}}}}"#,
        resources.join(",")
    );
    let file = state(text);
    let dot = printed(&["order", "destroy", &file.path, "-f", "dot"]);
    assert!(dot.contains("[shape=point"), "a point stands for the pairs");
    assert_eq!(
        dot.matches(" -> ").count(),
        3 * EACH,
        "two for each that depends or belongs, and the component's own"
    );
    let mermaid = printed(&["order", "destroy", &file.path, "-f", "mermaid"]);
    assert!(mermaid.contains("((\" \"))"));
}
