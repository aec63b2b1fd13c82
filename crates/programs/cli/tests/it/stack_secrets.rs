//! Secrets of states that are stored whole: readable ones are encrypted on their way, and states that Pulumi cannot load are refused.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::stack_project::Project;
use super::support::Run;

const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const PLAIN: &str = "sesame-open-7781";

fn run(project: &Project, args: &[&str], passphrase: Option<&str>) -> Run {
    let mut command = project.command(args);
    if let Some(passphrase) = passphrase {
        command.env("PULUMI_CONFIG_PASSPHRASE", passphrase);
    }
    Run::of(command.output().unwrap())
}

/// The export of the stack, changed.
fn export(project: &Project, name: &str, change: impl FnOnce(&mut Value)) -> String {
    let path = project.path().join(name);
    run(project, &["pull", ".", "-o", name], None).clean();
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut document["deployment"]);
    fs::write(&path, document.to_string()).unwrap();
    name.to_owned()
}

/// The export with a readable secret in the outputs of the last resource, as `pulumi stack export --show-secrets` writes it.
fn clear(project: &Project) -> String {
    export(project, "clear.json", |deployment| {
        let last = deployment["resources"].as_array_mut().unwrap().last_mut().unwrap();
        last["outputs"]["opened"] =
            serde_json::json!([{SIGNATURE: SECRET, "plaintext": format!("\"{PLAIN}\"")}]);
    })
}

/// Gives every ciphertext the form that services write.
fn under_a_service(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match name == "ciphertext" {
                    true => *value = "AAAA".into(),
                    false => under_a_service(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(under_a_service),
        _ => {}
    }
}

fn stored(project: &Project) -> String {
    String::from_utf8(project.stored("dev.json")).unwrap()
}

/// The files of the bucket that hold a readable secret.
fn readable(project: &Project) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![project.bucket()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false if String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).contains(PLAIN) => {
                    found.push(entry.path());
                }
                false => {}
            }
        }
    }
    found
}

#[test]
fn readable_secrets_of_a_file_are_stored_encrypted() {
    for args in [&["push", ".", "clear.json", "--yes"][..], &["undo", ".", "--from", "clear.json", "--yes"]] {
        let project = Project::of("plain");
        clear(&project);
        let told = run(&project, args, Some("test"));
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(told.stderr.contains("stored encrypted"), "{}", told.stderr);
        assert_eq!(readable(&project), Vec::<PathBuf>::new(), "{args:?}");
        let shown = run(&project, &["show", ".", "--show-secrets"], Some("test")).clean();
        assert!(shown.contains(PLAIN), "{shown}");
        run(&project, &["check", ".", "--fail-on", "warning"], None).clean();
    }
}

#[test]
fn readable_secrets_are_refused_without_the_key_and_stored_by_the_name_of_their_code() {
    for args in [&["push", ".", "clear.json", "--yes"][..], &["undo", ".", "--from", "clear.json", "--yes"]] {
        let project = Project::of("plain");
        clear(&project);
        let before = stored(&project);
        for passphrase in [None, Some("wrong")] {
            let refused = run(&project, args, passphrase).failed(5);
            assert!(refused.contains("would be stored readable") && refused.contains("GS0637"), "{refused}");
            assert!(!refused.contains(PLAIN), "{refused}");
        }
        // What skips other checks does not skip this one.
        run(&project, &[args, &["--force"]].concat(), None).failed(5);
        assert_eq!(stored(&project), before);
        let told = run(&project, &[args, &["--force=GS0637"]].concat(), None);
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(told.stderr.contains("stand readable"), "{}", told.stderr);
        let found = run(&project, &["check", ".", "--json", "--fail-on", "warning"], None);
        assert!(
            found.code == 1 && found.stdout.contains("GS0637") && !found.stdout.contains(PLAIN),
            "{}",
            found.stdout
        );
    }
}

#[test]
fn a_stored_state_with_readable_secrets_is_healed_by_its_own_export_and_not_migrated_before() {
    let project = Project::of("plain");
    clear(&project);
    let told = run(&project, &["push", ".", "clear.json", "--yes", "--force=GS0637"], None);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let (from, to) = (project.stack(), format!("pulumi+file://{}/other", project.path().display()));
    fs::create_dir(project.path().join("other")).unwrap();
    let refused = run(&project, &["stacks", "migrate", &from, &to], Some("test"));
    assert!(refused.code == 5 && refused.stderr.contains("stand readable"), "{}", refused.stderr);
    run(&project, &["pull", ".", "-o", "stack.json"], None).clean();
    let told = run(&project, &["push", ".", "stack.json", "--yes"], Some("test"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(!stored(&project).contains(PLAIN));
    let told = run(&project, &["stacks", "migrate", &from, &to], Some("test"));
    assert_eq!(told.code, 0, "{}", told.stderr);
}

#[test]
fn a_copy_with_readable_secrets_is_encrypted_when_it_is_restored() {
    let project = Project::of("plain");
    clear(&project);
    let original = export(&project, "sealed.json", |_| {});
    run(&project, &["push", ".", "clear.json", "--yes", "--force=GS0637"], None);
    run(&project, &["push", ".", &original, "--yes"], None);
    assert!(!stored(&project).contains(PLAIN), "the readable state is the last copy");
    run(&project, &["undo", ".", "--yes"], None).failed(5);
    let told = run(&project, &["undo", ".", "--yes"], Some("test"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    let text = stored(&project);
    assert!(text.contains("\"opened\"") && !text.contains(PLAIN));
}

#[test]
fn readable_secrets_move_encrypted_to_another_stack() {
    let project = Project::of("plain");
    clear(&project);
    let moved = "urn:pulumi:dev::shop::pulumi:index:Stash::";
    let text = fs::read_to_string(project.path().join("clear.json")).unwrap();
    let name = text.rsplit(moved).next().unwrap().split('"').next().unwrap();
    let target = format!("{}#organization/shop/two", project.url());
    assert_eq!(run(&project, &["stacks", "create", &target], None).code, 0);
    let urn = format!("{moved}{name}");
    let args = ["mv", "clear.json", &urn, "--to", &target];
    let refused = run(&project, &args, None);
    assert!(refused.code != 0 && refused.stderr.contains("secrets provider"), "{}", refused.stderr);
    assert!(readable(&project).is_empty());
}

#[test]
fn states_that_pulumi_cannot_load_are_refused_by_their_codes() {
    type Damage = fn(&mut Value);
    let cases: [(&str, Damage); 4] = [
        ("GS0659", |deployment| drop(deployment.as_object_mut().unwrap().remove("secrets_providers"))),
        ("GS0661", |deployment| deployment["secrets_providers"]["type"] = "lost".into()),
        ("GS0650", |deployment| {
            deployment["resources"][0]["outputs"]["odd"] = serde_json::json!({SIGNATURE: "foobar"});
        }),
        ("GS0651", |deployment| {
            deployment["resources"][0]["outputs"]["odd"] = serde_json::json!({SIGNATURE: SECRET});
        }),
    ];
    for (code, damage) in cases {
        let project = Project::of("plain");
        export(&project, "damaged.json", damage);
        let before = stored(&project);
        for args in
            [&["push", ".", "damaged.json", "--yes"][..], &["undo", ".", "--from", "damaged.json", "--yes"]]
        {
            let refused = run(&project, args, Some("test")).failed(5);
            assert!(refused.contains(code), "{refused}");
            let other = run(&project, &[args, &["--force=GS0601"]].concat(), Some("test")).failed(5);
            assert!(other.contains(code), "{other}");
            assert_eq!(stored(&project), before, "{args:?}");
        }
        let named = format!("--force={code}");
        let told = run(&project, &["push", ".", "damaged.json", "--yes", &named], Some("test"));
        assert_eq!(told.code, 0, "{code}: {}", told.stderr);
        // The copy of what was replaced is sound, and that of the damaged state is not.
        run(&project, &["undo", ".", "--yes"], Some("test"));
        assert!(run(&project, &["undo", ".", "--yes"], Some("test")).failed(5).contains(code));
    }
}

#[test]
fn secrets_of_a_service_get_the_key_of_the_bucket_or_are_refused() {
    let project = Project::of("plain");
    let service = serde_json::json!({"type": "service", "state": {"url": "http://127.0.0.1:9", "owner": "acme", "project": "shop", "stack": "dev"}});
    let sealed = service.clone();
    export(&project, "sealed.json", |deployment| {
        deployment["secrets_providers"] = sealed;
        under_a_service(deployment);
    });
    let before = stored(&project);
    let refused = run(&project, &["push", ".", "sealed.json", "--yes"], Some("test")).failed(5);
    assert!(refused.contains("another stack of a service has encrypted them"), "{refused}");
    assert_eq!(stored(&project), before);
    // Without a secret, nothing has to be opened.
    export(&project, "plain.json", |deployment| {
        deployment["secrets_providers"] = service;
        for resource in deployment["resources"].as_array_mut().unwrap() {
            for member in ["inputs", "outputs"] {
                resource.as_object_mut().unwrap().remove(member);
            }
        }
    });
    let told = run(&project, &["push", ".", "plain.json", "--yes"], Some("test"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(stored(&project).contains(r#""type":"passphrase""#), "{}", stored(&project));
}

#[test]
fn codes_of_pulumi_are_refused_for_states_of_terraform() {
    let folder = tempfile::tempdir().unwrap();
    let state = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"a","outputs":{},"resources":[],"check_results":null}"#;
    for name in ["terraform.tfstate", "new.tfstate"] {
        fs::write(folder.path().join(name), state).unwrap();
    }
    let mut command =
        super::support::command(&["push", "terraform.tfstate", "new.tfstate", "--force=GS0659"]);
    let refused = Run::of(command.current_dir(folder.path()).output().unwrap()).failed(2);
    assert!(refused.contains("for Pulumi stacks only"), "{refused}");
}

#[test]
fn check_finds_another_key_in_the_configuration_than_in_the_state() {
    let project = Project::of("plain");
    let config = project.path().join("Pulumi.dev.yaml");
    let own = fs::read_to_string(&config).unwrap();
    assert!(!project.run(&["check", "."]).stdout.contains("GS0638"));
    let other = "encryptionsalt: v1:AAAAAAAAAAA=:v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n";
    let cloud = "secretsprovider: awskms://alias/other?region=eu-central-1\nencryptedkey: AAAA\n";
    for (text, why) in [(other, "`passphrase` key of the state"), (cloud, "names one of the type `cloud`")] {
        fs::write(&config, text).unwrap();
        for stack in [".".to_owned(), project.stack()] {
            let found = project.run(&["check", &stack]);
            assert!(
                found.stdout.contains("GS0638") && found.stdout.contains(why),
                "{stack}: {}",
                found.stdout
            );
            assert!(!found.stdout.contains("AAAA"), "{}", found.stdout);
        }
    }
    // No configuration, and none of a key, say nothing.
    for text in ["config: {}\n", ""] {
        fs::write(&config, text).unwrap();
        assert!(!project.run(&["check", "."]).stdout.contains("GS0638"), "{text}");
    }
    fs::write(&config, own).unwrap();
    let ignored = project.run(&["check", ".", "--ignore", "GS0638"]);
    assert!(!ignored.stderr.contains("GS0638"), "{}", ignored.stderr);
}
