//! Secrets of stacks.

use groundstate_pulumi_service::{ErrorKind, NewStack, OldVersion, UpdateResult};

use crate::support::{Service, path};

#[tokio::test]
async fn what_a_stack_encrypts_no_other_one_decrypts() {
    let service = Service::new();
    let (a, b) =
        (service.stack().await, service.stacks.create(&path("b"), "ann", NewStack::default()).await.unwrap());
    let (a, b) = (a.secrets("ann").await.unwrap(), b.secrets("ann").await.unwrap());
    for value in [&b""[..], b"hunter2", &[0xff; 1000]] {
        let sealed = a.encrypt(value).unwrap();
        assert_eq!(**a.decrypt(&sealed).unwrap(), *value);
        assert_ne!(sealed, a.encrypt(value).unwrap());
        assert_eq!(b.decrypt(&sealed).unwrap_err().kind(), ErrorKind::Invalid);
        for at in 0..sealed.len().min(64) {
            let mut flipped = sealed.clone();
            flipped[at] ^= 1;
            assert!(a.decrypt(&flipped).is_err(), "byte {at}");
            assert!(a.decrypt(&sealed[..at]).is_err(), "cut at {at}");
        }
    }
}

#[tokio::test]
async fn nodes_that_ask_for_a_key_at_once_get_the_same() {
    let service = Service::new();
    let id = service.stack().await.path().clone();
    let nodes: Vec<Service> = (0..4).map(|_| service.node()).collect();
    let mut tasks = Vec::new();
    for node in nodes {
        let id = id.clone();
        tasks.push(tokio::spawn(async move {
            node.stacks.stack(&id).await.unwrap().secrets("ann").await.unwrap()
        }));
    }
    let mut secrets = Vec::new();
    for task in tasks {
        secrets.push(task.await.unwrap());
    }
    let sealed = secrets[0].encrypt(b"hunter2").unwrap();
    for other in &secrets {
        assert_eq!(**other.decrypt(&sealed).unwrap(), *b"hunter2");
    }
}

#[test]
fn the_debug_text_of_what_a_stack_begins_with_has_no_state() {
    let state = r#"{"version":3,"deployment":{"resources":["hunter2"]}}"#;
    let new = NewStack::default().state(state);
    let mut old = OldVersion::new("k", "update", UpdateResult::Succeeded);
    old.state = Some(state.into());
    old.config = Some(serde_json::value::to_raw_value("hunter2").unwrap());
    old.environment = [("git.token".to_owned(), "hunter2".to_owned())].into();
    for shown in [format!("{new:?}"), format!("{new:#?}"), format!("{old:?}"), format!("{old:#?}")] {
        assert!(shown.contains(&state.len().to_string()) && !shown.contains("hunter2"), "{shown}");
    }
}
