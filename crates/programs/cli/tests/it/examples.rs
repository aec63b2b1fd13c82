//! The examples at the end of each command's help, run as they stand.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use groundstate_testkit::{S3Locks, TestBackend};
use groundstate_wal::fs::FsJournal;
use serde_json::Value;

use super::help::{COMMANDS, help};
use super::journal::{base, entries, fill, lines};
use super::recover::interrupted;
use super::remote::Work;
use super::serve::Server;
use super::support::{Run, groundstate, shell, workspace};

/// A configuration that encrypts, and reads states in the clear.
const ENCRYPTION: &str = r#"
key_provider "pbkdf2" "main" {
  passphrase = "correct-horse-battery"
  iterations = 200000
}
method "aes_gcm" "main" {
  keys = key_provider.pbkdf2.main
}
method "unencrypted" "plain" {}
state {
  method = method.aes_gcm.main
  fallback {
    method = method.unencrypted.plain
  }
}
plan {
  method = method.aes_gcm.main
}
"#;

/// An empty plan archive, encrypted as the block `plan` of [`ENCRYPTION`] says.
const PLAN: &str = r#"{"meta":{"key_provider.pbkdf2.main":"eyJzYWx0IjoiQUFFQ0F3UUZCZ2NJQ1FvTERBME9EeEFSRWhNVUZSWVhHQmthR3h3ZEhoOD0iLCJpdGVyYXRpb25zIjoyMDAwMDAsImhhc2hfZnVuY3Rpb24iOiJzaGE1MTIiLCJrZXlfbGVuZ3RoIjozMn0="},"encrypted_data":"AAECAwQFBgcICQoL4iuiQqyaKMkA7R7cGhoKvvV+QEien91CPjxNlHXlACuV/PDb1Rs=","encryption_version":"v0"}"#;

/// A text that the passphrase of `stack.json` opens.
const CIPHERTEXT: &str = "v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==\n";

/// An update in the history of a stack.
const UPDATE: &str = r#"{"kind":"update","startTime":1700000000,"message":"Add a log","environment":{},"config":{},"version":0,
  "result":"succeeded","endTime":1700000060,"resourceChanges":{"create":1,"same":2}}"#;

/// The lines of a command's examples.
pub(crate) fn examples(command: &str) -> Vec<String> {
    let help = help(command);
    let (_, examples) =
        help.rsplit_once("Examples:\n").unwrap_or_else(|| panic!("{command} has no examples"));
    examples.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// What a run of the example ends with if all is well.
fn expected(command: &str) -> &'static [i32] {
    // They find something in these files.
    match command {
        "check" | "diff" | "salvage" => &[1],
        // A plan that is only shown is something that was found.
        "repair" => &[0, 1],
        _ => &[0],
    }
}

/// A Pulumi stack with a bucket, a log that is protected, and a queue that is being created.
fn stack(members_of_assets: &str) -> String {
    let urn = |kind: &str, name: &str| format!("urn:pulumi:dev::shop::{kind}::{name}");
    let root = urn("pulumi:pulumi:Stack", "shop-dev");
    let resource = |name: &str, members: &str| {
        let urn = urn("t:t:Bucket", name);
        format!(r#"{{"urn":"{urn}","custom":true,"type":"t:t:Bucket","parent":"{root}"{members}}}"#)
    };
    let queue = resource("queue", "");
    format!(
        r#"{{"version":3,"deployment":{{
  "manifest":{{"time":"2024-05-06T07:08:09Z","magic":"","version":""}},
  "secrets_providers":{{"type":"passphrase","state":{{"salt":"v1:fozI5u6B030=:{}"}}}},
  "resources":[{{"urn":"{root}","custom":false,"type":"pulumi:pulumi:Stack"}},
    {},{}],
  "pending_operations":[{{"resource":{queue},"type":"creating"}}],
  "metadata":{{}}}}}}
"#,
        CIPHERTEXT.trim_end(),
        resource("assets", &format!(r#","id":"assets-1"{members_of_assets}"#)),
        resource("logs", r#","id":"logs-1","protect":true"#),
    )
}

/// A working directory with all files that examples name.
pub(crate) fn prepare(dir: &Path) {
    let put = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
    let fixture = |name: &str| fs::read_to_string(workspace().join("tests/fixtures").join(name)).unwrap();
    let state = fixture("states/webshop-v4-terraform.tfstate");
    let at = |serial: u64, account: &str| {
        let text = state.replace("\"serial\": 87", &format!("\"serial\": {serial}"));
        text.replace("111122223333", account)
    };
    put("terraform.tfstate", &state);
    for older in ["terraform.tfstate.backup", "older.tfstate"] {
        put(older, &at(86, "444455556666"));
    }
    put("old.tfstate", &fixture("states/webshop-v3.tfstate"));
    put("new.tfstate", &at(88, "777788889999"));
    put("errored.tfstate", &at(88, "777788889999"));
    put("damaged.tfstate", &state[..state.len() / 2]);
    put("encryption.hcl", ENCRYPTION);
    put("tfplan", PLAN);
    put("states.txt", "# states\n.\nolder.tfstate\n");
    put("plan.json", &fixture("plans/replace.json"));
    put("moves.txt", "mv random_id.suffix random_id.name\nrm module.store\n");
    for (workspace, text) in [("empty", ""), ("old", state.as_str())] {
        fs::create_dir_all(dir.join("terraform.tfstate.d").join(workspace)).unwrap();
        if !text.is_empty() {
            put(&format!("terraform.tfstate.d/{workspace}/terraform.tfstate"), text);
        }
    }
    fs::create_dir(dir.join("new")).unwrap();
    put("stack.json", &stack(""));
    put("before.json", &stack(r#","inputs":{"acl":"private"}"#));
    let broken = stack(r#","dependencies":["urn:pulumi:dev::shop::t:t:Bucket::gone"]"#);
    let (before, pending) = broken.split_once("  \"pending_operations\"").unwrap();
    let (_, metadata) = pending.split_once('\n').unwrap();
    put("broken.json", &format!("{before}{metadata}"));
    let stacks = dir.join("bucket/.pulumi/stacks/shop");
    fs::create_dir_all(&stacks).unwrap();
    put("bucket/.pulumi/meta.yaml", "version: 1\n");
    let shop =
        stack("").replace("\"deployment\"", "\"checkpoint\":{\"stack\":\"organization/shop/dev\",\"latest\"");
    fs::write(stacks.join("dev.json"), format!("{}}}", shop.trim_end())).unwrap();
    let locks = dir.join("bucket/.pulumi/locks/organization/shop/held");
    fs::create_dir_all(&locks).unwrap();
    let lock = r#"{"pid":7,"username":"ana","hostname":"build","timestamp":"2026-01-01T00:00:00Z"}"#;
    fs::write(locks.join("2b6c1f4e-9c3d-4a53-8d0e-5f5c9a7e1b20.json"), lock).unwrap();
    fs::write(locks.join("3c7d1f4e-9c3d-4a53-8d0e-5f5c9a7e1b20.json"), "").unwrap();
    let empty = r#"{"version":0,"checkpoint":{"stack":"organization/shop/old"}}"#;
    for name in ["old.json", "old.json.bak"] {
        fs::write(stacks.join(name), empty).unwrap();
    }
    let history = dir.join("bucket/.pulumi/history/shop/dev");
    fs::create_dir_all(&history).unwrap();
    fs::write(history.join("dev-1700000000000000000.history.json"), UPDATE).unwrap();
    fs::copy(stacks.join("dev.json"), history.join("dev-1700000000000000000.checkpoint.json")).unwrap();
    fs::write(history.join("dev-1700000001000000000.history.json"), &UPDATE[..40]).unwrap();
    fs::copy(stacks.join("dev.json"), stacks.join("dev.json.bak")).unwrap();
    fs::create_dir(dir.join("other")).unwrap();
    fs::create_dir_all(dir.join("legacy/.pulumi/stacks")).unwrap();
    put("legacy/.pulumi/stacks/dev.json", &format!("{}}}", shop.trim_end()));
    put("legacy/.pulumi/stacks/empty.json", empty);
    put("server.toml", "store = \"server\"\n\n[limits]\nstate = \"64MiB\"\n");
    put("token.txt", "swordfish\n");
    put("ciphertext.txt", CIPHERTEXT);
    put("base.json", &base());
    put("journal.jsonl", &lines(&entries()));
    put("Pulumi.dev.yaml", &format!("encryptionsalt: v1:fozI5u6B030=:{CIPHERTEXT}"));
    fill(&FsJournal::new(dir.join("journal.d")), &base(), &entries());
    put("deploy.sh", "#!/bin/sh\ngroundstate locks .\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(dir.join("deploy.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Whether the command works on the store of a server.
pub(crate) fn is_of_server_store(command: &str) -> bool {
    ["token", "audit", "store"].iter().any(|name| command.starts_with(name))
}

/// The store of a server that has a token and an audit log.
pub(crate) fn prepare_server(dir: &Path) {
    let put = |name: &str, text: &str| {
        let path = dir.join("states").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("groundstate/layout.json", "{\"layout\":1}\n");
    let hash = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
    let (id, everything) = (&hash[..16], r#"[{"role":"read","project":"*","state":"*"}]"#);
    let token = format!(
        r#"{{"format":1,"id":"{id}","name":"ci","sha256":"{hash}","grants":{everything},"created":"2026-01-01T00:00:00Z","created_by":"user:ana@build"}}"#
    );
    put(&format!("auth/tokens/{id}.json"), &token);
    put(&format!("auth/token-uses/{id}.json"), r#"{"format":1,"day":"2026-01-02"}"#);
    let created = run_in(dir, "groundstate token create admin --role admin --store states");
    assert_eq!(created.code, 0, "{}", created.stderr);
    fs::write(dir.join("checkpoint.txt"), format!("0:{}\n", "0".repeat(64))).unwrap();
}

pub(crate) fn run_in(dir: &Path, line: &str) -> Run {
    let mut command = shell(line);
    command.current_dir(dir).env("PULUMI_CONFIG_PASSPHRASE", "password").stdin(Stdio::null());
    Run::of(command.output().unwrap())
}

/// Runs a line where states are in a bucket, with a table for locks and a history. Ids in the line are replaced by those there.
pub(crate) fn run_in_network(command: &str, line: &str) -> Run {
    let work = Work::new(TestBackend::s3_here(S3Locks::Table)).keeping_history();
    work.push(&["one", "two"]);
    assert_eq!(work.run(&["rm", ".", "a.one"]).code, 0);
    match command {
        "unlock" => {
            work.leave_stale_lock();
            let locks: Value = serde_json::from_str(&work.run(&["locks", ".", "--json"]).stdout).unwrap();
            let id = locks["locks"][0]["holder"]["id"].as_str().unwrap();
            work.shell(&line.replace("2b6c1f4e-9c3d-4a53-8d0e-5f5c9a7e1b20", id))
        }
        "rollback" => {
            let history: Value = serde_json::from_str(&work.run(&["history", ".", "--json"]).stdout).unwrap();
            let id = history["snapshots"][1]["id"].as_str().unwrap();
            work.shell(&line.replace("20261121T2015", id))
        }
        _ => work.shell(line),
    }
}

/// Starts the server of a line on a port that is free, and stops it.
fn serve(line: &str) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let mut command = shell(&format!("exec {line}"));
    command.current_dir(dir.path()).env("GROUNDSTATE_LISTEN", "127.0.0.1:0");
    let server = Server::started(command);
    server.signal("TERM");
    server.ended()
}

#[test]
fn every_example_of_the_help_does_what_it_says() {
    let mut wrong = Vec::new();
    for command in COMMANDS.iter().copied().filter(|command| !command.is_empty()) {
        let lines = examples(command);
        assert_eq!(lines.len(), 2, "{command}");
        for line in lines {
            assert!(line.contains(&format!("groundstate {command}")), "{command}: {line}");
            let run = match command {
                "unlock" | "migrate-lock" | "repair-digest" | "history" | "rollback" => {
                    run_in_network(command, &line)
                }
                "recover" => run_in(interrupted().dir.path(), &line),
                // Without its last words it runs until it is told to stop.
                "serve" if !line.ends_with("--check") => serve(&line),
                _ => {
                    let dir = tempfile::tempdir().unwrap();
                    prepare(dir.path());
                    if is_of_server_store(command) {
                        prepare_server(dir.path());
                    }
                    run_in(dir.path(), &line)
                }
            };
            if !expected(command).contains(&run.code) {
                wrong.push(format!("{line}: {}\n{}{}", run.code, run.stdout, run.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The help ends with examples: nothing stands behind them.
#[test]
fn the_last_lines_of_each_help_are_an_example() {
    for command in COMMANDS.iter().copied().filter(|command| !command.is_empty()) {
        let help = help(command);
        assert!(help.trim_end().lines().last().is_some_and(|line| line.starts_with("    ")), "{help}");
    }
    assert_eq!(groundstate(&["list", "-h"]).clean().matches("Examples:").count(), 0);
}
