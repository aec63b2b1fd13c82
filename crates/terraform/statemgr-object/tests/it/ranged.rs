//! Outputs without the rest of the state.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::{BlobStore, Key, MemoryBlobs, PutOptions};
use groundstate_conformance::FaultyBlobs;
use groundstate_statemgr::{Error, WorkspaceName};
use groundstate_statemgr_object::{AzureBackend, FolderLayout, ObjectBackend, RangedOutputs};

/// A state whose outputs and resources have about these sizes.
fn state(output: usize, resources: usize) -> Bytes {
    let large = "x".repeat(output);
    let resource = format!(
        "{{\"mode\":\"managed\",\"type\":\"null_resource\",\"name\":\"a\",\
         \"provider\":\"provider[\\\"registry.terraform.io/hashicorp/null\\\"]\",\
         \"instances\":[{{\"schema_version\":0,\"attributes\":{{\"id\":\"{}\"}}}}]}}",
        "y".repeat(resources)
    );
    Bytes::from(format!(
        "{{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":1,\"lineage\":\"a\",\"outputs\":{{\
         \"large\":{{\"value\":\"{large}\",\"type\":\"string\"}},\"small\":{{\"value\":7,\"type\":\"number\"}}}},\
         \"resources\":[{resource}],\"check_results\":null}}\n"
    ))
}

fn default_name() -> WorkspaceName {
    WorkspaceName::default_name()
}

async fn stored(bytes: Bytes) -> (FaultyBlobs, ObjectBackend) {
    let blobs = MemoryBlobs::new("states");
    let key = Key::parse("default.tfstate").expect("it is a key");
    blobs.put(&key, bytes, &PutOptions::default()).await.expect("it answers");
    let faulty = FaultyBlobs::new(blobs);
    (faulty.clone(), ObjectBackend::new(Arc::new(faulty), Arc::new(FolderLayout::new(""))))
}

async fn names(backend: &dyn RangedOutputs, name: Option<&str>) -> Result<Option<Vec<String>>, Error> {
    let found = backend.outputs(&default_name(), name).await?;
    Ok(found.map(|found| found.into_iter().map(|(name, _)| name).collect()))
}

#[tokio::test]
async fn outputs_are_read_without_the_resources_behind_them() -> Result<(), Error> {
    for (output, resources, requests) in
        // The end of what is larger than the first piece is fetched as well.
        [(10, 10, 1), (10, 5_000_000, 2), (100_000, 5_000_000, 3), (1_000_000, 5_000_000, 4)]
    {
        let (blobs, backend) = stored(state(output, resources)).await;
        let both = Some(vec!["large".to_owned(), "small".to_owned()]);
        assert_eq!(names(&backend, None).await?, both, "{output} {resources}");
        assert_eq!(blobs.calls().len(), requests, "{output} {resources}");
        assert_eq!(names(&backend, Some("small")).await?, Some(vec!["small".to_owned()]));
        assert_eq!(names(&backend, Some("none")).await?, Some(Vec::new()));
    }
    Ok(())
}

#[tokio::test]
async fn what_is_not_a_plain_state_is_left_to_a_whole_read() -> Result<(), Error> {
    let rows: [&[u8]; 6] = [
        b"",
        b"nonsense",
        br#"{"version":3,"serial":1,"lineage":"a","modules":[]}"#,
        br#"{"serial":1,"lineage":"a","meta":{},"encrypted_data":"eA==","encryption_version":"v0"}"#,
        br#"{"version":4,"outputs":{"a":"#,
        br#"{"version":4,"outputs":{"a":{"value":1}}}"#,
    ];
    for bytes in rows {
        let (_, backend) = stored(Bytes::from_static(bytes)).await;
        let found = names(&backend, None).await?;
        assert_eq!(found, None, "{}", String::from_utf8_lossy(bytes));
    }
    let nowhere = AzureBackend::new(Arc::new(MemoryBlobs::new("states")), "states", "prod.tfstate")?;
    assert_eq!(names(&nowhere, None).await?, None);
    Ok(())
}

#[tokio::test]
async fn outputs_in_a_second_member_are_not_missed() -> Result<(), Error> {
    for resources in [10, 5_000_000] {
        let text = String::from_utf8(state(10, resources).to_vec()).expect("it is text");
        let second = r#""check_results":null,"\u006futputs":{"more":{"value":1,"type":"number"}}}"#;
        let text = text.replace("\"check_results\":null}", second);
        let (_, backend) = stored(Bytes::from(text)).await;
        let found = names(&backend, None).await?;
        let all = ["large", "more", "small"].map(str::to_owned).to_vec();
        // Nothing means that the state is read as a whole.
        assert!(found.is_none() || found == Some(all), "{resources}: {found:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_write_in_between_begins_it_again() -> Result<(), Error> {
    let (blobs, backend) = stored(state(100_000, 1_000)).await;
    let key = Key::parse("default.tfstate").expect("it is a key");
    blobs.meanwhile(1, key, state(10, 10));
    assert_eq!(names(&backend, Some("large")).await?, Some(vec!["large".to_owned()]));
    assert_eq!(blobs.calls(), ["get", "get", "get"]);
    Ok(())
}

#[tokio::test]
async fn a_store_without_ranges_is_read_whole() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let mut can = blobs.capabilities();
    can.ranges = false;
    let layout = Arc::new(FolderLayout::new(""));
    let backend = ObjectBackend::new(Arc::new(blobs.limited_to(can)), layout);
    assert_eq!(names(&backend, None).await?, None);
    Ok(())
}
