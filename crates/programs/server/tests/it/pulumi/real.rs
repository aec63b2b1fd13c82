//! The real pulumi against this server, over the network of this machine.

use groundstate_testkit::{pulumi_has_journals, pulumi_takes_part};

use super::service::{Service, in_each_store, journals_take_part};

in_each_store! { a_stack_lives_its_whole_life_at_the_server }

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_the_cli_prints_and_opens_lead_to_the_page() {
    if !pulumi_takes_part() {
        return;
    }
    let mut service = Service::new();
    let endpoint = service.listening.endpoint();
    let domain = endpoint.strip_prefix("http://").unwrap().to_owned();
    service.project.set("PULUMI_CONSOLE_DOMAIN", &domain);
    service.pulumi(&["login", &endpoint]).succeeds();
    service.pulumi(&["stack", "init", "dev"]).succeeds();
    let linked = |said: &str| {
        let link = said.split_whitespace().find_map(|word| word.strip_prefix(&endpoint)).map(str::to_owned);
        link.filter(|path| path.len() > 1).unwrap_or_else(|| panic!("no link: {said}"))
    };
    let said = service.pulumi(&["preview", "--stack", "dev"]).succeeds();
    let preview = linked(&said);
    let said = service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).succeeds();
    let update = linked(&said);
    let opened = service.pulumi(&["console", "--stack", "dev"]);
    let console = linked(&format!("{} {}", opened.stdout, opened.stderr));
    let backend = linked(&service.pulumi(&["whoami", "--verbose"]).succeeds());
    let project = service.get("dev").await["projectName"].as_str().unwrap().to_owned();
    let stack = format!("/admin/{project}/dev");
    assert_eq!((&console, &update), (&stack, &format!("{stack}/updates/1")));
    let id = preview.strip_prefix(&format!("{stack}/previews/")).unwrap_or_else(|| panic!("{preview}"));
    for (link, expected) in [
        (&backend, "/#/stacks?search=admin/".to_owned()),
        (&console, format!("/#/stacks{stack}")),
        (&update, format!("/#/stacks{stack}/updates")),
        (&preview, format!("/#/stacks{stack}/events?update={id}")),
    ] {
        let answer = service.server.stranger().get(link).await.is(302);
        assert_eq!(answer.header("location"), expected);
    }
}

async fn a_stack_lives_its_whole_life_at_the_server(service: Service) {
    service.pulumi(&["login", &service.listening.endpoint()]).succeeds();
    assert_eq!(service.pulumi(&["whoami"]).succeeds().trim(), "admin");
    service.pulumi(&["stack", "init", "dev"]).succeeds();
    let again = service.pulumi(&["stack", "init", "dev"]).fails();
    assert!(again.contains("already exists"), "{again}");
    service.pulumi(&["config", "set", "--secret", "password", "hunter2", "--stack", "dev"]).succeeds();
    assert!(service.config("dev").contains("secure:") && !service.config("dev").contains("hunter2"));
    assert_eq!(service.pulumi(&["config", "get", "password", "--stack", "dev"]).succeeds().trim(), "hunter2");

    let empty = service.project.exported("dev");
    assert!(empty["version"] == 3 && empty["deployment"].is_object(), "{empty}");

    service.pulumi(&["preview", "--stack", "dev"]).succeeds();
    assert_eq!(service.get("dev").await["version"], 0);
    assert_eq!(service.get("dev").await["activeUpdate"], "");
    service.pulumi(&["up", "--yes", "--stack", "dev", "-m", "the first"]).succeeds();
    assert_eq!(service.get("dev").await["version"], 1);
    service.project.preview_is_clean("dev");
    service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev", "-c", "n=2"]).succeeds();
    let listed = service.pulumi(&["stack", "ls", "--json"]).succeeds();
    assert!(listed.contains("\"resourceCount\": 4"), "{listed}");
    service.pulumi(&["refresh", "--yes", "--skip-preview", "--stack", "dev"]).succeeds();

    let history = service.get("dev/updates").await;
    let kinds: Vec<&str> = history["updates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|update| update["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["refresh", "update", "update"]);
    let first = &history["updates"][2];
    assert_eq!((&first["message"], &first["result"]), (&"the first".into(), &"succeeded".into()));
    assert_eq!(first["resourceChanges"]["create"], 3);
    assert!(service.pulumi(&["stack", "history", "--stack", "dev"]).succeeds().contains("the first"));

    let second = service.pulumi(&["stack", "export", "--version", "1", "--stack", "dev"]).succeeds();
    service.project.write("one.json", &second);
    service.pulumi(&["stack", "import", "--file", "one.json", "--stack", "dev"]).succeeds();
    assert_eq!(service.get("dev").await["version"], 4);
    service.pulumi(&["stack", "tag", "set", "team", "web", "--stack", "dev"]).succeeds();
    assert_eq!(service.pulumi(&["stack", "tag", "get", "team", "--stack", "dev"]).succeeds().trim(), "web");

    service.pulumi(&["stack", "rename", "prod", "--stack", "dev"]).succeeds();
    assert_eq!(
        service.pulumi(&["config", "get", "password", "--stack", "prod"]).succeeds().trim(),
        "hunter2"
    );
    service.pulumi(&["config", "set", "n", "1", "--stack", "prod"]).succeeds();
    service.project.preview_is_clean("prod");
    let refused = service.pulumi(&["stack", "rm", "--yes", "prod"]).fails();
    assert!(refused.contains("--force"), "{refused}");
    service.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "prod"]).succeeds();
    service.pulumi(&["stack", "rm", "--yes", "prod"]).succeeds();
    // Earlier releases have one code for all errors.
    let code = if pulumi_has_journals() { 6 } else { 255 };
    let gone = service.pulumi(&["stack", "select", "prod"]).fails_with(code);
    assert!(gone.contains("no stack named 'prod' found"), "{gone}");
}

/// What is left when times and ids are taken out.
fn comparable(mut state: serde_json::Value) -> serde_json::Value {
    state["deployment"]["manifest"]["time"] = "".into();
    state["deployment"]["secrets_providers"]["state"]["url"] = "".into();
    for resource in state["deployment"]["resources"].as_array_mut().unwrap() {
        for member in ["id", "created", "modified"] {
            if let Some(members) = resource.as_object_mut() {
                members.remove(member);
            }
        }
        // The id stands in references to the provider.
        let provider = resource["provider"].as_str().and_then(|text| text.rsplit_once("::"));
        if let Some((urn, _)) = provider {
            resource["provider"] = urn.into();
        }
    }
    state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn journals_checkpoints_and_differences_leave_the_same_state() {
    if !pulumi_takes_part() {
        return;
    }
    let mut states = Vec::new();
    let disabled = if pulumi_has_journals() { "false" } else { "true" };
    for (disabled, deltas) in [(disabled, None), ("true", None), ("true", Some(0))] {
        let blobs = std::sync::Arc::new(groundstate_server::blobs::MemoryBlobs::new("stacks"));
        let mut service = Service::with(blobs, |parts| parts.policies.pulumi_deltas_from = deltas);
        service.project.set("PULUMI_DISABLE_JOURNALING", disabled);
        service.init();
        service.up();
        service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev", "-c", "n=2"]).succeeds();
        let update = service.get("dev").await["activeUpdate"].as_str().unwrap().to_owned();
        let id = service.get("dev").await["id"].as_str().unwrap().to_owned();
        let stored = service.stored(&format!("pulumi/updates/{id}/{update}/")).await;
        let has = |what: &str| stored.iter().any(|name| name.contains(what));
        assert_eq!(
            (has("journal/"), has("checkpoint")),
            (disabled == "false", disabled == "true"),
            "{stored:?}"
        );
        states.push(comparable(service.get("dev/export").await));
    }
    assert_eq!(states[0], states[1]);
    assert_eq!(states[0], states[2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resource_that_is_replaced_is_there_once_and_the_journal_says_how() {
    if !journals_take_part() {
        return;
    }
    let service = Service::new();
    service.init();
    let program = |input: &str| {
        service.project.program(&format!(
            "resources:\n  first: {{ type: \"pulumi:Stash\", properties: {{ input: {input} }}, options: {{ replaceOnChanges: [input] }} }}\n"
        ));
    };
    let firsts = async || {
        let state = service.get("dev/export").await;
        let resources = state["deployment"]["resources"].as_array().unwrap().clone();
        let firsts = resources.into_iter().filter(|it| it["urn"].as_str().unwrap().ends_with("::first"));
        firsts.collect::<Vec<_>>()
    };
    program("one");
    service.up();
    let before = firsts().await;
    program("two");
    service.up();
    let after = firsts().await;
    assert_eq!((before.len(), after.len()), (1, 1));
    assert_ne!(before[0]["id"], after[0]["id"]);
    assert!(after[0].get("delete").is_none(), "{}", after[0]);
    assert_eq!(service.latest().await["resourceChanges"]["replace"], 1);
    let update = service.get("dev").await["activeUpdate"].as_str().unwrap().to_owned();
    let journal = service.get(&format!("dev/update/{update}/journal")).await;
    let entries = journal["entries"].as_array().unwrap();
    let first = entries.iter().min_by_key(|entry| entry["sequenceID"].as_u64()).unwrap();
    assert_eq!((&first["sequenceID"], &first["kind"]), (&1.into(), &"secrets-manager".into()));
    assert!(entries.iter().any(|entry| entry["deleted"].is_object()), "{journal}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_that_fails_midway_keeps_what_it_did_and_the_next_goes_on() {
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    service.init();
    service.project.program(
        "resources:\n  first: { type: \"pulumi:Stash\", properties: { input: one } }\n  \
         second: { type: \"pulumi:Stash\", properties: { input: { \"fn::readFile\": ./missing } }, options: { dependsOn: [\"${first}\"] } }\n",
    );
    service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    let failed = service.latest().await;
    assert_eq!((&failed["result"], &failed["version"]), (&"failed".into(), &1.into()));
    service.project.write("missing", "two");
    service.up();
    assert_eq!(service.latest().await["result"], "succeeded");
    service.project.preview_is_clean("dev");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_go_from_the_service_to_a_passphrase_and_back() {
    if !pulumi_takes_part() {
        return;
    }
    let mut service = Service::new();
    // It reads a new passphrase from its input, which is empty here.
    service.project.set("PULUMI_CONFIG_PASSPHRASE", "");
    service.init();
    service.project.program(
        "config:\n  password: { type: string, secret: true }\nresources:\n  \
         first: { type: \"pulumi:Stash\", properties: { input: \"${password}\" } }\noutputs:\n  shown: \"${first.output}\"\n",
    );
    service.pulumi(&["config", "set", "--secret", "password", "hunter2", "--stack", "dev"]).succeeds();
    service.up();
    let shown =
        || service.pulumi(&["stack", "output", "shown", "--show-secrets", "--stack", "dev"]).succeeds();
    assert_eq!(shown().trim(), "hunter2");
    for provider in ["passphrase", "default"] {
        service.pulumi(&["stack", "change-secrets-provider", provider, "--stack", "dev"]).succeeds();
        assert_eq!(shown().trim(), "hunter2", "{provider}");
        service.project.preview_is_clean("dev");
        service.up();
    }
    for name in service.stored("").await {
        let content = service.content(&name).await;
        assert!(!String::from_utf8_lossy(&content).contains("hunter2"), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stacks_refer_to_each_other_and_move_to_a_folder_and_back() {
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    service.init();
    service.up();
    let other = groundstate_testkit::PulumiPlace::service(&service.listening.endpoint(), "any");
    let reader = groundstate_testkit::PulumiProject::new(&other);
    reader.program(
        "resources:\n  network: { type: \"pulumi:pulumi:StackReference\", properties: { name: admin/shop/dev } }\noutputs:\n  x: \"${network.outputs[\\\"x\\\"]}\"\n",
    );
    reader.pulumi(&["stack", "init", "reader"]).succeeds();
    reader.up("reader");
    assert_eq!(reader.pulumi(&["stack", "output", "x", "--stack", "reader"]).succeeds().trim(), "v1");

    // Edits of the state go through export and import.
    service.pulumi(&["state", "protect", "--all", "--yes", "--stack", "dev"]).succeeds();
    assert_eq!(service.latest().await["kind"], "import");
    service.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    service.pulumi(&["state", "unprotect", "--all", "--yes", "--stack", "dev"]).succeeds();

    // A stack of a folder moves here.
    let folder = tempfile::tempdir().unwrap();
    let away = groundstate_testkit::PulumiProject::applied(
        &groundstate_testkit::PulumiPlace::folder(folder.path()),
        "moved",
    );
    service.project.write("export.json", &away.pulumi(&["stack", "export", "--stack", "moved"]).succeeds());
    service.pulumi(&["stack", "init", "moved"]).succeeds();
    service.pulumi(&["stack", "import", "--file", "export.json", "--stack", "moved"]).succeeds();
    service.project.preview_is_clean("moved");
}
