//! Stores by their addresses.

use groundstate_blobs::{ErrorKind, GetOptions, PutOptions};
use groundstate_blobs_cloud::BlobUrl;
use groundstate_testkit::{AzureServer, GcsServer, S3Server};

use crate::azure;
use crate::context::context;

#[tokio::test]
async fn every_store_opens_by_its_address() -> Result<(), Box<dyn std::error::Error>> {
    let (s3, gcs, azure) = (S3Server::start().await, GcsServer::start().await, AzureServer::start().await);
    s3.create_bucket("b");
    gcs.create_bucket("b");
    azure.create_container("c");
    let folder = tempfile::tempdir()?;
    let variable = |name: &str| match name {
        "AWS_ACCESS_KEY_ID" => Some("AKIATEST".to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some("s3cr3t".to_owned()),
        "GOOGLE_OAUTH_ACCESS_TOKEN" => Some("t0ken".to_owned()),
        "ARM_ACCESS_KEY" => Some(azure::KEY.to_owned()),
        _ => None,
    };
    let addresses = [
        format!("s3://b/a/k?region=us-east-1&endpoint={}", s3.endpoint()),
        format!("gs://b/a/k?endpoint={}", gcs.endpoint()),
        format!("az://c/a/k?account=devstoreaccount1&endpoint={}", azure.account_endpoint()),
        format!("file://{}", folder.path().display()),
        "memory://m/a/k".to_owned(),
    ];
    for address in addresses {
        let url = BlobUrl::parse(&address)?;
        let store = url.open(&context(), &variable).map_err(|error| format!("{address}: {error}"))?;
        let key = url.key().cloned().map_or_else(|| groundstate_blobs::Key::parse("a/k"), Ok)?;
        store
            .put(&key, "1".into(), &PutOptions::default())
            .await
            .map_err(|error| format!("{address}: {error}"))?;
        let blob = store.get(&key, &GetOptions::default()).await?;
        assert_eq!(blob.map(|blob| blob.bytes), Some("1".into()), "{address}");
        assert!(!address.contains("://b/") || store.to_string().ends_with("://b"), "{store}");
    }
    Ok(())
}

#[test]
fn options_that_a_store_does_not_have_are_refused() -> Result<(), Box<dyn std::error::Error>> {
    for address in [
        "s3://b/k?bukket=x",
        "gs://b?region=x",
        "az://c?account=acc&profile=x",
        "memory://m?x=y",
        "file:///x?y=z",
    ] {
        let error = BlobUrl::parse(address)?.open(&context(), &|_| None).err().ok_or(address)?;
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().ends_with("remove it"), "{error}");
    }
    Ok(())
}
