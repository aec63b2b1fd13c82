//! What is kept of a version beside its bytes, written in a form that this release does not know.

use std::sync::Arc;

use groundstate_server::Policies;
use groundstate_server::blobs::{BlobStore, MemoryBlobs};
use groundstate_server::common::{FixedClock, Timestamp};
use groundstate_server::versioned::{Documents, Name, Note, Settings, WriteOptions};

use crate::support::{Server, URL, context, state};

const API: &str = "/api/v1/states/shop/network/default";

#[tokio::test]
async fn behind_a_version_whose_note_cannot_be_read_nothing_is_written_and_reads_go_on() {
    let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::new("states"));
    let server = Server::on(Arc::clone(&blobs), Policies::default());
    let admin = server.admin();
    admin.post("", state(1)).await.is(200);

    let clock = Arc::new(FixedClock::new(Timestamp::from_unix(1_800_000_000, 0).unwrap()));
    let settings = Settings::default().root("documents");
    let documents = Documents::open(blobs, context(&clock, 1_000_000), settings).unwrap();
    let document = documents.document(&Name::parse("terraform/shop/network/default").unwrap());
    let content = document.content(state(5)).await.unwrap();
    let note = Note::parse(r#"{"serial": {"number": 5}, "lineage": "l-1"}"#).unwrap();
    document.write(&content, &WriteOptions::default().note(note)).await.unwrap();

    for refused in [
        admin.post("", state(3)).await,
        admin.post("", state(6)).await,
        admin.call("DELETE", URL, "").await,
        admin.call("POST", &format!("{API}/rollback"), r#"{"version": 1}"#).await,
        admin.call("POST", &format!("{API}/rollback"), r#"{"version": 1, "force": true}"#).await,
    ] {
        let text = refused.is(422).text();
        assert!(text.contains("version 2 of shop/network") && text.contains("a later release"), "{text}");
    }
    assert_eq!(admin.get(URL).await.is(200).body, state(5));
    let versions = admin.get(&format!("{API}/versions")).await.is(200).json();
    let numbers: Vec<_> = versions["versions"].as_array().unwrap().iter().map(|it| &it["number"]).collect();
    assert_eq!(numbers, [2, 1]);
}
