//! `groundstate token` and `groundstate audit` on stores of servers, also on stores that are not as they should be.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_blobs::sealed::{seal, unseal};
use serde_json::Value;

use super::examples::run_in;
use super::support::{Run, command, groundstate};

/// A directory with a store in `states`, which need not be there yet.
struct Store {
    dir: tempfile::TempDir,
}

impl Store {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A store with a token `ci` and its entry in the audit log.
    fn with_token() -> (Self, String) {
        let store = Self::new();
        let token = printed(store.run(&["token", "create", "ci", "--role", "write"]));
        (store, token.trim_end().to_owned())
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("states")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        run_on(self.path().to_str().unwrap(), arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[arguments, &["--json"]].concat()).clean()).unwrap()
    }

    /// Every file, with its content.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut files, mut folders) = (Vec::new(), vec![self.dir.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        files.sort();
        files
    }

    fn edit(&self, name: &str, change: impl Fn(&str) -> String) {
        let path = self.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        let changed = change(&text);
        assert_ne!(changed, text, "{name}");
        fs::write(path, changed).unwrap();
    }
}

/// What a command that succeeds prints; notes may go with it.
#[track_caller]
fn printed(run: Run) -> String {
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

fn run_on(store: &str, arguments: &[&str]) -> Run {
    groundstate(&[arguments, &["--store", store]].concat())
}

const SEGMENT: &str = "audit/segments/00000000000000000001.jsonl";

/// The verbs that look, and the one that changes what is there.
const VERBS: [&[&str]; 4] =
    [&["token", "list"], &["token", "revoke", "ci"], &["audit", "show"], &["audit", "verify"]];

#[test]
fn a_token_is_printed_once_and_stored_nowhere() {
    let store = Store::new();
    let run =
        store.run(&["token", "create", "ci", "--role", "lock", "--project", "web", "--state", "prod-*"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let token = run.stdout.strip_suffix('\n').unwrap();
    assert!(token.len() == 52 && token.starts_with("gs_") && !token.contains('\n'), "{token}");
    let secret = &token[3..40];
    assert!(!run.stderr.contains(secret), "{}", run.stderr);
    assert!(
        run.stderr.contains("lock on web/prod-*, without an end; it is not shown again"),
        "{}",
        run.stderr
    );
    for (path, content) in store.files() {
        assert!(!String::from_utf8_lossy(&content).contains(secret), "{}", path.display());
    }
    for verb in [&["token", "list"][..], &["token", "list", "--json"], &["audit", "show"]] {
        let said = store.run(verb).clean();
        assert!(said.contains("ci") && !said.contains(secret), "{said}");
    }
}

#[test]
fn grants_are_every_state_pattern_in_every_project_pattern() {
    let store = Store::new();
    let line =
        "token create ci --role read --project web --project shop --state a --state b/* --expires 90d --json";
    let words: Vec<&str> = line.split(' ').collect();
    let created: Value = serde_json::from_str(&printed(store.run(&words))).unwrap();
    let grants: Vec<String> = created["grants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|grant| ["role", "project", "state"].map(|name| grant[name].as_str().unwrap()).join(" "))
        .collect();
    assert_eq!(grants, ["read web a", "read web b/*", "read shop a", "read shop b/*"]);
    assert_eq!(created["status"], "active");
    let days = |name: &str| created[name].as_str().unwrap()[..10].to_owned();
    assert!(days("expires") > days("created"));
    assert!(created["token"].as_str().unwrap().starts_with("gs_"));
    assert!(created["created_by"].as_str().unwrap().starts_with("user:"));
}

#[test]
fn a_name_is_used_once_at_a_time_and_its_tokens_stay_listed() {
    let (store, _) = Store::with_token();
    let said = store.run(&["token", "create", "ci", "--role", "read"]).failed(9);
    assert!(said.contains("there is a token ci already"), "{said}");
    let revoked = store.run(&["token", "revoke", "ci"]).clean();
    assert!(revoked.contains("accept it for up to 30 seconds"), "{revoked}");
    printed(store.run(&["token", "create", "ci", "--role", "read"]));
    let listed = store.json(&["token", "list"]);
    let statuses: Vec<&Value> =
        listed["tokens"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["revoked", "active"]);
    // By its id, the one that was revoked stays as it is.
    let id = listed["tokens"][0]["id"].as_str().unwrap();
    let again = store.run(&["token", "revoke", id]).clean();
    assert!(again.contains("has been revoked since"), "{again}");
    assert_eq!(store.json(&["token", "list"])["tokens"][1]["status"], "active");
}

#[test]
fn every_change_of_tokens_is_an_entry_with_the_user_and_the_machine() {
    let (store, _) = Store::with_token();
    store.run(&["token", "revoke", "ci"]).clean();
    let entries = store.json(&["audit", "show"]);
    let entries = entries["entries"].as_array().unwrap();
    let actions: Vec<&Value> = entries.iter().map(|entry| &entry["action"]).collect();
    assert_eq!(actions, ["token.create", "token.revoke"]);
    for entry in entries {
        assert!(entry["actor"].as_str().unwrap().starts_with("user:"), "{entry}");
        assert!(entry["object"].as_str().unwrap().starts_with("token:ci "), "{entry}");
        assert_eq!(entry["outcome"], "done", "{entry}");
    }
    assert_eq!(entries[0]["reason"], "write on */*, without an end");
}

#[test]
fn entries_are_found_by_actor_action_object_and_outcome() {
    let (store, _) = Store::with_token();
    for name in ["a", "b", "c"] {
        printed(store.run(&["token", "create", name, "--role", "read"]));
    }
    store.run(&["token", "revoke", "b"]).clean();
    let count = |more: &[&str]| {
        let shown = store.run(&[&["audit", "show"], more].concat()).clean();
        shown.lines().count()
    };
    assert_eq!(count(&[]), 5);
    assert_eq!(count(&["--last", "2"]), 2);
    assert_eq!(count(&["--action", "token.r*"]), 1);
    assert_eq!(count(&["--object", "token:b *"]), 2);
    assert_eq!(count(&["--actor", "token:*"]), 0);
    assert_eq!(count(&["--outcome", "denied"]), 0);
    assert_eq!(count(&["--outcome", "done", "--last", "0"]), 0);
}

#[test]
fn a_store_that_no_server_has_used_is_named_and_stays_as_it_is() {
    let store = Store::new();
    let (missing, foreign, file) =
        (store.path(), store.dir.path().join("foreign"), store.dir.path().join("file"));
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("main.tf"), "").unwrap();
    fs::write(&file, "").unwrap();
    let before = store.files();
    for (path, why) in [
        (&missing, "there is no such directory"),
        (&foreign, "it has no groundstate/layout.json"),
        (&file, "it is not a directory"),
    ] {
        let path = path.to_str().unwrap();
        for verb in VERBS {
            let said = run_on(path, verb).failed(3);
            let expected = format!("error: {path} is not the store of a server: {why}");
            assert!(said.contains(&expected) && said.contains("help: name the store"), "{verb:?}: {said}");
        }
    }
    assert!(!missing.exists());
    assert!(store.files() == before);
    for verb in VERBS {
        run_on("memory:", verb).failed(3);
        run_on("ftp://example.com/states", verb).failed(2);
    }
    run_on("memory:", &["token", "create", "ci", "--role", "read"]).failed(2);
    let said = run_on(file.to_str().unwrap(), &["token", "create", "ci", "--role", "read"]).failed(12);
    assert!(said.contains("cannot make the directory"), "{said}");
}

#[test]
fn the_store_is_that_of_the_arguments_the_variables_or_the_configuration() {
    let (store, _) = Store::with_token();
    let file = store.dir.path().join("server.toml");
    fs::write(&file, "store = \"states\"\nlisten = [\"127.0.0.1:5000\"]\n").unwrap();
    let run = |variable: Option<(&str, &Path)>, arguments: &[&str]| {
        let mut command = command(&[&["token", "list"], arguments].concat());
        command.envs(variable);
        Run::of(command.output().unwrap()).clean()
    };
    let expected = store.run(&["token", "list"]).clean();
    let states = store.path();
    assert_eq!(run(None, &["--config", file.to_str().unwrap()]), expected);
    assert_eq!(run(Some(("GROUNDSTATE_CONFIG", &file)), &[]), expected);
    assert_eq!(run(Some(("GROUNDSTATE_STORE", &states)), &[]), expected);
    assert_eq!(run(None, &["--set", &format!("store={}", states.display())]), expected);
    fs::write(&file, "store = \"states\"\nlimits.stat = \"1MiB\"\n").unwrap();
    groundstate(&["token", "list", "--config", file.to_str().unwrap()]).failed(2);
}

#[test]
fn what_is_no_role_no_name_no_pattern_and_no_time_is_refused_before_the_store_is_made() {
    let store = Store::new();
    for (arguments, why) in [
        (&["ci", "--role", "root"][..], "[possible values: outputs, read, lock, write, admin]"),
        (&["ci"], "--role <ROLE>"),
        (&["", "--role", "read"], "it is empty"),
        (&["a\u{1b}[2Jb", "--role", "read"], "letters, digits"),
        (&["a\nb", "--role", "read"], "letters, digits"),
        (&["-a", "--role", "read"], "-a"),
        (&["0123456789abcdef", "--role", "read"], "the form of an id"),
        (&["ci", "--role", "read", "--project", ""], "it is empty"),
        (&["ci", "--role", "read", "--state", "a\u{202e}b"], "cannot be seen"),
        (&["ci", "--role", "read", "--expires", "soon"], "is no age"),
        (&["ci", "--role", "read", "--expires", "9999999999999d"], "expire later"),
    ] {
        let said = store.run(&[&["token", "create"], arguments].concat()).failed(2);
        assert!(said.contains(why), "{arguments:?}: {said}");
        assert!(!said.contains('\u{1b}'), "{arguments:?}: {said}");
    }
    assert!(!store.path().exists());
    let said = store.run(&["token", "create", "ci", "--role", "read", "--expires", "0"]).failed(2);
    assert!(said.contains("which is past"), "{said}");
    store.run(&["token", "revoke", "a\u{1b}b"]).failed(2);
    let said = store.run(&["token", "revoke", "nothing"]).failed(7);
    assert!(said.contains("there is no token nothing"), "{said}");
    let said = store.run(&["audit", "verify", "--since", "7"]).failed(2);
    assert!(said.contains("COUNT:HASH"), "{said}");
    // An expiry that was refused has left no token.
    assert_eq!(store.json(&["token", "list"])["tokens"].as_array().unwrap().len(), 0);
}

#[test]
fn a_damaged_token_is_named_and_another_is_still_revoked_by_its_id() {
    let (store, _) = Store::with_token();
    let id = |run: Value| run["id"].as_str().unwrap().to_owned();
    let good = id(store.json(&["token", "create", "good", "--role", "read"]));
    let bad = id(store.json(&["token", "create", "bad", "--role", "read"]));
    store.edit(&format!("auth/tokens/{bad}.json"), |text| text.replace("read", "root"));
    // A list has the rest, and names it.
    let listed = store.run(&["token", "list"]);
    assert!(listed.code == 1 && listed.stdout.contains("good"), "{}", listed.stdout);
    assert!(listed.stderr.contains(&format!("auth/tokens/{bad}.json")), "{}", listed.stderr);
    for verb in [&["token", "revoke", "good"][..], &["token", "revoke", &bad]] {
        let said = store.run(verb).failed(3);
        assert!(said.contains(&format!("auth/tokens/{bad}.json")) && said.contains("is damaged"), "{said}");
    }
    store.run(&["token", "revoke", &good]).clean();
}

#[test]
fn what_entries_and_documents_say_steers_no_terminal() {
    let (store, _) = Store::with_token();
    let id = store.json(&["token", "list"])["tokens"][0]["id"].as_str().unwrap().to_owned();
    fs::create_dir_all(store.path().join("auth/token-uses")).unwrap();
    let day = r#"{"format":1,"day":"\u001b[2J2026"}"#;
    fs::write(store.path().join(format!("auth/token-uses/{id}.json")), day).unwrap();
    store.edit(&format!("auth/tokens/{id}.json"), |text| {
        let object = unseal(text.as_bytes()).unwrap().unwrap();
        seal(&String::from_utf8(object).unwrap().replace("user:", r"\u001b]0;\u0007user:"))
    });
    fs::write(store.path().join("audit/segments/a\u{1b}[2J.jsonl"), "").unwrap();
    let listed = store.run(&["token", "list"]).clean();
    assert!(listed.contains(r"used \x1b[2J2026") || listed.contains(r"\u001b"), "{listed}");
    let verified = store.run(&["audit", "verify"]);
    assert_eq!(verified.code, 1);
    assert!(verified.stdout.contains("foreign: segments/a"), "{}", verified.stdout);
    for text in [listed, verified.stdout, store.run(&["token", "list", "--json"]).stdout] {
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn a_checkpoint_of_an_intact_log_finds_what_was_cut_off_and_what_was_written_anew() {
    let (store, _) = Store::with_token();
    printed(store.run(&["token", "create", "second", "--role", "read"]));
    let intact = store.run(&["audit", "verify"]).clean();
    assert!(
        intact.starts_with("The audit log is intact: 2 entries in 1 segment, 0 wait to be chained\n"),
        "{intact}"
    );
    let checkpoint = intact.lines().last().unwrap().strip_prefix("checkpoint ").unwrap().to_owned();
    assert_eq!(store.json(&["audit", "verify"])["checkpoint"], *checkpoint);
    let since = |checkpoint: &str| store.run(&["audit", "verify", "--since", checkpoint]);
    printed(store.run(&["token", "create", "third", "--role", "read"]));
    since(&checkpoint).clean();

    // Another hash at the same place, and a place that the log has not come to.
    let (_, hash) = checkpoint.split_once(':').unwrap();
    let other = since(&format!("2:{}", "0".repeat(64)));
    assert!(other.code == 1 && other.stdout.contains("rewritten: "), "{}", other.stdout);
    let longer = since(&format!("9:{hash}"));
    assert!(longer.code == 1 && longer.stdout.contains("the log ends with entry 3"), "{}", longer.stdout);

    // A log without its last entries, whose head says the same.
    let other = Store::with_token().0;
    fs::remove_dir_all(store.path().join("audit")).unwrap();
    fs::rename(other.path().join("audit"), store.path().join("audit")).unwrap();
    store.run(&["audit", "verify"]).clean();
    let cut = since(&checkpoint);
    assert!(cut.code == 1 && cut.stdout.contains("truncated: "), "{}", cut.stdout);
}

#[test]
fn a_log_that_was_changed_cut_or_removed_is_not_intact() {
    let damage = |change: &dyn Fn(&Store), expected: &str| {
        let (store, _) = Store::with_token();
        printed(store.run(&["token", "create", "second", "--role", "read"]));
        change(&store);
        let run = store.run(&["audit", "verify"]);
        assert!(
            run.code == 1 && run.stdout.starts_with(expected),
            "{expected}: {}{}",
            run.stdout,
            run.stderr
        );
        assert!(run.stdout.contains("The audit log is not intact"), "{}", run.stdout);
        assert!(!run.stdout.contains("checkpoint "), "{}", run.stdout);
        let json = store.run(&["audit", "verify", "--json"]);
        let document: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!((json.code, &document["intact"]), (1, &Value::Bool(false)));
        assert!(document.get("checkpoint").is_none() && document["findings"][0]["rule"].is_string());
        store
    };
    damage(&|store| store.edit(SEGMENT, |text| text.replace("second", "zecond")), "edited: ");
    damage(
        &|store| {
            store.edit(SEGMENT, |text| {
                let end = text.trim_end().rfind('\n').unwrap();
                text[..=end].to_owned()
            });
        },
        "truncated: ",
    );
    damage(&|store| store.edit(SEGMENT, |text| text[..text.len() - 20].to_owned()), "damaged: ");
    damage(&|store| store.edit("audit/head.json", |text| text.replace("\"v\":2", "\"v\":7")), "damaged: ");
    damage(&|store| fs::remove_file(store.path().join("audit/head.json")).unwrap(), "missing: ");
    damage(&|store| fs::remove_file(store.path().join(SEGMENT)).unwrap(), "truncated: ");
    // What can be read is shown, with the word that it is not all.
    let store = damage(&|store| store.edit(SEGMENT, |text| text.replace("second", "sec\u{0}")), "");
    let shown = store.run(&["audit", "show"]);
    assert_eq!((shown.code, shown.stdout.lines().count()), (1, 1), "{}", shown.stdout);
    assert!(shown.stderr.contains("1 line of the audit log cannot be read"), "{}", shown.stderr);
    assert_eq!(store.run(&["audit", "show", "--json"]).code, 1);

    let (store, _) = Store::with_token();
    fs::remove_dir_all(store.path().join("audit")).unwrap();
    let said = store.run(&["audit", "verify"]).failed(3);
    assert!(said.contains("has no audit log"), "{said}");
}

#[test]
fn a_token_that_could_not_be_printed_is_revoked() {
    let store = Store::new();
    for (name, line) in [
        ("full", "groundstate token create full --role read --store states > /dev/full"),
        // The reader is gone before the token comes.
        (
            "pipe",
            "{ sleep 1; groundstate token create pipe --role read --store states; echo $? > code; } | :",
        ),
    ] {
        let run = run_in(store.dir.path(), line);
        assert!(run.stderr.contains(&format!("the new token {name} (")), "{name}: {}", run.stderr);
        assert!(run.stderr.contains("was revoked, because it was not handed over"), "{name}: {}", run.stderr);
        if name == "full" {
            assert_eq!(run.code, 12, "{}", run.stderr);
        }
    }
    assert_eq!(fs::read_to_string(store.dir.path().join("code")).unwrap(), "12\n");
    let listed = store.json(&["token", "list"]);
    let statuses: Vec<&Value> =
        listed["tokens"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["revoked", "revoked"]);
    assert_eq!(store.run(&["audit", "show", "--action", "token.revoke"]).clean().lines().count(), 2);
}

#[test]
fn a_token_whose_entry_cannot_be_stored_is_revoked_and_not_printed() {
    let (store, _) = Store::with_token();
    let batches = store.path().join("audit/batches");
    // A file where batches belong.
    drop(fs::remove_dir_all(&batches));
    fs::write(&batches, "").unwrap();
    let run = store.run(&["token", "create", "late", "--role", "read"]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{}", run.stderr);
    assert!(
        run.stderr.contains("the new token late (")
            && run.stderr.contains("was revoked, because it was not handed over"),
        "{}",
        run.stderr
    );
    let said = store.run(&["token", "revoke", "ci"]).failed(3);
    assert!(said.contains("is revoked, and the audit log has no entry of it"), "{said}");
    fs::remove_file(&batches).unwrap();
    let listed = store.json(&["token", "list"]);
    for token in listed["tokens"].as_array().unwrap() {
        assert_eq!(token["status"], "revoked", "{token}");
    }
}

/// The superuser writes everywhere, so another user runs the command.
#[cfg(unix)]
#[test]
fn a_store_that_may_not_be_written_to_is_read_and_changed_by_nothing() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let (store, _) = Store::with_token();
    let is_superuser = fs::metadata(store.path()).unwrap().uid() == 0;
    let set = |folders: u32, files: u32| {
        let mut open = vec![store.dir.path().to_owned()];
        while let Some(path) = open.pop() {
            fs::set_permissions(&path, fs::Permissions::from_mode(folders)).unwrap();
            for entry in fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()) {
                match entry.is_dir() {
                    true => open.push(entry),
                    false => fs::set_permissions(&entry, fs::Permissions::from_mode(files)).unwrap(),
                }
            }
        }
    };
    let own = tempfile::tempdir().unwrap();
    fs::set_permissions(own.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let run = |arguments: &[&str]| {
        let states = store.path();
        let mut command = command(&[arguments, &["--store", states.to_str().unwrap()]].concat());
        command.env("XDG_STATE_HOME", own.path());
        if is_superuser {
            command.uid(65_534).gid(65_534);
        }
        command.current_dir("/").output().map(Run::of)
    };
    set(0o555, 0o444);
    let Ok(listed) = run(&["token", "list"]) else {
        set(0o755, 0o644);
        return eprintln!("not run: another user may not start the program");
    };
    let before = store.files();
    let others = [&["audit", "verify"][..], &["audit", "show"]].map(|verb| run(verb).unwrap());
    let created = run(&["token", "create", "new", "--role", "read"]).unwrap();
    let revoked = run(&["token", "revoke", "ci"]).unwrap();
    assert!(store.files() == before);
    set(0o755, 0o644);
    assert!(listed.clean().contains("  ci  "));
    others.into_iter().for_each(|run| assert_eq!(run.code, 0, "{}", run.stderr));
    let said = created.failed(11);
    assert!(said.contains("cannot write to the store") && said.contains("--store DIRECTORY"), "{said}");
    assert!(revoked.failed(11).contains("cannot use the tokens in"));
    assert_eq!(store.json(&["token", "list"])["tokens"][0]["status"], "active");
}
