//! The real pulumi and the command on stacks whose data key a key service has wrapped.

use std::process::Stdio;

use groundstate_testkit::{
    PulumiPlace, PulumiProject, Ran, new_kms_key, new_transit_key, pulumi_takes_part, server_of_peer,
};
use serde_json::Value;

use crate::support;

const PROGRAM: &str = "outputs:\n  y: { \"fn::secret\": \"swordfish\" }\n";

/// The URL of a key, and the variables by which its service is found.
pub(crate) type Service = (String, Vec<(&'static str, String)>);

/// A new key in moto.
pub(crate) fn aws() -> Option<Service> {
    let endpoint = server_of_peer("moto", "GROUNDSTATE_KMS_ENDPOINT")?;
    let id = new_kms_key(endpoint.trim_start_matches("http://"));
    let variables = [
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("AWS_ENDPOINT_URL_KMS", &endpoint),
    ];
    let variables = variables.map(|(name, value)| (name, value.to_owned())).to_vec();
    Some((format!("awskms://{id}?region=us-east-1"), variables))
}

/// A new key in a real OpenBao.
fn openbao() -> Option<Service> {
    let endpoint = server_of_peer("openbao", "GROUNDSTATE_OPENBAO")?;
    let mount = new_transit_key(endpoint.trim_start_matches("http://"), "stacks");
    let variables = vec![("VAULT_ADDR", endpoint), ("VAULT_TOKEN", "groundstate".to_owned())];
    Some((format!("hashivault://stacks?engine={mount}"), variables))
}

/// Runs the command in the project of pulumi, with this on its standard input.
pub(crate) fn ours(project: &PulumiProject, args: &[&str], input: &str) -> Ran {
    let path = project.path().join("input");
    std::fs::write(&path, input).unwrap();
    let mut command = project.prepared(support::command(&[]), args);
    command.stdin(Stdio::from(std::fs::File::open(path).unwrap()));
    Ran::of("groundstate", args, command.output().unwrap())
}

fn secrets_are_shown_and_single_values_encrypted((url, variables): &Service) {
    let folder = tempfile::tempdir().unwrap();
    let mut project = PulumiProject::new(&PulumiPlace::folder(folder.path()));
    variables.iter().for_each(|(name, value)| project.set(name, value));
    project.program(PROGRAM);
    project.pulumi(&["stack", "init", "dev", "--secrets-provider", url]).succeeds();
    project.up("dev");
    project.pulumi(&["stack", "export", "--stack", "dev", "--file", "stack.json"]).succeeds();
    let hidden = ours(&project, &["outputs", "stack.json", "y"], "");
    assert!(!hidden.stdout.contains("swordfish"), "{hidden}");
    let shown = ours(&project, &["outputs", "stack.json", "y", "--show-secrets"], "").succeeds();
    assert!(shown.contains("swordfish"), "{shown}");
    let sealed = ours(&project, &["encrypt", "stack.json"], "\"trout\"").succeeds();
    assert_eq!(ours(&project, &["decrypt", "stack.json"], &sealed).succeeds(), "\"trout\"");
    // What was encrypted pulumi takes for its own.
    let mut export: Value = project.exported("dev");
    let text = export.to_string();
    let start = text.find("\"ciphertext\":\"").unwrap() + "\"ciphertext\":\"".len();
    let old = text[start..].split('"').next().unwrap();
    export = serde_json::from_str(&text.replace(old, sealed.trim())).unwrap();
    project.write("stack.json", &export.to_string());
    project.pulumi(&["stack", "import", "--stack", "dev", "--file", "stack.json"]).succeeds();
    let output = project.pulumi(&["stack", "output", "y", "--show-secrets", "--stack", "dev"]).succeeds();
    assert_eq!(output.trim(), "trout");

    // Without the service, the state is still listed, and the reason is said.
    for (name, _) in variables.iter().filter(|(name, _)| name.contains("ADDR") || name.contains("ENDPOINT")) {
        project.set(name, "http://127.0.0.1:1");
    }
    ours(&project, &["list", "stack.json"], "").succeeds();
    let refused = ours(&project, &["outputs", "stack.json", "y", "--show-secrets"], "").fails();
    assert!(refused.contains("the data key of the stack is not at hand"), "{refused}");
    assert!(!refused.contains("groundstate\"") && !refused.contains("trout"), "{refused}");
}

#[test]
fn secrets_behind_a_key_of_aws_are_shown() {
    if let Some(service) = aws().filter(|_| pulumi_takes_part()) {
        secrets_are_shown_and_single_values_encrypted(&service);
    }
}

#[test]
fn secrets_behind_a_transit_engine_are_shown() {
    if let Some(service) = openbao().filter(|_| pulumi_takes_part()) {
        secrets_are_shown_and_single_values_encrypted(&service);
    }
}

/// From a passphrase to the service and back, each time by the other program, and no program finds anything to do.
fn providers_are_changed_by_both((url, variables): &Service) {
    let folder = tempfile::tempdir().unwrap();
    let mut project = PulumiProject::new(&PulumiPlace::folder(folder.path())).with("PULUMI_STACK", "dev");
    variables.iter().for_each(|(name, value)| project.set(name, value));
    project.program(PROGRAM);
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    project.pulumi(&["config", "set", "fish", "perch", "--secret"]).succeeds();
    project.up("dev");

    ours(&project, &["change-secrets-provider", ".", url], "").succeeds();
    let config = std::fs::read_to_string(project.path().join("Pulumi.dev.yaml")).unwrap();
    assert!(config.contains("secretsprovider: ") && !config.contains("encryptionsalt"), "{config}");
    project.preview_is_clean("dev");
    assert_eq!(project.pulumi(&["config", "get", "fish"]).succeeds().trim(), "perch");

    project.pulumi(&["stack", "change-secrets-provider", "passphrase"]).succeeds();
    let shown = ours(&project, &["outputs", ".", "y", "--show-secrets"], "").succeeds();
    assert!(shown.contains("swordfish"), "{shown}");
    project.pulumi(&["stack", "change-secrets-provider", url]).succeeds();
    if let Some(bare) = url.split_once("?engine=").map(|(bare, _)| bare) {
        // What pulumi leaves if it is killed on the way to a URL without an engine: it went on with the former one.
        let config = std::fs::read_to_string(project.path().join("Pulumi.dev.yaml")).unwrap();
        project.write("Pulumi.dev.yaml", &config.replace(url, bare));
        project.pulumi(&["config", "get", "fish"]).fails();
    }
    ours(&project, &["change-secrets-provider", ".", "passphrase"], "").succeeds();
    assert_eq!(project.pulumi(&["config", "get", "fish"]).succeeds().trim(), "perch");
    project.preview_is_clean("dev");
}

#[test]
fn stacks_go_to_a_key_of_aws_and_back() {
    if let Some(service) = aws().filter(|_| pulumi_takes_part()) {
        providers_are_changed_by_both(&service);
    }
}

#[test]
fn stacks_go_to_a_transit_engine_and_back() {
    if let Some(service) = openbao().filter(|_| pulumi_takes_part()) {
        providers_are_changed_by_both(&service);
    }
}
