//! Pulumi with `groundstate serve` as its service.

use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};

use super::interop::key_services::{aws, ours};
use super::interop::pulumi::places;
use super::serve::Server;
use super::serve_terraform::{again, restartable};
use super::support::command;

fn project(server: &Server) -> PulumiProject {
    PulumiProject::new(&PulumiPlace::service(&server.url, "none"))
}

#[test]
fn an_update_goes_on_when_the_server_is_killed_and_started_again() {
    if !pulumi_takes_part() {
        return;
    }
    let store = tempfile::tempdir().unwrap();
    let server = restartable(store.path());
    assert!(server.said.ends_with(&format!("\nPULUMI_ACCESS_TOKEN=none pulumi login {}\n", server.url)));
    let project = project(&server);
    project.pulumi(&["login", &server.url]).succeeds();
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    project.pulumi(&["config", "set", "--secret", "password", "hunter2", "--stack", "dev"]).succeeds();
    let running = project.holds("dev");
    let address = server.address().to_owned();
    // This is `kill -9`.
    drop(server);
    let server = again(store.path(), &address);
    running.release().succeeds();
    project.preview_is_clean("dev");
    let password = project.pulumi(&["config", "get", "password", "--stack", "dev"]).succeeds();
    assert_eq!(password.trim(), "hunter2");
    drop(server);
    let files = walk(store.path());
    assert!(!files.iter().any(|(name, _)| name.ends_with("secrets.key")), "the key lies elsewhere");
    for (name, content) in files {
        assert!(!String::from_utf8_lossy(&content).contains("hunter2"), "{name}");
    }
}

#[test]
fn secrets_of_stacks_can_be_behind_a_key_service() {
    let Some((url, variables)) = aws().filter(|_| pulumi_takes_part()) else { return };
    let store = tempfile::tempdir().unwrap();
    let start = |key: &str| {
        let place = store.path().to_str().unwrap();
        let key = format!("pulumi.secrets_key={key}");
        // An encrypted store does not open without the key at all.
        let options = ["--set", &key, "--set", "store_encryption=off"];
        let mut command = command(&[&["serve", "--init", "--store", place][..], &options].concat());
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        Server::of(command)
    };
    let server = start(&url);
    let mut project = project(&server);
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    project.pulumi(&["config", "set", "--secret", "password", "hunter2", "--stack", "dev"]).succeeds();
    drop(server);
    assert!(!store.path().join("secrets.key").exists());
    let server = start(&url);
    project.set("PULUMI_BACKEND_URL", &server.url);
    let read = project.pulumi(&["config", "get", "password", "--stack", "dev"]).succeeds();
    assert_eq!(read.trim(), "hunter2");
    drop(server);
    // Without that key the server says so, and the stack is there.
    let server = Server::start(store.path(), &[]);
    project.set("PULUMI_BACKEND_URL", &server.url);
    let refused = project.pulumi(&["config", "get", "password", "--stack", "dev"]).fails();
    assert!(refused.contains("another key has wrapped it"), "{refused}");
    project.pulumi(&["stack", "ls"]).succeeds();
}

#[test]
fn secrets_that_a_service_encrypts_are_shown_to_who_has_logged_in_there() {
    if !pulumi_takes_part() {
        return;
    }
    let store = tempfile::tempdir().unwrap();
    let server = Server::start(store.path(), &[]);
    let mut project = project(&server);
    project.program("outputs:\n  y: { \"fn::secret\": \"swordfish\" }\n");
    project.pulumi(&["login", &server.url]).succeeds();
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    project.up("dev");
    project.pulumi(&["stack", "export", "--stack", "dev", "--file", "stack.json"]).succeeds();
    let shown = ours(&project, &["outputs", "stack.json", "y", "--show-secrets"], "").succeeds();
    assert!(shown.contains("swordfish"), "{shown}");
    let sealed = ours(&project, &["encrypt", "stack.json"], "\"trout\"").succeeds();
    assert!(!sealed.contains("trout"), "{sealed}");
    assert_eq!(ours(&project, &["decrypt", "stack.json"], &sealed).succeeds(), "\"trout\"");

    // The stored login alone is enough, and it is the login to this very address.
    project.set("PULUMI_BACKEND_URL", "");
    project.set("PULUMI_ACCESS_TOKEN", "");
    let shown = ours(&project, &["outputs", "stack.json", "y", "--show-secrets"], "").succeeds();
    assert!(shown.contains("swordfish"), "{shown}");
    let text = std::fs::read_to_string(project.path().join("stack.json")).unwrap();
    let recorder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    recorder.set_nonblocking(true).unwrap();
    let elsewhere = format!("http://{}", recorder.local_addr().unwrap());
    project.write("stranger.json", &text.replace(&server.url, &elsewhere));
    project.set("PULUMI_ACCESS_TOKEN", "hunter2");
    let refused = ours(&project, &["outputs", "stranger.json", "y", "--show-secrets"], "").fails();
    assert!(
        refused.contains(&format!(
            "there is no access token for the service {elsewhere}; log in with `pulumi login {elsewhere}`"
        )),
        "{refused}"
    );
    assert!(recorder.accept().is_err(), "nothing is sent where the user has not logged in");

    // The stack leaves the service with its secrets.
    project.set("PULUMI_ACCESS_TOKEN", "");
    project.write("new", "another");
    let change = ["change-secrets-provider", "stack.json", "passphrase", "--new-passphrase-file", "new"];
    ours(&project, &change, "").succeeds();
    drop(server);
    project.set("PULUMI_CONFIG_PASSPHRASE", "another");
    let shown = ours(&project, &["outputs", "stack.json", "y", "--show-secrets"], "").succeeds();
    assert!(shown.contains("swordfish"), "{shown}");
    // Without the service, the reason is said, and nothing else.
    project.write("stack.json", &text);
    let refused = ours(&project, &["outputs", "stack.json", "y", "--show-secrets"], "").fails();
    assert!(refused.contains("does not answer") && !refused.contains("swordfish"), "{refused}");
}

#[test]
fn the_stack_of_a_bucket_outlives_a_server_that_is_killed() {
    if !pulumi_takes_part() {
        return;
    }
    let (store, bucket) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = PulumiPlace::folder(bucket.path());
    let direct = PulumiProject::applied(&place, "dev");
    let table = format!("[[pulumi.buckets]]\norganization = \"team\"\nurl = \"{}\"\n", place.url());
    let config = store.path().join("serve.toml");
    std::fs::write(&config, table).unwrap();
    let start = |listen: &str| {
        let (config, states) = (config.to_str().unwrap(), store.path().join("states"));
        let states = states.to_str().unwrap();
        Server::of(command(&["serve", "--init", "--config", config, "--store", states, "--listen", listen]))
    };
    let server = start("127.0.0.1:0");
    let served = project(&server);
    served.write("Pulumi.dev.yaml", &std::fs::read_to_string(direct.path().join("Pulumi.dev.yaml")).unwrap());
    let running = served.holds("team/shop/dev");
    let refused = direct.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    assert!(refused.contains("currently locked"), "{refused}");
    let address = server.address().to_owned();
    // This is `kill -9`. The lock of the bucket stays, and is known to whatever node comes next.
    drop(server);
    let refused = direct.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    assert!(refused.contains("currently locked"), "{refused}");
    let server = start(&address);
    running.release().succeeds();
    direct.preview_is_clean("dev");
    direct.up("dev");
    let history = direct.pulumi(&["stack", "history", "--json", "--stack", "dev"]).succeeds();
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history.as_array().unwrap().len(), 3, "{history}");
    drop(server);
}

/// A stack that each side updates, and that an edit through the server changes, while the other side follows.
fn is_served_to_both_sides(place: &PulumiPlace) {
    let direct = PulumiProject::applied(place, "dev");
    let store = tempfile::tempdir().unwrap();
    let config = store.path().join("serve.toml");
    let table = format!("[[pulumi.buckets]]\norganization = \"team\"\nurl = \"{}\"\n", place.url());
    std::fs::write(&config, table).unwrap();
    let (config, states) = (config.to_str().unwrap(), store.path().join("states"));
    let mut serve = command(&[
        "serve",
        "--init",
        "--config",
        config,
        "--store",
        states.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ]);
    serve.envs(place.environment().iter().map(|(name, value)| (name, value)));
    let server = Server::of(serve);
    let served = project(&server);
    served.write("Pulumi.dev.yaml", &std::fs::read_to_string(direct.path().join("Pulumi.dev.yaml")).unwrap());

    let stack = "team/shop/dev";
    let set = |project: &PulumiProject, stack: &str, n: &str| {
        project.pulumi(&["config", "set", "n", n, "--stack", stack]).succeeds();
    };
    set(&served, stack, "2");
    served.up(stack);
    set(&direct, "dev", "2");
    direct.preview_is_clean("dev");
    set(&direct, "dev", "3");
    direct.up("dev");
    set(&served, stack, "3");
    served.preview_is_clean(stack);
    assert_eq!(served.exported(stack)["deployment"], direct.exported("dev")["deployment"]);

    let address = format!("pulumi+{}#{stack}", server.url);
    ours(&served, &["mv", &address, "second", "third"], "").succeeds();
    let exported = direct.exported("dev")["deployment"].to_string();
    assert!(exported.contains("::third\"") && !exported.contains("::second\""), "{exported}");
    let history = |project: &PulumiProject, stack: &str| {
        let history = project.pulumi(&["stack", "history", "--json", "--stack", stack]).succeeds();
        let history: serde_json::Value = serde_json::from_str(&history).unwrap();
        history.as_array().unwrap().iter().map(|update| update["version"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(history(&served, stack), [3, 2, 1]);
    assert_eq!(history(&direct, "dev").len(), 3);
    direct.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]).succeeds();
    served.pulumi(&["stack", "rm", "--yes", "--stack", stack]).succeeds();
    assert!(!direct.pulumi(&["stack", "ls"]).succeeds().contains("dev"));
}

#[test]
fn a_stack_of_a_bucket_of_s3_is_served_to_both_sides() {
    if pulumi_takes_part() {
        places::s3(is_served_to_both_sides);
    }
}

#[test]
fn a_stack_of_a_bucket_of_google_is_served_to_both_sides() {
    if pulumi_takes_part() {
        places::gs(is_served_to_both_sides);
    }
}

#[test]
fn a_stack_of_a_container_of_azure_is_served_to_both_sides() {
    if pulumi_takes_part() {
        places::azblob(is_served_to_both_sides);
    }
}

#[test]
fn a_stack_of_a_table_of_postgres_is_served_to_both_sides() {
    if pulumi_takes_part() {
        places::postgres(is_served_to_both_sides);
    }
}

/// Every file below a folder.
fn walk(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push((path.display().to_string(), std::fs::read(&path).unwrap())),
            }
        }
    }
    found
}
