//! What commands print with `--json`, and that it is what the schemas say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, mem};

use super::examples::{examples, is_of_server_store, prepare, prepare_server, run_in, run_in_network};
use super::help::{COMMANDS, help};
use super::journal::{base, entries, lines};
use super::recover::interrupted;
use super::schemas::Schemas;
use super::support::{Run, resource, with_resources, workspace};

/// Members that no run here has, and why.
const NOT_SEEN: &[(&str, &str)] = &[
    ("audit-show.entries[].remote", "entries of servers have it, and a test of a server looks at it"),
    ("audit-show.entries[].request", "as above"),
    ("change.changes[].deposed_key", "a change of one deposed object"),
    ("common.holder.expires", "only leases of Azure end by themselves"),
    ("encryption-status.states[].key", "key services have it"),
    ("encryption-status.states[].key_version", "as above"),
    ("history.snapshots[].by", "a test of the history at a server looks at it"),
    ("history.snapshots[].unreadable", "a test of a damaged store looks at it"),
    ("message.notice.code", "commands with `--json` have no notice about a place in a file yet"),
    ("message.notice.place", "as above"),
    ("order.dropped[].from", "a plan in which edges of providers close a cycle"),
    ("order.dropped[].reasons", "as above"),
    ("order.dropped[].to", "as above"),
    ("order.nodes[].skip_destroy", "a plan that replaces an object which OpenTofu is to forget"),
    ("stack-prune.stacks[].failure", "a test of the verbs on stacks looks at it"),
    ("stacks-migrate.stacks[].sha256", "the tests of moves between services look at it"),
    ("stacks.stacks[].unreadable", "a test of the stacks looks at it"),
];

/// Members that depend on what other tests did before: they share the log and the state directory. The tests of backups look at them.
const OF_BACKUPS: &[&str] = &["backups.", "log.", "store.other"];

/// Members of damaged stores. The tests of stores validate documents that have them.
const OF_STORES: &[&str] =
    &["store-check.problems[].", "store-repair.heads[].", "store-repair.mark", "store-repair.refused[]."];

/// The forms of other programs, which have no schema here.
const OTHER_FORMS: &[&str] = &["outputs"];

/// Runs of commands, and what is wrong with what they printed.
struct Runs {
    schemas: Schemas,
    commands: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Runs {
    fn new() -> Self {
        Self { schemas: Schemas::read(), commands: BTreeSet::new(), wrong: Vec::new() }
    }

    /// Looks at what a run with `--json` has printed.
    fn look_at(&mut self, command: &str, line: &str, run: &Run) {
        let schemas = self.schemas.of(command);
        if !run.stdout.is_empty() {
            self.commands.insert(command.to_owned());
            self.note(line, &schemas, &run.stdout);
        } else if run.code < 2 {
            self.wrong.push(format!("{line}: prints nothing: {}", run.stderr));
        }
        for message in run.stderr.lines() {
            self.note(line, &["message".to_owned()], message);
        }
    }

    fn note(&mut self, line: &str, schemas: &[String], document: &str) {
        if let Err(error) = self.schemas.validate(schemas, document) {
            self.wrong.push(format!("{line}: {error}"));
        }
    }

    /// Runs lines in a directory with the files of the examples, one after the other.
    fn lines(&mut self, lines: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        prepare(dir.path());
        self.lines_in(dir.path(), lines);
    }

    fn lines_in(&mut self, dir: &Path, lines: &[&str]) {
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let command = match words[0] {
                "audit" | "encryption" | "order" | "pending" | "journal" | "stacks" | "token"
                | "workspaces" => words[..2].join(" "),
                _ => words[0].to_owned(),
            };
            let run = run_in(dir, &format!("groundstate {line} --json"));
            self.look_at(&command, line, &run);
        }
    }

    #[track_caller]
    fn finish(&mut self) {
        let wrong = mem::take(&mut self.wrong);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// The line of an example, with `--json` in place of the format that it asks for.
fn with_json(command: &str, line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    while let Some(at) = words.iter().position(|word| matches!(*word, "-f" | "--format")) {
        words.drain(at..at + 2);
    }
    let line = words.join(" ");
    match line.contains("--json") {
        true => line,
        false => {
            line.replacen(&format!("groundstate {command}"), &format!("groundstate {command} --json"), 1)
        }
    }
}

/// All examples of commands with a schema.
fn look_at_examples(runs: &mut Runs) {
    for command in runs.schemas.commands() {
        for line in examples(&command) {
            // What goes to a file is looked at elsewhere.
            let is_elsewhere = match command.as_str() {
                "show" => !line.contains("stack.json"),
                "recover" => line.contains("--export"),
                "order plan" | "order waves" | "order destroy" | "graph" => line.contains(" -o "),
                _ => false,
            };
            if is_elsewhere {
                continue;
            }
            let line = with_json(&command, &line);
            let run = match command.as_str() {
                "unlock" | "migrate-lock" | "repair-digest" | "history" | "rollback" => {
                    run_in_network(&command, &line)
                }
                "recover" => run_in(interrupted().dir.path(), &line),
                _ => {
                    let dir = tempfile::tempdir().unwrap();
                    prepare(dir.path());
                    if is_of_server_store(&command) {
                        prepare_server(dir.path());
                    }
                    run_in(dir.path(), &line)
                }
            };
            runs.look_at(&command, &line, &run);
        }
    }
}

/// All files of a folder of fixtures and of the folders in it.
fn fixtures(folder: &str) -> Vec<PathBuf> {
    let mut open = vec![workspace().join("tests/fixtures").join(folder)];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        match path.is_dir() {
            true => open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

fn look_at_fixtures(runs: &mut Runs) {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["check", "reject", "pulumi/states", "pulumi/reject", "pulumi/upgrade"] {
        let files: Vec<String> = fixtures(folder).iter().map(|path| path.display().to_string()).collect();
        if folder.ends_with("reject") {
            files.iter().for_each(|file| runs.lines_in(dir.path(), &[&format!("list {file}")]));
        }
        assert!(files.len() > 2, "{folder}");
        let line = format!("check {} --ignore GS0040 --ignore GS0041", files.join(" "));
        runs.lines_in(dir.path(), &[&line]);
    }
    for file in fixtures("pulumi/states").iter().chain(&fixtures("states")) {
        let file = file.display();
        for line in ["list FILE", "graph FILE", "order destroy FILE"] {
            runs.lines_in(dir.path(), &[&line.replace("FILE", &file.to_string())]);
        }
    }
    let stacks = fixtures("pulumi/states");
    for file in &stacks {
        let (file, first) = (file.display(), stacks[0].display());
        runs.lines_in(dir.path(), &[&format!("show {file}"), &format!("diff {first} {file}")]);
    }
}

/// Changes of states of both families, with their previews and their errors.
fn look_at_changes(runs: &mut Runs) {
    runs.lines(&[
        "mv terraform.tfstate random_id.suffix random_id.name --dry-run",
        "mv terraform.tfstate random_id.suffix random_id.name",
        "mv terraform.tfstate random_id.suffix random_id.name",
        "mv terraform.tfstate module.network module.net --to other.tfstate --dry-run",
        "mv terraform.tfstate module.network module.net --to other.tfstate",
        "mv terraform.tfstate random_id.name --to other.tfstate",
        "undo terraform.tfstate --dry-run",
        "undo terraform.tfstate",
        "undo terraform.tfstate --yes",
        "push terraform.tfstate older.tfstate",
        "rm terraform.tfstate nothing.here",
        "edit terraform.tfstate --script moves.txt --skip-missing",
        "mv stack.json assets things",
        "rm stack.json logs",
        "rm stack.json logs --force --dry-run",
        "undo stack.json",
        "undo stack.json --yes",
        "repair broken.json",
        "repair broken.json -o repaired.json",
        "pending list before.json",
        "pending clear before.json queue",
        "change-secrets-provider stack.json passphrase --new-passphrase-file token.txt --config-file Pulumi.dev.yaml",
        "salvage damaged.tfstate -o -",
        "salvage damaged.tfstate -o saved.tfstate",
    ]);
    let both = [
        resource("a", "one", "{}"),
        resource("a", "two", r#"{"dependencies": ["a.one"]}"#),
        resource("a", "three", r#"{"deposed": "00000001", "dependencies": ["a.one"]}"#),
    ];
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s.tfstate"), with_resources(&both.join(", "))).unwrap();
    fs::write(dir.path().join("script"), "rm-dependency a.two a.one\nrm a.nothing\n").unwrap();
    runs.lines_in(
        dir.path(),
        &[
            "list s.tfstate",
            "mv s.tfstate a.one a.first --dry-run",
            "mv s.tfstate a.one a.first",
            "mv s.tfstate a.first a.one",
            "diff s.tfstate s.tfstate",
            "edit s.tfstate --script script --skip-missing",
            "split s.tfstate other.tfstate a.two a.three",
        ],
    );
}

/// Questions about order, locks and places.
fn look_at_questions(runs: &mut Runs) {
    let plan = workspace().join("tests/fixtures/plans/destroy.json").display().to_string();
    runs.lines(&[
        &format!("order plan {plan}"),
        &format!("order waves {plan}"),
        "order plan plan.json --state terraform.tfstate",
        "order why . random_id.suffix random_id.suffix",
        "order why stack.json assets logs",
        "order why before.json logs urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
        "order blast stack.json shop-dev",
        "order blast . nothing.here",
        "locks . missing.tfstate stack.json",
        "stacks list pulumi+file://bucket",
        "stacks list pulumi+file://bucket --long",
        "history pulumi+file://bucket#organization/shop/dev",
        "rollback pulumi+file://bucket#organization/shop/dev --to history-1700000000 --dry-run",
        "push pulumi+file://bucket#organization/shop/dev before.json",
        "undo pulumi+file://bucket#organization/shop/dev",
        "recover pulumi+file://bucket#organization/shop/dev",
        "stacks create pulumi+file://bucket#organization/shop/new",
        "stacks create pulumi+file://bucket#organization/shop/new",
        "stacks tags pulumi+file://bucket#organization/shop/dev --set a=b",
        "stacks tags pulumi+file://bucket#organization/shop/dev --remove nothing",
        "stacks prune pulumi+file://bucket --all-stacks --keep 1 --dry-run",
        "stacks prune pulumi+file://bucket --all-stacks --keep 1",
        "stacks prune pulumi+file://bucket --all-stacks --keep 1 --yes",
        "locks pulumi+file://bucket#organization/shop/held",
        "unlock pulumi+file://bucket#organization/shop/held --force",
        "stacks rename pulumi+file://bucket#organization/shop/old older --dry-run",
        "stacks rename pulumi+file://bucket#organization/shop/old older",
        "stacks migrate pulumi+file://legacy pulumi+file://other --all-stacks --dry-run",
        "stacks migrate pulumi+file://legacy pulumi+file://other --all-stacks",
        "stacks upgrade pulumi+file://legacy --dry-run",
        "stacks upgrade pulumi+file://legacy --yes",
        "stacks remove pulumi+file://bucket#organization/shop/dev",
        "stacks remove pulumi+file://bucket#organization/shop/dev --force --yes",
        "stacks list pulumi+file://bucket --long",
        "workspaces list .",
        "workspaces new . dev",
        "workspaces new . dev",
        "workspaces delete . dev",
        "migrate . new --dry-run",
        "migrate . new",
        "migrate . new --dry-run",
        "migrate stack.json terraform.tfstate --dry-run",
        "migrate older.tfstate other.tfstate --dry-run",
        "migrate older.tfstate terraform.tfstate --dry-run",
        "migrate new.tfstate terraform.tfstate --dry-run",
        "migrate . new --all-workspaces --dry-run",
        "encryption status . --encryption encryption.hcl",
        "encryption encrypt . --encryption encryption.hcl",
        "encryption status .",
        "encryption status . missing.tfstate stack.json --encryption encryption.hcl",
        "encryption status . --encryption states.txt",
        "encryption encrypt . --encryption encryption.hcl",
        "encryption rotate . older.tfstate --encryption encryption.hcl",
        "encryption decrypt .",
        "encryption decrypt . --encryption encryption.hcl --dry-run",
        "encryption decrypt . --encryption encryption.hcl",
        "recover .",
        "unlock . --force",
        "journal inspect base.json journal.jsonl",
        "journal inspect stack.json journal.jsonl",
        "journal verify stack.json journal.jsonl --every-prefix",
        "journal verify base.json journal.jsonl --every-prefix",
        "list missing.tfstate",
        "list damaged.tfstate",
        "list token.txt",
        "list . --nope",
        "history .",
        "version",
    ]);
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let line = "groundstate lock . -- groundstate locks . --json";
    let run = run_in(dir.path(), line);
    runs.look_at("locks", line, &run);
    let cycle = [
        resource("a", "one", r#"{"dependencies": ["a.two"]}"#),
        resource("a", "two", r#"{"dependencies": ["a.one"]}"#),
    ];
    fs::write(dir.path().join("cycle.tfstate"), with_resources(&cycle.join(", "))).unwrap();
    runs.lines_in(dir.path(), &["order destroy cycle.tfstate", "check cycle.tfstate"]);
    for discard in ["", " --discard"] {
        runs.lines_in(interrupted().dir.path(), &[&format!("recover .{discard}"), "recover ."]);
    }
}

/// The store of a server.
fn look_at_server(runs: &mut Runs) {
    let dir = tempfile::tempdir().unwrap();
    prepare_server(dir.path());
    runs.lines_in(
        dir.path(),
        &[
            "token create deploy --role write --project web --state prod-* --expires 90d --store states",
            "token create deploy --role write --store states",
            "token list --store states",
            "token revoke ci --store states",
            "token revoke ci --store states",
            "token revoke nothing --store states",
            "token revoke deploy --store states",
            "token list --store states",
            "audit show --store states",
            "audit verify --store states",
            "audit verify --store states --since 1:0000",
            "token create first --role admin --store new-states",
            "token list --store nowhere",
            "token list --store memory:",
            "token create x --role admin --store memory:",
        ],
    );
    let segment = dir.path().join("states/audit/segments/00000000000000000001.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, text.replace("token.revoke", "token.create").replacen("{", "", 2)).unwrap();
    fs::write(dir.path().join("states/auth/tokens/0123456789abcdef.json"), "{}").unwrap();
    let lines = ["audit verify --store states", "audit show --store states", "token list --store states"];
    runs.lines_in(dir.path(), &lines);
}

/// What states and journals seldom have.
fn look_at_rarities(runs: &mut Runs) {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let urn = |name: &str| format!("urn:pulumi:dev::shop::t:t:T::{name}");
    let entry = |name: &str, members: &str| {
        format!(r#"{{"urn":"{}","custom":true,"type":"t:t:T","id":"{name}-1"{members}}}"#, urn(name))
    };
    let stack = |resources: &[String]| {
        format!(
            r#"{{"version":3,"deployment":{{"manifest":{{"time":"2024-05-06T07:08:09Z","magic":"","version":""}},
              "resources":[{}],"pending_operations":[{{"resource":{},"type":"updating"}}]}}}}"#,
            resources.join(","),
            entry("a", "")
        )
    };
    let [a, gone] = [urn("a"), urn("gone")];
    put(
        "stack.json",
        &stack(&[
            entry("a", r#","external":true"#),
            entry("t", ""),
            entry("b", &format!(r#","propertyDependencies":{{"p":["{a}"]}},"dependencies":["{a}"]"#)),
            entry("c", &format!(r#","deletedWith":"{}""#, urn("t"))),
        ]),
    );
    put("broken.json", &stack(&[entry("b", &format!(r#","dependencies":["{gone}"]"#))]));
    put("base.json", &base());
    put("begun.jsonl", &lines(&entries()[..3]));
    let first = entries()[0].clone();
    put("twice.jsonl", &lines(&[first.clone(), first.replace(r#""kind":0"#, r#""kind":1"#)]));
    let counted = |on: &str| {
        let one = |at| format!(r#"{{"index_key": {at}, "attributes": {{}}, "dependencies": [{on}]}}"#);
        (0..4_000).map(one).collect::<Vec<_>>().join(",")
    };
    let groups = [resource("t", "a", &counted("")), resource("t", "b", &counted("\"t.a\""))];
    put("groups.tfstate", &with_resources(&groups.join(",")));
    runs.lines_in(
        dir.path(),
        &[
            "list stack.json",
            "pending list stack.json",
            "order destroy stack.json",
            "order why stack.json a b",
            "order blast stack.json a",
            "graph broken.json",
            "check broken.json",
            "order destroy broken.json",
            "journal inspect base.json begun.jsonl",
            "journal verify broken.json begun.jsonl --every-prefix",
            "journal verify base.json twice.jsonl",
            "order destroy groups.tfstate",
        ],
    );
}

#[test]
fn documents_and_messages_are_what_the_schemas_say() {
    let mut runs = Runs::new();
    look_at_examples(&mut runs);
    look_at_fixtures(&mut runs);
    look_at_changes(&mut runs);
    look_at_questions(&mut runs);
    look_at_rarities(&mut runs);
    look_at_server(&mut runs);
    runs.finish();
    // A member that no run has may be one that is gone, and a command that was not run may print anything.
    assert_eq!(runs.commands, runs.schemas.commands());
    let mut unseen: Vec<String> = runs.schemas.members().difference(&runs.schemas.seen).cloned().collect();
    let elsewhere = [OF_BACKUPS, OF_STORES].concat();
    unseen.retain(|member| !elsewhere.iter().any(|beginning| member.starts_with(beginning)));
    let expected: Vec<&str> = NOT_SEEN.iter().map(|(member, _)| *member).collect();
    assert_eq!(unseen, expected);
}

#[test]
fn every_command_with_json_has_a_schema() {
    let schemas = Schemas::read();
    for &command in COMMANDS {
        let has_json = help(command).contains("\n      --json\n");
        let has_schema = schemas.commands().contains(command) || OTHER_FORMS.contains(&command);
        assert_eq!(has_json, has_schema, "{command}");
    }
}
