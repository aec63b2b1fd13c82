//! Files that are no states, and addresses and names that are nearly right: one error, which says what to do.

use std::fs;

use super::support::{groundstate, groundstate_with, resource, state, with_resources, workspace};

#[test]
fn files_that_are_no_states_are_named_with_the_command_that_takes_them() {
    let shown = r#"{"format_version":"1.0","terraform_version":"1.11.4","values":{}}"#;
    let plan = fs::read_to_string(workspace().join("tests/fixtures/plans/replace.json")).unwrap();
    let lock = "# This file is maintained automatically by \"terraform init\".\nprovider \"x\" {\n}\n";
    for (text, what, hint) in [
        ("PK\u{3}\u{4} tfplan", "a plan archive", "terraform show -json FILE | groundstate order plan -"),
        (&*plan, "a plan as `terraform show -json` prints it", "groundstate order plan FILE"),
        (shown, "a state as `terraform show -json` prints it", "terraform state pull"),
        (r#"{"a":{"sensitive":false,"value":1}}"#, "a list of outputs", "groundstate outputs DIR --json"),
        ("resource \"a_b\" \"c\" {\n}\n", "a configuration", "groundstate list DIR"),
        ("region = \"eu\"\n", "a file with values of variables", "groundstate list DIR"),
        (lock, "a lock file", "groundstate list DIR"),
        (
            r#"{"version":3,"serial":1,"backend":{"type":"s3","config":{}}}"#,
            "what `terraform init` has recorded",
            "groundstate list DIR",
        ),
        ("name: shop\nruntime: nodejs\n", "a file with settings of a Pulumi project", "pulumi stack export"),
    ] {
        let file = state(text);
        for verb in
            [&["list"][..], &["show"], &["outputs"], &["pull"], &["rm", "a.b"], &["check"], &["salvage"]]
        {
            let args = [&verb[..1], &[file.path.as_str()], &verb[1..]].concat();
            let said = file.mask(&groundstate(&args).failed(4));
            assert!(said.starts_with(&format!("error: FILE is {what}")), "{verb:?} {text}: {said}");
            assert!(said.contains(hint) && said.lines().count() == 2, "{verb:?}: {said}");
        }
        // No verb locks, changes or replaces the file as if it were a state.
        let other = state(with_resources(&resource("a_b", "c", r#"{"attributes": {}}"#)));
        if what.starts_with("what ") {
            for args in [
                &["push", &file.path, &other.path, "--force", "--yes"][..],
                &["mv", &other.path, "a_b.c", "--to", &file.path],
                &["lock", &file.path, "--", "true"],
                &["undo", &file.path, "--from", &other.path],
            ] {
                let said = file.mask(&groundstate(args).failed(4));
                assert!(said.starts_with(&format!("error: FILE is {what}")), "{args:?}: {said}");
            }
            assert_eq!(fs::read_to_string(&file.path).unwrap(), text);
            assert_eq!(fs::read_dir(file.dir.path()).unwrap().count(), 1);
        }
        let asked = groundstate(&["order", "plan", &file.path]);
        if what.starts_with("a plan as") {
            assert_eq!(asked.code, 0, "{}", asked.stderr);
        } else if what == "a plan archive" {
            assert!(asked.failed(5).contains("this is a plan file"));
        } else {
            let said = file.mask(&asked.failed(4));
            assert!(said.starts_with(&format!("error: FILE is {what}")), "{said}");
            assert!(
                said.contains(if what.starts_with("what ") { hint } else { "show -json PLANFILE" }),
                "{said}"
            );
        }
    }
    let file = state(with_resources(""));
    let said = file.mask(&groundstate(&["order", "plan", &file.path]).failed(4));
    assert!(said.starts_with("error: FILE is a state, and not a plan\n"), "{said}");
    assert!(said.contains("`groundstate order destroy FILE`"), "{said}");
}

#[test]
fn scripts_and_providers_that_are_nearly_right_are_answered_with_what_was_meant() {
    let counted = r#"{"index_key": 0, "attributes": {}}"#;
    let resources =
        [resource("aws_instance", "web", counted), resource("aws_vpc", "main", r#"{"attributes": {}}"#)];
    let file = state(with_resources(&resources.join(", ")));
    let before = fs::read(&file.path).unwrap();
    let provider = "help: did you mean registry.terraform.io/hashicorp/test?\n";
    let others = "help: the providers in it are registry.terraform.io/hashicorp/test\n";
    for (from, expected) in [("hashicorp/tset", provider), ("acme/other-cloud", others)] {
        let said = groundstate(&["replace-provider", &file.path, from, "acme/test"]).failed(7);
        assert!(said.contains(expected), "{from}: {said}");
    }
    for (script, expected) in [
        ("rm aws_vpc.mian", "help: did you mean aws_vpc.main?\n"),
        ("mv aws_vpc.mian aws_vpc.x", "help: did you mean aws_vpc.main?\n"),
        ("taint aws_instance.web[3]", "help: its instances are 'aws_instance.web[0]'\n"),
        ("replace-provider hashicorp/tset acme/test", provider),
    ] {
        let said = groundstate_with(&["edit", &file.path, "--script", "-"], script.as_bytes()).failed(7);
        assert!(said.contains(expected) && said.contains("nothing was changed"), "{script}: {said}");
    }
    assert_eq!(fs::read(&file.path).unwrap(), before);
}

#[test]
fn a_truncated_state_names_the_command_that_recovers_it() {
    let resources =
        ["c", "d"].map(|name| resource("a_b", name, r#"{"schema_version": 0, "attributes": {}}"#));
    let text = with_resources(&resources.join(", "));
    let cut = &text[..text.len() - 20];
    let file = state(cut);
    let said = file.mask(&groundstate(&["list", &file.path]).failed(4));
    assert!(said.contains("`groundstate salvage FILE -o recovered.tfstate`"), "{said}");
    let said = groundstate_with(&["show", "-"], cut.as_bytes()).failed(4);
    assert!(said.contains("`groundstate salvage - -o recovered.tfstate`"), "{said}");
}

#[test]
fn what_is_nearly_right_is_proposed() {
    let counted = r#"{"index_key": 0, "attributes": {}}, {"index_key": 1, "attributes": {}}"#;
    let resources =
        [resource("aws_instance", "web", counted), resource("aws_vpc", "main", r#"{"attributes": {}}"#)];
    let text = with_resources(&resources.join(", "))
        .replace("\"outputs\": {}", r#""outputs": {"vpc_id": {"value": "v", "type": "string"}}"#);
    let file = state(text);
    let instances = "help: its instances are 'aws_instance.web[0]', 'aws_instance.web[1]'\n";
    for (args, expected) in [
        (&["taint", "aws_instance.web"][..], instances),
        (&["show", "aws_instance.web[7]"], instances),
        (&["taint", "aws_vpc.mian"], "help: did you mean aws_vpc.main?\n"),
        (&["show", "aws_vpc.man"], "help: did you mean aws_vpc.main?\n"),
        (&["list", "aws_vpc.man"], "help: did you mean aws_vpc.main?\n"),
        (&["rm", "aws_vpc.man"], "help: did you mean aws_vpc.main?\n"),
        (&["mv", "aws_vpc.man", "aws_vpc.other"], "help: did you mean aws_vpc.main?\n"),
        (&["order", "blast", "aws_vpc.man"], "help: did you mean aws_vpc.main?\n"),
        (&["outputs", "vpcid"], "help: did you mean vpc_id?\n"),
    ] {
        let at = if args[0] == "order" { 2 } else { 1 };
        let args = [&args[..at], &[file.path.as_str()], &args[at..]].concat();
        let said = groundstate(&args).failed(7);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    let dir = file.dir.path().to_str().unwrap();
    groundstate(&["workspaces", "new", dir, "staging"]).clean();
    let said = groundstate(&["workspaces", "delete", dir, "stagging"]);
    assert!(said.code != 0 && said.stderr.contains("did you mean staging?"), "{}", said.stderr);
}

#[test]
fn a_missing_file_is_told_before_an_address_is_judged() {
    for args in [
        &["list", "no.tfstate", "a["][..],
        &["show", "no.tfstate", "a["],
        &["mv", "no.tfstate", "a[", "b"],
        &["rm", "no.tfstate", "a["],
        &["taint", "no.tfstate", "a["],
        &["protect", "no.tfstate", "urn:"],
        &["order", "why", "no.tfstate", "a[", "b"],
        &["order", "blast", "no.tfstate", "a["],
        &["edit", "no.tfstate", "--script", "no.txt"],
    ] {
        let said = groundstate(args).failed(3);
        assert!(said.starts_with("error: no.tfstate does not exist\n"), "{args:?}: {said}");
    }
}
