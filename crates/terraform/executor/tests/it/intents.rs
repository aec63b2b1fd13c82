//! Notes in stores.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_executor::{IntentLog, MemoryIntents, StoredIntents};
use groundstate_ordering::effects::Intent;
use groundstate_ordering::{ApplyKind, OpKind};
use groundstate_statemgr::{ErrorKind, SharedMemory, StateStore, WriteOptions};
use groundstate_states::DeposedKey;
use groundstate_states::addr::ProviderInstance;

use crate::support::{addr, provider};

fn intents() -> Vec<Intent> {
    let key = DeposedKey::from_number(0xab);
    let kinds = [
        (OpKind::Apply(ApplyKind::Create), None),
        (OpKind::Apply(ApplyKind::Update), None),
        (OpKind::Apply(ApplyKind::ReplaceCreate), None),
        (OpKind::Apply(ApplyKind::ReplaceCreate), Some(key)),
        (OpKind::Apply(ApplyKind::ForgetCreate), None),
        (OpKind::Apply(ApplyKind::Read), None),
        (OpKind::Apply(ApplyKind::Check), None),
        (OpKind::Destroy, None),
        (OpKind::DestroyDeposed(key), None),
        (OpKind::Forget, None),
        (OpKind::ForgetDeposed(key), None),
    ];
    let at = addr("module.m[\"a b\"].data.net.a[0]");
    let text = "module.m.provider[\"example.org/acme/x\"].west[\"eu\"]";
    let west = ProviderInstance::parse(text, "example.org").unwrap();
    let intent = |(kind, deposes_to)| Intent::new(at.clone(), kind, west.clone(), deposes_to);
    kinds
        .into_iter()
        .map(intent)
        .chain([Intent::new(addr("vm.a"), OpKind::Destroy, provider(), None)])
        .collect()
}

#[tokio::test]
async fn notes_come_back_as_they_were_written() {
    let place = SharedMemory::new("intents");
    let stored = StoredIntents::new(Arc::new(place.open()));
    let memory = MemoryIntents::new();
    for log in [&stored as &dyn IntentLog, &memory] {
        assert!(log.read().await.unwrap().is_empty());
        log.replace(&intents()).await.unwrap();
        assert_eq!(log.read().await.unwrap(), intents());
        log.replace(&intents()[..1]).await.unwrap();
        assert_eq!(log.read().await.unwrap().len(), 1);
        log.replace(&[]).await.unwrap();
        assert!(log.read().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn the_document_is_one_that_people_can_read() {
    let place = SharedMemory::new("intents");
    let key = DeposedKey::from_number(1);
    let intent = Intent::new(addr("vm.a"), OpKind::Apply(ApplyKind::ReplaceCreate), provider(), Some(key));
    StoredIntents::new(Arc::new(place.open())).replace(&[intent]).await.unwrap();
    let bytes = place.open().read().await.unwrap().unwrap().bytes;
    let expected = r#"{
  "version": 1,
  "intents": [
    {
      "address": "vm.a",
      "operation": "replace-create",
      "deposed": "00000001",
      "provider": "provider[\"example.org/acme/x\"]"
    }
  ]
}
"#;
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[tokio::test]
async fn documents_that_cannot_be_understood_are_refused() {
    let note = |operation: &str, more: &str| {
        format!(
            r#"{{"version":1,"intents":[{{"address":"vm.a","operation":"{operation}","provider":"provider[\"a/b/c\"]"{more}}}]}}"#
        )
    };
    for (document, why) in [
        ("{".to_owned(), "EOF"),
        (r#"{"version":2,"intents":[]}"#.to_owned(), "version 2"),
        (note("explode", ""), "no operation \"explode\""),
        (note("destroy-deposed", ""), "names no deposed object"),
        (note("destroy-deposed", r#","deposed":"1""#), "8 bytes"),
        (note("create", "").replace("vm.a", "vm"), "vm"),
        (note("create", "").replace("provider[", "["), "provider"),
    ] {
        let place = SharedMemory::new("intents");
        place.open().write(Bytes::copy_from_slice(document.as_bytes()), &WriteOptions::any()).await.unwrap();
        let error = StoredIntents::new(Arc::new(place.open())).read().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(why), "{error} for {document}");
    }
}
