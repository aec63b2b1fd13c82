//! Stacks: made, listed, renamed, tagged, imported into, removed.

use groundstate_pulumi_protocol::sha256;
use groundstate_pulumi_service::{ErrorKind, NewStack, StackFilter, UpdateResult};
use serde_json::json;

use crate::support::{Service, dies_after, path, root, stash, state, urns};

#[tokio::test]
async fn a_name_is_given_once_also_by_two_at_a_time() {
    let service = Service::new();
    let mut makers = Vec::new();
    for node in [service.clone(), service.node(), service.node()] {
        makers.push(tokio::spawn(async move {
            node.stacks.create(&path("dev"), "ann", NewStack::default()).await
        }));
    }
    let mut made = 0;
    for maker in makers {
        match maker.await.unwrap() {
            Ok(_) => made += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Exists, "{error}"),
        }
    }
    assert_eq!(made, 1);
    let empty = state(&service.stacks.stack(&path("dev")).await.unwrap()).await;
    assert_eq!(empty["version"], 3);
    assert!(empty["deployment"].is_object());
}

#[tokio::test]
async fn every_stack_is_in_one_page_of_a_list() {
    let service = Service::new();
    for number in 0..25 {
        let tags = [("parity".to_owned(), (number % 2).to_string())].into();
        let new = NewStack::default().tags(tags);
        service.stacks.create(&path(&format!("s{number:02}")), "ann", new).await.unwrap();
    }
    let (mut found, mut page) = (Vec::new(), None);
    loop {
        let listed =
            service.stacks.list(&StackFilter::default().owner("acme").page(page).limit(7)).await.unwrap();
        found.extend(listed.stacks.iter().map(|stack| stack.path.stack().to_owned()));
        page = listed.next;
        if page.is_none() {
            break;
        }
    }
    assert_eq!(found, (0..25).map(|number| format!("s{number:02}")).collect::<Vec<_>>());
    let odd = StackFilter::default().tag("parity", Some("1".to_owned()));
    assert_eq!(service.stacks.list(&odd).await.unwrap().stacks.len(), 12);
    // `p` is no beginning of a name here.
    assert!(service.stacks.list(&StackFilter::default().owner("ac")).await.unwrap().stacks.is_empty());
}

#[tokio::test]
async fn a_name_that_the_cli_cannot_read_is_in_no_list() {
    let service = Service::new();
    let stack = service.stack().await;
    let record = json!({"stack": stack.id()}).to_string();
    for name in ["acme/p/a~b", "acme/p/a b", "acme/p", "acme/p/dev/more", "acme/ä/dev"] {
        let document = service.document(&format!("pulumi/names/{name}"));
        let content = document.content(record.clone()).await.unwrap();
        document.write(&content, &Default::default()).await.unwrap();
    }
    let listed = service.stacks.list(&StackFilter::default()).await.unwrap().stacks;
    assert_eq!(listed.iter().map(|stack| stack.path.to_string()).collect::<Vec<_>>(), ["acme/p/dev"]);
}

#[tokio::test]
async fn a_renamed_stack_keeps_its_id_and_its_resources_get_their_names() {
    let service = Service::new();
    let stack = service.stack_of(json!([root(), stash("a")]), json!([])).await;
    let sealed = stack.secrets("ann").await.unwrap().encrypt(b"hunter2").unwrap();
    service.stacks.create(&path("taken"), "ann", NewStack::default()).await.unwrap();
    assert_eq!(stack.rename(&path("taken"), "ann").await.unwrap_err().kind(), ErrorKind::Exists);
    let renamed = stack.rename(&path("prod"), "ann").await.unwrap();
    assert_eq!(renamed.id(), stack.id());
    let found = service.stacks.stack(&path("prod")).await.unwrap();
    let now = state(&found).await;
    assert!(urns(&now).iter().all(|urn| urn.starts_with("urn:pulumi:prod::p::")), "{now}");
    assert_eq!(found.version(1).await.unwrap().note.kind, "rename");
    assert_eq!(service.stacks.stack(&path("dev")).await.unwrap_err().kind(), ErrorKind::NotFound);
    // States keep the old name for their secrets.
    let former = service.stacks.stack_of_any_name(&path("dev")).await.unwrap();
    assert_eq!(**former.secrets("ann").await.unwrap().decrypt(&sealed).unwrap(), *b"hunter2");
    // The name is free, and its new stack has nothing of the old one.
    let new = service.stacks.create(&path("dev"), "ann", NewStack::default()).await.unwrap();
    assert_ne!(new.id(), stack.id());
    assert!(new.secrets("ann").await.unwrap().decrypt(&sealed).is_err());
    let owner = groundstate_pulumi_service::StackPath::new("other", "p", "prod").unwrap();
    assert_eq!(found.rename(&owner, "ann").await.unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn a_rename_that_is_interrupted_anywhere_is_carried_through_or_taken_back() {
    for polls in 1..60 {
        let service = Service::new();
        service.stack_of(json!([root(), stash("a")]), json!([])).await;
        let dying = service.slow_node().stacks.stack(&path("dev")).await.unwrap();
        dies_after(polls, dying.rename(&path("prod"), "ann")).await;
        service.wait(61);
        let node = service.node();
        node.stacks.settle_all().await.unwrap();
        let named: Vec<_> = node.stacks.list(&StackFilter::default()).await.unwrap().stacks;
        assert_eq!(named.len(), 1, "after {polls} polls: {named:?}");
        let name = named[0].path.stack();
        let found = node.stacks.stack(&named[0].path).await.unwrap();
        let now = state(&found).await;
        assert!(
            urns(&now).iter().all(|urn| urn.starts_with(&format!("urn:pulumi:{name}::"))),
            "{polls}: {now}"
        );
    }
}

#[tokio::test]
async fn a_stack_with_resources_is_removed_by_force_only() {
    let service = Service::new();
    let stack = service.stack_of(json!([root(), stash("a")]), json!([])).await;
    assert_eq!(stack.remove(false, "ann").await.unwrap_err().kind(), ErrorKind::HasResources);
    stack.remove(true, "ann").await.unwrap();
    assert_eq!(service.stacks.stack(&path("dev")).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(stack.state().await.unwrap_err().kind(), ErrorKind::NotFound);
    let again = service.stack_of(json!([root()]), json!([])).await;
    assert_ne!(again.id(), stack.id());
    again.remove(false, "ann").await.unwrap();
}

#[tokio::test]
async fn a_removal_that_is_interrupted_anywhere_leaves_a_stack_or_a_free_name() {
    for polls in 1..30 {
        let service = Service::new();
        service.stack_of(json!([root()]), json!([])).await;
        let dying = service.slow_node().stacks.stack(&path("dev")).await.unwrap();
        dies_after(polls, dying.remove(false, "ann")).await;
        let is_there = match service.stacks.stack(&path("dev")).await {
            Ok(stack) => stack.state().await.is_ok(),
            Err(_) => false,
        };
        let made = service.stacks.create(&path("dev"), "ann", NewStack::default()).await;
        assert_eq!(made.is_ok(), !is_there, "after {polls} polls: {made:?}");
        assert_eq!(service.stacks.list(&StackFilter::default()).await.unwrap().stacks.len(), 1);
    }
}

#[tokio::test]
async fn an_import_is_a_version_and_keeps_the_bytes_of_its_deployment() {
    let service = Service::new();
    let stack = service.stack().await;
    let text =
        r#"{"version": 4, "features": ["later"], "deployment": {"metadata":{},"later":1.50,"resources":[]}}"#;
    let version = stack.import(text.as_bytes(), None, "ann").await.unwrap().version;
    assert_eq!((version.number, version.note.kind.as_str()), (1, "import"));
    let stored = stack.export().await.unwrap().collect(1 << 20).await.unwrap();
    let stored = std::str::from_utf8(&stored).unwrap();
    assert_eq!(stored, text.replace(": ", ":").replace(", ", ","));
    for bad in [
        "",
        "{}",
        "[]",
        r#"{"version":0,"deployment":{}}"#,
        r#"{"version":5,"deployment":{}}"#,
        r#"{"version":3}"#,
    ] {
        let error = stack.import(bad.as_bytes(), None, "ann").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{bad}: {error}");
    }
    let first = stack.export_version(0).await.unwrap().collect(1 << 20).await.unwrap();
    assert!(!first.is_empty());
    assert_eq!(stack.export_version(2).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(stack.export_version(u64::MAX).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn an_import_that_expects_a_state_replaces_that_one_only() {
    let service = Service::new();
    let stack = service.stack().await;
    let text = |id: usize| format!(r#"{{"version":3,"deployment":{{"id":{id}}}}}"#);
    let export = async || stack.export().await.unwrap().collect(1 << 20).await.unwrap();
    let first = sha256(&export().await);
    let imported = stack.import(text(1).as_bytes(), Some(&first), "ann").await.unwrap();
    assert_eq!(imported.sha256, Some(sha256(&export().await)));
    let second = imported.sha256.unwrap();
    for old in [&*first, "", "x"] {
        let error = stack.import(text(2).as_bytes(), Some(old), "ann").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
    }
    let texts = [3, 4, 5].map(text);
    let imports = texts.each_ref().map(|text| stack.import(text.as_bytes(), Some(&second), "ann"));
    let outcomes = futures_util::future::join_all(imports).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    assert!(refused.map(|error| error.kind()).all(|kind| kind == ErrorKind::Changed), "{outcomes:?}");
    assert_eq!(stack.state().await.unwrap().version, 2);
}

#[tokio::test]
async fn the_history_has_every_version_but_that_which_a_stack_begins_with() {
    let service = Service::new();
    let stack = service.stack().await;
    assert!(stack.versions(None, 10).await.unwrap().versions.is_empty());
    for _ in 0..12 {
        let (update, lease) = service.started(&stack, "update").await;
        update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    }
    let page = stack.versions(None, 10).await.unwrap();
    assert_eq!(
        page.versions.iter().map(|version| version.number).collect::<Vec<_>>(),
        (3..=12).rev().collect::<Vec<_>>()
    );
    let rest = stack.versions(page.next, 10).await.unwrap();
    assert_eq!(rest.versions.iter().map(|version| version.number).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(rest.next, None);
}
