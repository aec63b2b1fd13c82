//! `groundstate order`: orders of destruction, pictures, and answers.

use super::support::{groundstate, groundstate_with, resource, state, with_resources, workspace};
use super::surgery::webshop;

const VPC: &str = "module.network.aws_vpc.main";
const PUBLIC: &str = "module.network.aws_subnet.public[\"eu-central-1a\"]";

#[test]
fn lists_operations_with_what_they_come_after() {
    insta::assert_snapshot!(groundstate(&["order", "destroy", &webshop().path]).clean());
}

#[test]
fn shows_what_can_go_at_the_same_time() {
    insta::assert_snapshot!(groundstate(&["order", "waves", &webshop().path]).clean());
}

#[test]
fn draws_graphs() {
    let file = webshop();
    let draw = |format: &str| groundstate(&["order", "destroy", &file.path, "--format", format]).clean();
    insta::assert_snapshot!("order_dot", draw("dot"));
    insta::assert_snapshot!("order_mermaid", draw("mermaid"));
    insta::assert_snapshot!("order_svg", draw("svg"));
    let json: serde_json::Value = serde_json::from_str(&draw("json")).unwrap();
    assert_eq!(json["order"].as_array().unwrap().len(), 21);
    assert_eq!(json["waves"].as_array().unwrap().len(), 4);
}

#[test]
fn keeps_edges_that_follow_from_others_if_asked() {
    let file = webshop();
    let edges = |args: &[&str]| {
        let args = [&["order", "destroy", &file.path, "-f", "json"], args].concat();
        let json: serde_json::Value = serde_json::from_str(&groundstate(&args).clean()).unwrap();
        json["edges"].as_array().unwrap().len()
    };
    assert!(edges(&["--all-edges"]) > edges(&[]));
}

#[test]
fn writes_a_picture_into_a_file() {
    let file = webshop();
    let out = file.dir.path().join("order.dot");
    let out = out.to_str().unwrap();
    assert_eq!(groundstate(&["order", "destroy", &file.path, "-f", "dot", "-o", out]).clean(), "");
    let expected = groundstate(&["order", "destroy", &file.path, "-f", "dot"]).clean();
    assert_eq!(std::fs::read_to_string(out).unwrap(), expected);
}

/// Who destroys a network destroys what is in it; who keeps a server keeps what it stands on.
#[test]
fn targets_bring_what_they_wait_for_and_excludes_keep_what_waits() {
    let file = webshop();
    let listed = |args: &[&str]| {
        let text = groundstate(&[&["order", "waves", &file.path], args].concat()).clean();
        let lines = text.lines().filter_map(|line| line.strip_prefix("  "));
        lines.map(|line| line.split(" (destroy").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let targeted = listed(&["--target", "module.network.aws_security_group.web"]);
    assert_eq!(targeted.len(), 6);
    assert!(
        targeted.iter().any(|label| label == "module.store[\"uk\"].aws_route53_record.shop"),
        "{targeted:?}"
    );
    let kept = listed(&["--exclude", "module.store[\"uk\"].aws_instance.web[0]"]);
    assert!(!kept.iter().any(|label| label == VPC), "{kept:?}");
    assert!(kept.iter().any(|label| label == "module.store[\"uk\"].aws_route53_record.shop"), "{kept:?}");

    groundstate(&["order", "waves", &file.path, "--target", VPC, "--exclude", VPC]).failed(2);
    let message = groundstate(&["order", "destroy", &file.path, "--target", "no.such"]).failed(7);
    assert!(message.contains("no resource no.such"), "{message}");
}

#[test]
fn says_why_one_waits_for_another() {
    let file = webshop();
    let why = |a: &str, b: &str| groundstate(&["order", "why", &file.path, a, b]).clean();
    let record = "module.store[\"uk\"].aws_route53_record.shop";
    insta::assert_snapshot!(
        "order_why",
        [why(VPC, record), why(record, VPC), why(PUBLIC, record)].join("\n")
    );
    let text = groundstate(&["order", "why", &file.path, VPC, record, "--json"]).clean();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["relation"], "waits");
    assert_eq!(json["steps"][0]["reasons"][0], "stored-destroy");

    // A resource without a key stands for its instances, a module for everything in it.
    let web = "module.store[\"de\"].aws_instance.web";
    let text = why(VPC, web);
    assert!(text.contains("module.store[\"de\"].aws_instance.web[0] depends on"), "{text}");
    assert_eq!(why("module.network", web).lines().count(), 1, "the nearest pair");
    assert!(why("module.store", "module.network").contains(" does not wait for "));
    let message = groundstate(&["order", "why", &file.path, "module.network", VPC]).failed(2);
    assert!(message.contains("both stand for") && message.contains(VPC), "{message}");
    groundstate(&["order", "why", &file.path, VPC, "no.such"]).failed(7);
}

#[test]
fn says_what_goes_with_an_instance() {
    let file = webshop();
    let blast = |address: &str| groundstate(&["order", "blast", &file.path, address]).clean();
    insta::assert_snapshot!("order_blast", [blast(VPC), blast("module.network"), blast(PUBLIC)].join("\n"));
    let text = groundstate(&["order", "blast", &file.path, VPC, "--json"]).clean();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["affected"].as_array().unwrap().len(), 12);
    assert_eq!(json["affected"][0]["distance"], 1);
    groundstate(&["order", "blast", &file.path, "module.nowhere"]).failed(7);
}

/// The longest line of what is shown, and of nothing else, decides the size; groups, siblings and a legend are drawn.
#[test]
fn pictures_are_not_wider_than_they_have_to_be() {
    let resources: Vec<String> = (0..170)
        .map(|at| {
            let on = if at == 0 { String::new() } else { "\"t.r0\"".to_owned() };
            let object = format!("{{\"attributes\": {{}}, \"schema_version\": 0, \"dependencies\": [{on}]}}");
            resource("t", &format!("r{at}"), &object)
        })
        .collect();
    let file = state(with_resources(&resources.join(",")));
    let svg = groundstate(&["order", "destroy", &file.path, "-f", "svg"]).clean();
    let number = |name: &str| -> f64 {
        let rest = svg.split_once(&format!("{name}=\"")).unwrap().1;
        rest.split('"').next().unwrap().parse().unwrap()
    };
    assert!(
        number("width") < 2_400.0 && number("height") < 3_000.0,
        "{} × {}",
        number("width"),
        number("height")
    );
    assert_eq!(svg.matches("<title>").count(), 170);
    assert!(svg.contains("prefers-color-scheme: dark") && svg.contains(">destroy</text>"));

    let webshop = groundstate(&["order", "destroy", &webshop().path, "-f", "svg"]).clean();
    assert!(webshop.contains(">module.store[\"de\"]</text>") && webshop.contains(">web ×2</text>"));
    let graph = groundstate(&["graph", &file.path, "--format", "svg"]).clean();
    assert_eq!(graph.matches("<title>").count(), 170);
}

/// It would be unreadable.
#[test]
fn refuses_pictures_of_large_graphs() {
    let resources: Vec<String> =
        (0..3_001).map(|at| resource("t", &format!("r{at}"), "{\"attributes\": {}}")).collect();
    let file = state(with_resources(&resources.join(",")));
    let message = groundstate(&["order", "destroy", &file.path, "-f", "svg"]).failed(2);
    assert!(message.contains("3001 nodes") && message.contains("--target"), "{message}");
    groundstate(&["order", "destroy", &file.path, "-f", "svg", "--target", "t.r0"]).clean();
}

/// Each line as cheap as the others: a chain, and groups of which each pair is an edge.
#[test]
fn lists_orders_of_large_states() {
    let object =
        |on: &str| format!("{{\"attributes\": {{}}, \"schema_version\": 0, \"dependencies\": [{on}]}}");
    let chain: Vec<String> = (0..20_000)
        .map(|at| resource("t", &format!("r{at}"), &object(&format!("\"t.r{}\"", at + 1))))
        .collect();
    let file = state(with_resources(&chain.join(",")));
    let text = groundstate(&["order", "destroy", &file.path]).clean();
    assert!(text.contains("\n20000. t.r19999 (destroy)  after 19999\n"), "the chain is not in order");

    let counted = |on: &str| {
        let instances: Vec<String> =
            (0..4_000).map(|at| object(on).replacen('{', &format!("{{\"index_key\": {at}, "), 1)).collect();
        instances.join(",")
    };
    let groups = [resource("t", "a", &counted("")), resource("t", "b", &counted("\"t.a\""))];
    let file = state(with_resources(&groups.join(",")));
    let text = groundstate(&["order", "destroy", &file.path]).clean();
    assert!(text.contains("\n8000. t.a[3999] (destroy)  in wave 2\n\n8000 operations in 2 waves.\n"));
    // Each pair would be an edge; a group stands for all of them, so that the text grows with the state.
    let json: serde_json::Value =
        serde_json::from_str(&groundstate(&["order", "destroy", &file.path, "-f", "json"]).clean()).unwrap();
    assert_eq!(json["groups"].as_array().unwrap().len(), 1);
    assert_eq!(json["edges"].as_array().unwrap().len(), 8_000);
    for format in ["json", "dot", "mermaid"] {
        let text = groundstate(&["order", "destroy", &file.path, "-f", format]).clean();
        let input = std::fs::metadata(&file.path).unwrap().len() as usize;
        assert!(text.len() < 12 * input, "{format}: {} of {input}", text.len());
    }
    let message = groundstate(&["order", "destroy", &file.path, "-f", "svg"]).failed(2);
    assert!(message.contains("8001 nodes") && message.contains("--target"), "{message}");
}

/// A state that records a cycle has no order, but it can be looked at.
#[test]
fn draws_cycles_and_fails() {
    let instance =
        |on: &str| format!("{{\"attributes\": {{}}, \"schema_version\": 0, \"dependencies\": [\"{on}\"]}}");
    let resources = [resource("t", "a", &instance("t.b")), resource("t", "b", &instance("t.a"))];
    let file = state(with_resources(&resources.join(",")));
    let message = groundstate(&["order", "destroy", &file.path]).failed(5);
    insta::assert_snapshot!(file.mask(&message));
    let run = groundstate(&["order", "destroy", &file.path, "-f", "dot"]);
    assert!(run.code == 5 && run.stdout.contains("->") && run.stderr.contains("Cycle"), "{run:?}");
}

/// The command that is printed breaks the cycle; what lies outside of it is answered before.
#[test]
fn cycles_are_broken_by_the_command_that_is_printed() {
    let on =
        |list: &str| format!("{{\"attributes\": {{}}, \"schema_version\": 0, \"dependencies\": [{list}]}}");
    let resources = [
        resource("t", "a", &on("\"t.b\"")),
        resource("t", "b", &on("\"t.a\", \"t.net\"")),
        resource("t", "net", &on("")),
        resource("t", "vm", &on("\"t.net\"")),
        resource("t", "dns", &on("\"t.net\", \"t.vm\"")),
    ];
    let file = state(with_resources(&resources.join(",")));
    let why = |a: &str, b: &str| groundstate(&["order", "why", &file.path, a, b]);
    let outside = why("t.vm", "t.dns");
    assert!(
        outside.code == 0 && outside.stdout.contains("t.vm (destroy) waits for t.dns (destroy)"),
        "{outside:?}"
    );
    assert!(outside.stderr.contains("warning: operations in a dependency cycle are left out"), "{outside:?}");
    let inside = why("t.net", "t.a");
    assert!(inside.code == 5 && inside.stdout.contains("waits for"), "{inside:?}");
    let beside = groundstate(&["order", "blast", &file.path, "t.vm"]);
    assert!(beside.code == 0 && beside.stdout.contains("t.dns (destroy)"), "{beside:?}");
    let behind = groundstate(&["order", "blast", &file.path, "t.net"]);
    assert!(behind.code == 5 && behind.stdout.contains("4 objects have to go before t.net"), "{behind:?}");

    let message = groundstate(&["order", "destroy", &file.path]).failed(5);
    assert!(
        message.contains("help: `rm-dependency` removes a dependency that the objects may really have"),
        "{message}"
    );
    let hint = message.lines().find(|line| line.contains("rm-dependency")).expect("an edit is printed");
    let line = hint.split('\'').find(|word| word.starts_with("rm-dependency")).unwrap();
    groundstate_with(&["edit", &file.path, "--script", "-"], line.as_bytes()).clean();
    let order = groundstate(&["order", "destroy", &file.path]).clean();
    assert!(order.contains("5 operations in 3 waves."), "{order}");
}

#[test]
fn a_state_without_objects_has_nothing_to_order() {
    let file = state(with_resources(""));
    assert_eq!(groundstate(&["order", "destroy", &file.path]).clean(), "Nothing to do.\n");
    assert_eq!(groundstate(&["order", "waves", &file.path]).clean(), "Nothing to do.\n");
    groundstate(&["order", "destroy", &state("{").path]).failed(4);
}

/// What Terraform 1.11.4 printed of a plan with replacements in both orders, and of one that destroys.
fn plan(name: &str) -> String {
    workspace().join("tests/fixtures/plans").join(name).to_str().unwrap().to_owned()
}

#[test]
fn orders_the_changes_of_a_plan() {
    insta::assert_snapshot!("order_plan", groundstate(&["order", "plan", &plan("replace.json")]).clean());
    let waves = groundstate(&["order", "waves", &plan("destroy.json")]).clean();
    insta::assert_snapshot!("order_waves_of_a_plan", waves);
    let why = groundstate(&[
        "order",
        "why",
        &plan("replace.json"),
        "terraform_data.network",
        "module.shop[0].terraform_data.listener",
    ]);
    insta::assert_snapshot!("order_why_in_a_plan", why.clean());
    let shop =
        groundstate(&["order", "plan", &plan("replace.json"), "--exclude", "terraform_data.certificate"]);
    assert!(!shop.clean().contains("certificate"));
}

#[test]
fn tells_plans_from_states_and_from_neither() {
    let text = std::fs::read(plan("replace.json")).unwrap();
    assert_eq!(
        groundstate_with(&["order", "waves", "-"], &text).clean(),
        groundstate(&["order", "waves", &plan("replace.json")]).clean()
    );
    let message = groundstate(&["order", "plan", &webshop().path]).failed(4);
    assert!(message.contains("terraform show -json"), "{message}");
    groundstate(&["order", "destroy", &plan("replace.json")]).failed(4);
    groundstate_with(&["order", "waves", "-"], b"{}").failed(4);
    groundstate_with(&["order", "plan", "-"], &text[..text.len() / 2]).failed(4);
    let future =
        String::from_utf8(text).unwrap().replace("\"format_version\":\"1.", "\"format_version\":\"7.");
    let message = groundstate_with(&["order", "waves", "-"], future.as_bytes()).failed(5);
    assert!(message.contains("format 7."), "{message}");
    let message = groundstate(&["order", "plan", &plan("replace.json"), "--target", "no.such"]).failed(7);
    assert!(message.contains("has no no.such"), "{message}");
}
