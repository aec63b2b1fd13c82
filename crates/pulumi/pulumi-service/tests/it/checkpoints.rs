//! Checkpoints: whole, verbatim and as differences.

use groundstate_pulumi_service::json::RawJson;
use groundstate_pulumi_service::{CheckpointUpload, ErrorKind, UpdateResult};

use crate::support::{Service, state, urns};

#[tokio::test]
async fn the_last_checkpoint_is_the_state_that_an_update_leaves() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    for urns in
        [r#"[{"urn":"urn:a","type":"t","custom":false}]"#, r#"[{"urn":"urn:b","type":"t","custom":false}]"#]
    {
        let deployment =
            RawJson::parse_as_written(&format!(r#"{{"metadata":{{}},"resources":{urns},"n":1.50}}"#))
                .unwrap();
        let features = vec!["later".to_owned()];
        let upload = CheckpointUpload::Whole { version: 4, features: &features, deployment: &deployment };
        update.save(&lease.token, upload).await.unwrap();
    }
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    let bytes = stack.export().await.unwrap().collect(1 << 20).await.unwrap();
    assert!(std::str::from_utf8(&bytes).unwrap().contains(r#""n":1.50"#));
    let now = state(&stack).await;
    assert_eq!((urns(&now), &now["features"][0]), (vec!["urn:b"], &"later".into()));
}

#[tokio::test]
async fn what_a_client_leaves_when_it_dies_is_its_last_checkpoint() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    let text = br#"{"version":3,"deployment":{"resources":[{"urn":"urn:a","type":"t","custom":false}]}}"#;
    update.save(&lease.token, CheckpointUpload::Verbatim { sequence: 1, text }).await.unwrap();
    service.wait(301);
    assert_eq!(urns(&state(&stack).await), ["urn:a"]);
    let late = update.save(&lease.token, CheckpointUpload::Verbatim { sequence: 2, text }).await;
    assert_eq!(late.unwrap_err().kind(), ErrorKind::LeaseLost);
}
