//! The secrets provider of states in a bucket, which is never that of the service.

use groundstate_server::pulumi_service::{ErrorKind, NewStack, UpdateResult};
use serde_json::{Value, json};

use super::buckets::{MADE, Node, ROOT, checkpoint, deployment, makes, path};

/// A state that names the provider of the service, with an encrypted secret or without.
fn of_the_service(urns: &[&str], ciphertext: Option<&str>) -> Value {
    let mut own = deployment(urns);
    own["secrets_providers"] = json!({"type": "service", "state": {}});
    if let Some(ciphertext) = ciphertext {
        let secret = json!({"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                            "ciphertext": ciphertext});
        own["resources"][0]["outputs"] = json!({"password": secret});
    }
    own
}

fn export(deployment: Value) -> String {
    json!({"version": 3, "deployment": deployment}).to_string()
}

#[tokio::test]
async fn secrets_of_the_service_are_refused_for_what_others_have_to_open() {
    let node = Node::new();
    let own = of_the_service(&[ROOT], Some("eA=="));
    let new = NewStack::default().state(export(own.clone()));
    let refused = node.stacks.create(&path("dev"), "ann", new).await.unwrap_err();
    assert!(refused.reason().contains("--secrets-provider"), "{refused}");
    assert!(!node.direct("dev").await.exists().await.unwrap());
    node.saves(checkpoint(&[ROOT])).await;
    let stack = node.stack().await;
    let import = export(own.clone());
    assert_eq!(stack.import(import.as_bytes(), None, "ann").await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(stack.secrets("ann").await.unwrap_err().kind(), ErrorKind::Invalid);
    let (update, lease) = node.started().await.unwrap();
    let replaced = json!({"version": 1, "kind": 5, "sequenceID": 1, "operationID": 0, "removeOld": null,
                          "removeNew": null, "newSnapshot": own})
    .to_string();
    let refused = update.append(&lease.token, &[replaced.as_bytes()]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
    update.cancel("ann").await.unwrap();
    // A member that is there twice hides nothing.
    let twice = import.replace("\"secrets_providers\":", "\"secrets_providers\":null,\"secrets_providers\":");
    assert_ne!(twice, import);
    assert_eq!(stack.import(twice.as_bytes(), None, "ann").await.unwrap_err().kind(), ErrorKind::Invalid);
    let unreadable =
        json!({"version": 3, "deployment": {"secrets_providers": {"type": "service"}, "resources": [1]}});
    let refused = stack.import(unreadable.to_string().as_bytes(), None, "ann").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
}

#[tokio::test]
async fn a_provider_of_the_service_without_a_secret_leaves_the_stack_its_own() {
    let of_bucket = async |node: &Node| {
        let read = node.direct("dev").await.read().await.unwrap().unwrap();
        let document: Value = serde_json::from_slice(&read.bytes).unwrap();
        document["checkpoint"]["latest"]["secrets_providers"].clone()
    };
    let node = Node::new();
    let new = NewStack::default().state(export(of_the_service(&[ROOT], None)));
    node.stacks.create(&path("dev"), "ann", new).await.unwrap();
    assert_eq!(of_bucket(&node).await, Value::Null);
    // The CLI sends its provider with the first entries, or before them.
    let provider = r#"{"version":1,"kind":6,"sequenceID":3,"operationID":0,"removeOld":null,"removeNew":null,"secretsProvider":{"type":"service","state":{}}}"#;
    let replaced = json!({"version": 1, "kind": 5, "sequenceID": 1, "operationID": 0, "removeOld": null,
                          "removeNew": null, "newSnapshot": of_the_service(&[ROOT, MADE], None)})
    .to_string();
    let [begin, made] = makes(MADE);
    let updates: [&[&[u8]]; 2] =
        [&[begin.as_bytes(), provider.as_bytes(), made.as_bytes()], &[replaced.as_bytes()]];
    for own in [
        Value::Null,
        json!({"type": "passphrase", "state": {"salt": "v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ=="}}),
    ] {
        for entries in updates {
            let mut state = deployment(&[ROOT]);
            state["secrets_providers"] = own.clone();
            let state = json!({"version": 3, "checkpoint": {"stack": "organization/p/dev", "latest": state}});
            node.saves(state.to_string().into()).await;
            let (update, lease) = node.started().await.unwrap();
            update.append(&lease.token, entries).await.unwrap();
            update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
            assert_eq!(
                (node.urns("dev").await, of_bucket(&node).await),
                (vec![ROOT.into(), MADE.into()], own.clone())
            );
        }
        let whole = export(of_the_service(&[ROOT], None));
        node.stack().await.import(whole.as_bytes(), None, "ann").await.unwrap();
        assert_eq!((node.urns("dev").await, of_bucket(&node).await), (vec![ROOT.to_owned()], own));
    }
}
