//! Stacks and their configurations under another key.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use groundstate_testkit::{Answer, Fault, PulumiPlace, PulumiProject, Recorder};
use serde_json::Value;

use super::locks::until;
use super::stack_project::Project;
use super::support::{Run, command, workspace};

/// What is encrypted in the state of the fixture, as it stands in JSON and as text.
const SECRETS: [&str; 3] = ["v1\\u003c\\u0026", "v1<&>", "trout"];

/// A project whose passphrase is `test`, with a secret in its configuration.
fn project() -> Project {
    let project = Project::of("plain");
    let sealed = sealed(&project, "trout");
    let path = project.path().join("Pulumi.dev.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("# of ours\n{text}  shop:fish:\n    secure: {sealed}\n")).unwrap();
    fs::write(project.path().join("new"), "another\n").unwrap();
    project
}

fn sealed(project: &Project, text: &str) -> String {
    let input = project.path().join("input");
    fs::write(&input, text).unwrap();
    let mut command = with_passphrase(project, &["encrypt", "."], "test");
    command.stdin(Stdio::from(fs::File::open(&input).unwrap()));
    let sealed = Run::of(command.output().unwrap()).clean();
    fs::remove_file(input).unwrap();
    sealed.trim().to_owned()
}

fn with_passphrase(project: &Project, args: &[&str], passphrase: &str) -> std::process::Command {
    let mut command = project.command(args);
    command.env("PULUMI_CONFIG_PASSPHRASE", passphrase);
    command
}

fn run(project: &Project, args: &[&str], passphrase: &str) -> Run {
    Run::of(with_passphrase(project, args, passphrase).output().unwrap())
}

fn config(project: &Project) -> String {
    fs::read_to_string(project.path().join("Pulumi.dev.yaml")).unwrap()
}

/// The salt of the state, and that of the configuration.
fn salts(state: &[u8], config: &str) -> (String, String) {
    let state: Value = serde_json::from_slice(state).unwrap();
    let state = &state["checkpoint"]["latest"]["secrets_providers"]["state"]["salt"];
    let config = config.lines().find_map(|line| line.strip_prefix("encryptionsalt: ")).unwrap();
    (state.as_str().unwrap().to_owned(), config.trim_matches('"').to_owned())
}

/// All files below a folder but those of locks.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true if entry.path().ends_with("locks") => {}
            _ if entry.file_name().to_string_lossy().starts_with(".groundstate-") => {}
            true => files(&entry.path(), found),
            false => found.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap())),
        }
    }
    found.sort();
}

const CHANGE: [&str; 5] = ["change-secrets-provider", ".", "passphrase", "--new-passphrase-file", "new"];

#[test]
fn a_stack_and_its_configuration_get_another_passphrase() {
    let project = project();
    let (before, config_before) = (project.stored("dev.json"), config(&project));
    let (mut all, mut again) = (Vec::new(), Vec::new());
    files(project.path(), &mut all);
    let preview = run(&project, &[&CHANGE[..], &["--dry-run"]].concat(), "test").clean();
    assert!(
        preview.contains("Would encrypt 4 values of ") && preview.contains("Would encrypt 1 value of "),
        "{preview}"
    );
    files(project.path(), &mut again);
    assert!(all == again, "a preview writes nothing");

    let told = run(&project, &CHANGE, "test").clean();
    assert!(told.contains("The secrets provider is a passphrase now"), "{told}");
    let (state, text) = (project.stored("dev.json"), config(&project));
    let (one, other) = salts(&state, &text);
    assert_eq!(one, other, "both have one key");
    assert_ne!(one, salts(&before, &config_before).0, "the salt is new");
    assert_eq!(fs::read_to_string(project.path().join("Pulumi.dev.yaml.backup")).unwrap(), config_before);
    assert!(text.starts_with("# of ours\nencryptionsalt: ") && text.contains("shop:n: \"2\"\n"), "{text}");
    let shown = run(&project, &["outputs", ".", "x", "--show-secrets"], "another").clean();
    assert!(shown.contains("v1<&>"), "{shown}");
    let ciphertext = text.rsplit("secure: ").next().unwrap().trim().trim_matches('"');
    fs::write(project.path().join("input"), ciphertext).unwrap();
    let mut decrypt = with_passphrase(&project, &["decrypt", "."], "another");
    decrypt.stdin(Stdio::from(fs::File::open(project.path().join("input")).unwrap()));
    assert_eq!(Run::of(decrypt.output().unwrap()).clean(), "trout");
    let refused = run(&project, &["outputs", ".", "x", "--show-secrets"], "test").failed(5);
    assert!(refused.contains("incorrect passphrase"), "{refused}");

    let mut after = Vec::new();
    files(project.path(), &mut after);
    for (path, bytes) in after {
        let text = String::from_utf8_lossy(&bytes);
        let shown = SECRETS.iter().find(|secret| text.contains(**secret));
        assert!(path.contains("Pulumi.yaml") || shown.is_none(), "{path} has {shown:?}");
    }
}

#[test]
fn what_cannot_be_opened_changes_nothing() {
    let project = project();
    let text = config(&project);
    let damaged = text.replace("secure: v1:", "secure: v1:AAAA");
    for (config, passphrase, provider, words) in [
        (&text, "wrong", "passphrase", "incorrect passphrase"),
        (&damaged, "test", "passphrase", "bad value"),
        (&text, "test", "foo://k", "unknown secrets provider type 'foo'"),
        (&text, "test", "awskms://k?foo=hush", "unknown query parameter"),
    ] {
        fs::write(project.path().join("Pulumi.dev.yaml"), config).unwrap();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        files(project.path(), &mut before);
        let mut args = CHANGE;
        args[2] = provider;
        let run = run(&project, &args, passphrase);
        assert!(matches!(run.code, 2 | 5), "{}", run.stderr);
        assert!(run.stderr.contains(words) && !run.stderr.contains("hush"), "{}", run.stderr);
        files(project.path(), &mut after);
        let new: Vec<&String> =
            after.iter().filter(|file| !before.contains(file)).map(|(path, _)| path).collect();
        assert!(before == after, "{provider}: {new:?}");
    }
}

/// The state is written, and its answer does not come before the command is killed: then the configuration has the old key.
#[test]
fn a_change_that_is_killed_between_its_writes_is_ended_by_the_same_command() {
    let fixture = project();
    let place = PulumiPlace::s3_here();
    let project = PulumiProject::new(&place).with("PULUMI_STACK", "dev");
    place.put(".pulumi/meta.yaml", b"version: 1\n");
    place.put(".pulumi/stacks/shop/dev.json", &fixture.stored("dev.json"));
    let before = config(&fixture);
    project.write("Pulumi.dev.yaml", &before);
    project.write("new", "another\n");
    let server = place.server().unwrap();
    server.fault(Fault::delay_answer(Duration::from_secs(120)).on("PUT", "*/stacks/shop/dev.json").nth(1));
    let seen = server.count("PUT", "*/stacks/shop/dev.json");
    let mut child = project.prepared(command(&[]), &[&CHANGE[..], &["--no-lock"]].concat());
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the state is written", || server.count("PUT", "*/stacks/shop/dev.json") > seen);
    let stored = || {
        let mut run = project.prepared(command(&[]), &["outputs", ".", "x", "--show-secrets"]);
        run.env("PULUMI_CONFIG_PASSPHRASE", "another");
        Run::of(run.output().unwrap())
    };
    until("it is stored", || stored().code == 0);
    child.kill().unwrap();
    child.wait().unwrap();
    server.clear_faults();
    let text = || fs::read_to_string(project.path().join("Pulumi.dev.yaml")).unwrap();
    assert_eq!(text(), before, "the configuration has its old key, which opens it");

    let run = project.prepared(command(&[]), &CHANGE).output().unwrap();
    let told = Run::of(run).clean();
    assert!(told.contains("The configuration now has the key of the state"), "{told}");
    assert_ne!(text(), before);
    assert!(stored().clean().contains("v1<&>"));
    let (one, other) = {
        let pulled = project.prepared(command(&[]), &["pull", "."]).output().unwrap();
        let state: Value = serde_json::from_slice(&pulled.stdout).unwrap();
        let salt = state["deployment"]["secrets_providers"]["state"]["salt"].as_str().unwrap().to_owned();
        (salt, salts(&fixture.stored("dev.json"), &text()).1)
    };
    assert_eq!(one, other, "both have one key");
}

/// The reverse: pulumi writes the configuration first.
#[test]
fn a_state_follows_the_configuration_that_has_the_provider() {
    let project = project();
    let (old_config, old_state) = (config(&project), project.stored("dev.json"));
    run(&project, &CHANGE, "test").clean();
    let new_config = config(&project);
    let path = project.path().join("bucket/.pulumi/stacks/shop/dev.json");
    fs::write(&path, &old_state).unwrap();
    let told = run(&project, &CHANGE, "test").clean();
    assert!(told.contains("The state now has the key of the configuration"), "{told}");
    assert_eq!(config(&project), new_config);
    let (one, other) = salts(&project.stored("dev.json"), &new_config);
    assert_eq!(one, other);
    assert_ne!(old_config, new_config);
}

#[test]
fn readable_secrets_of_a_state_without_a_provider_are_encrypted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stack.json");
    let urn = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
    let text = format!(
        r#"{{"version":3,"deployment":{{"manifest":{{"time":"2024-05-06T07:08:09Z","magic":"","version":""}},
        "resources":[{{"urn":"{urn}","custom":false,"type":"pulumi:pulumi:Stack","outputs":
        {{"x":{{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"\"trout\""}}}}}}],"metadata":{{}}}}}}"#
    );
    fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap();
    let run = |args: &[&str]| {
        Run::of(command(args).env("PULUMI_CONFIG_PASSPHRASE", "test").stdin(Stdio::null()).output().unwrap())
    };
    let changed = run(&["change-secrets-provider", name, "passphrase", "--backup", "-", "--json"]);
    assert_eq!(changed.code, 0, "{}", changed.stderr);
    assert!(
        changed
            .stderr
            .contains("the stack's `Pulumi.STACK.yaml` is not changed, because its path is not known here"),
        "{}",
        changed.stderr
    );
    let document: Value = serde_json::from_str(&changed.stdout).unwrap();
    assert_eq!(document["changes"][0]["change"], "encrypt");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("trout") && text.contains("\"ciphertext\""), "{text}");
    assert!(run(&["outputs", name, "x", "--show-secrets"]).clean().contains("trout"));
}

/// A state and a stack configuration may be a stranger's: they choose neither an address nor credentials.
#[test]
fn addresses_and_profiles_of_a_state_or_a_configuration_count_if_the_user_confirms_them() {
    let recorder = Recorder::start(Answer::new(400));
    let address = recorder.endpoint().replace(':', "%3A").replace('/', "%2F");
    let url = format!("awskms://alias/x?region=us-east-1&endpoint={address}");
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(
        workspace().join("tests/fixtures/pulumi-diy/plain/bucket/.pulumi/stacks/shop/dev.json"),
    );
    let mut state: Value = serde_json::from_str(&text.unwrap()).unwrap();
    state["checkpoint"]["latest"]["secrets_providers"] =
        serde_json::json!({"type": "cloud", "state": {"url": url, "encryptedkey": "d3JhcHBlZA=="}});
    fs::write(folder.path().join("stack.json"), state.to_string()).unwrap();
    let run = |args: &[&str]| {
        let mut command = command(&[&["outputs", "stack.json", "x", "--show-secrets"], args].concat());
        command.current_dir(folder.path()).env("AWS_ACCESS_KEY_ID", "a").env("AWS_SECRET_ACCESS_KEY", "b");
        command.env("AWS_EC2_METADATA_DISABLED", "true").stdin(Stdio::null());
        Run::of(command.output().unwrap()).failed(5)
    };
    let refused = run(&[]);
    assert!(
        refused.contains("the parameter `endpoint`") && refused.contains("`--trust-directory`"),
        "{refused}"
    );
    assert!(!refused.contains("127.0.0.1"), "{refused}");
    assert_eq!(recorder.requests().len(), 0, "no address of a stranger is asked");
    run(&["--trust-directory"]);
    let asked = recorder.requests().len();
    assert!(asked > 0);
    // The configuration of the project in which the command runs is a part of the checkout.
    fs::write(folder.path().join("Pulumi.yaml"), "name: shop\nruntime: yaml\n").unwrap();
    let config =
        format!("secretsprovider: {url}\nencryptedkey: d3JhcHBlZA==\nconfig:\n  shop:a:\n    secure: x\n");
    fs::write(folder.path().join("Pulumi.dev.yaml"), config).unwrap();
    let refused = run(&[]);
    assert!(refused.contains("the parameter `endpoint`"), "{refused}");
    assert_eq!(recorder.requests().len(), asked, "the configuration confirms nothing");
    // The variable is the user's.
    let mut command = command(&["outputs", "stack.json", "x", "--show-secrets"]);
    command.current_dir(folder.path()).env("AWS_ACCESS_KEY_ID", "a").env("AWS_SECRET_ACCESS_KEY", "b");
    command
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .stdin(Stdio::null())
        .env("PULUMI_CLOUD_SECRET_OVERRIDE", &url);
    Run::of(command.output().unwrap()).failed(5);
    assert!(recorder.requests().len() > asked);
}
