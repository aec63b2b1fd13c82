//! Secrets of stacks.

use std::sync::Arc;

use groundstate_pulumi_service::common::OsEntropy;
use groundstate_pulumi_service::pulumi_secrets::Key;
use groundstate_pulumi_service::{ErrorKind, LocalKey, NewStack, OldVersion, UpdateResult};

use crate::support::{Service, path};

/// Opens a value by the keys of a name.
async fn opened(service: &Service, name: &str, sealed: &[u8]) -> Option<Vec<u8>> {
    for opener in service.stacks.openers(&path(name)).await.unwrap() {
        if let Ok(text) = opener.secrets().await.unwrap().decrypt(sealed) {
            return Some(text.to_vec());
        }
    }
    None
}

#[tokio::test]
async fn key_of_a_removed_stack_opens_what_names_it() {
    let service = Service::new();
    let old = service.stack().await;
    let name = old.path().stack().to_owned();
    let sealed = old.secrets("ann").await.unwrap().encrypt(b"hunter2").unwrap();
    old.remove(true, "ann").await.unwrap();
    assert_eq!(opened(&service, &name, &sealed).await.as_deref(), Some(&b"hunter2"[..]));
    // Another stack of the name, which goes as well.
    let new = service.stacks.create(&path(&name), "ann", NewStack::default()).await.unwrap();
    let other = new.secrets("ann").await.unwrap();
    assert!(other.decrypt(&sealed).is_err(), "every stack has a key of its own");
    let second = other.encrypt(b"trout").unwrap();
    for is_there in [true, false] {
        assert_eq!(opened(&service, &name, &sealed).await.as_deref(), Some(&b"hunter2"[..]));
        assert_eq!(opened(&service, &name, &second).await.as_deref(), Some(&b"trout"[..]));
        if is_there {
            new.remove(true, "ann").await.unwrap();
        }
    }
    assert_eq!(opened(&service, "none", &sealed).await, None);
}

#[tokio::test]
async fn key_of_a_renamed_stack_opens_by_a_name_that_another_one_took() {
    let service = Service::new();
    let stack = service.stack().await;
    let name = stack.path().stack().to_owned();
    let sealed = stack.secrets("ann").await.unwrap().encrypt(b"hunter2").unwrap();
    let stack = service.stacks.stack(&path(&name)).await.unwrap();
    let renamed = stack.rename(&path("prod"), "ann").await.unwrap();
    service.stacks.create(&path(&name), "ann", NewStack::default()).await.unwrap();
    for name in [name.as_str(), "prod"] {
        assert_eq!(opened(&service, name, &sealed).await.as_deref(), Some(&b"hunter2"[..]), "{name}");
    }
    let openers = service.stacks.openers(&path(&name)).await.unwrap();
    assert_eq!(openers[0].path(), &path("prod"), "the role that counts is that on the stack itself");
    renamed.remove(true, "ann").await.unwrap();
    assert_eq!(opened(&service, &name, &sealed).await.as_deref(), Some(&b"hunter2"[..]));
}

#[tokio::test]
async fn no_key_is_made_beside_one_that_is_lost() {
    let service = Service::new();
    let old = service.stack().await;
    old.secrets("ann").await.unwrap();
    let known = service.stacks.wrapping_keys().await.unwrap();
    assert_eq!(known.len(), 1);
    let other = Arc::new(LocalKey::new(&Key::new([8; 32]), Arc::new(OsEntropy)));
    let lost = service.node().stacks.with_key(other);
    let new = lost.create(&path("new"), "ann", NewStack::default()).await.unwrap();
    let refused = new.secrets("ann").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoKey);
    assert!(refused.to_string().contains(known.first().unwrap()), "{refused}");
    assert_eq!(lost.wrapping_keys().await.unwrap(), known);
    // With the key it goes on.
    service.stacks.stack(&path("new")).await.unwrap().secrets("ann").await.unwrap();
}

#[tokio::test]
async fn key_of_a_store_of_an_earlier_release_is_found() {
    let service = Service::new();
    service.stack().await.secrets("ann").await.unwrap();
    let document = service.document("pulumi/wrapping-keys");
    document.delete(&Default::default()).await.unwrap();
    assert_eq!(service.stacks.wrapping_keys().await.unwrap().len(), 1);
    assert!(document.read().await.unwrap().is_some());
}

/// A state with this member and these outputs.
fn state(member: &str, outputs: &str) -> String {
    format!(
        r#"{{"version":3,"deployment":{{{member}"resources":[{{"urn":"urn:pulumi:dev::p::t:t:T::a","custom":true,"type":"t:t:T","outputs":{outputs}}}]}}}}"#
    )
}

const READABLE: &str =
    r#"{"a":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"\"hush\""}}"#;

#[tokio::test]
async fn readable_secrets_are_encrypted_by_the_key_of_their_stack_or_refused() {
    let service = Service::new();
    let stack = service.stack().await;
    let (owner, project, name) = (stack.path().owner(), stack.path().project(), stack.path().stack());
    let own = format!(
        r#""secrets_providers":{{"type":"service","state":{{"url":"http://x","owner":"{owner}","project":"{project}","stack":"{name}"}}}},"#
    );
    stack.import(state(&own, READABLE).as_bytes(), None, "ann").await.unwrap();
    let mut reader = stack.export().await.unwrap();
    let mut text = Vec::new();
    while let Some(part) = reader.next_part().await.unwrap() {
        text.extend_from_slice(&part);
    }
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("ciphertext") && !text.contains("hush"), "{text}");
    let salted = r#""secrets_providers":{"type":"passphrase","state":{"salt":"v1:x"}},"#;
    for member in ["", salted, &own.replace(name, "other")] {
        let text = state(member, READABLE);
        let error = stack.import(text.as_bytes(), None, "ann").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{member}");
        let new = NewStack::default().state(text);
        assert!(service.stacks.create(&path("made"), "ann", new).await.is_err(), "{member}");
        assert!(!error.to_string().contains("hush"));
    }
}

#[tokio::test]
async fn states_that_pulumi_cannot_load_are_refused() {
    let service = Service::new();
    let stack = service.stack().await;
    let sealed = READABLE.replace("plaintext", "ciphertext");
    for (outputs, code) in [
        (r#"{"a":1e999}"#, "GS0658"),
        (r#"{"a":{"4dabf18193072939515e22adb298388d":"foobar"}}"#, "GS0650"),
        (&sealed, "GS0659"),
    ] {
        let error = stack.import(state("", outputs).as_bytes(), None, "ann").await.unwrap_err();
        assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains(code), "{error}");
        let new = NewStack::default().state(state("", outputs));
        let error = service.stacks.create(&path("made"), "ann", new).await.unwrap_err();
        assert!(error.to_string().contains(code), "{error}");
    }
    // `pulumi stack import --force` stores references to what is not there.
    let broken = state("", "{}").replace(r#""custom":true"#, r#""custom":true,"dependencies":["urn:gone"]"#);
    stack.import(broken.as_bytes(), None, "ann").await.unwrap();
}

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
