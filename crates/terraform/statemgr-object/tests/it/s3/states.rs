//! States in a bucket: conditions, encryption, checksums, large ones, odd keys.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Expect, StateStore, WorkspaceName, WriteOptions};
use groundstate_statemgr_object::S3Layout;
use groundstate_testkit::{Fault, Recorded};

use crate::s3::support::{BUCKET, Cloud, KEY, Locks, info, state};

const STATE: &str = "/states/network/prod.tfstate";

#[tokio::test]
async fn a_state_that_another_program_replaced_is_a_conflict() {
    for locks in [Locks::None, Locks::File, Locks::Row] {
        let cloud = Cloud::new();
        let store = cloud.store(locks);
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        let read = store.read().await.unwrap().unwrap();
        // As terraform does with `-lock=false`.
        cloud.server.put_object(BUCKET, KEY, state(7));
        let error = store
            .write(
                Bytes::copy_from_slice(&state(2)),
                &WriteOptions::expecting(Expect::Version(read.version.clone())),
            )
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert!(error.mismatch().unwrap().0.contains(read.version.as_str()));
        assert_eq!(cloud.state(), Some(state(7)));
        let error = store
            .write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Absent))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
    }
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_stored_once() {
    for fault in [
        Fault::after_commit_500(),
        Fault::drop_after_commit(),
        Fault::duplicate(),
        Fault::before_500(),
        Fault::drop_before(),
    ] {
        let cloud = Cloud::new();
        cloud.server.keep_versions(BUCKET);
        let store = cloud.store(Locks::None);
        let first = store
            .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::expecting(Expect::Absent))
            .await
            .unwrap();
        cloud.server.fault(fault.clone().on("PUT", STATE).nth(1));
        let second = store
            .write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Version(first)))
            .await
            .unwrap();
        assert_eq!(store.read().await.unwrap().unwrap().version, second, "{fault:?}");
        assert_eq!(cloud.state(), Some(state(2)));
        // The version is of use for the next write.
        store
            .write(Bytes::copy_from_slice(&state(3)), &WriteOptions::expecting(Expect::Version(second)))
            .await
            .unwrap();
    }
}

fn header<'r>(request: &'r Recorded, name: &str) -> &'r str {
    request.header(name).unwrap_or("-")
}

#[tokio::test]
async fn options_of_encryption_go_with_each_write() {
    const SSE: &str = "x-amz-server-side-encryption";
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let digest = "XuQTlTn1CX64Z1v9FB6V5A==";
    for (options, put, get) in [
        (vec![("encrypt", "true")], vec![(SSE, "AES256")], vec![]),
        (
            vec![("encrypt", "true"), ("kms_key_id", "alias/states")],
            vec![(SSE, "aws:kms"), ("x-amz-server-side-encryption-aws-kms-key-id", "alias/states")],
            vec![],
        ),
        (
            vec![("encrypt", "true"), ("sse_customer_key", key)],
            vec![("x-amz-server-side-encryption-customer-algorithm", "AES256")],
            vec![("x-amz-server-side-encryption-customer-algorithm", "AES256")],
        ),
        (
            vec![("acl", "bucket-owner-full-control")],
            vec![("x-amz-acl", "bucket-owner-full-control")],
            vec![],
        ),
    ] {
        let cloud = options.iter().fold(Cloud::new(), |cloud, (name, value)| cloud.with(name, value));
        let (store, other) = (cloud.store(Locks::File), cloud.store(Locks::File));
        let grant = store.lock(&info("a")).await.unwrap();
        // With a customer's key the holder can be shown only to those who send it along.
        assert_eq!(other.lock(&info("b")).await.unwrap_err().holder().unwrap().id, grant.id);
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        store.read().await.unwrap();
        store.unlock(&grant.id).await.unwrap();
        for request in cloud.server.requests() {
            let expected = match request.method.as_str() {
                "PUT" => &put,
                "GET" => &get,
                _ => continue,
            };
            for (name, value) in expected {
                assert_eq!(header(&request, name), *value, "{request:?}");
            }
            if !get.is_empty() {
                assert_eq!(header(&request, "x-amz-server-side-encryption-customer-key"), key, "{request:?}");
                let sent = header(&request, "x-amz-server-side-encryption-customer-key-md5");
                assert_eq!(sent.len(), digest.len(), "{request:?}");
            } else if request.method == "GET" {
                assert_eq!(header(&request, SSE), "-", "{request:?}");
            }
        }
    }
}

#[tokio::test]
async fn each_write_has_a_checksum_unless_it_is_switched_off() {
    for (skip, expected) in [("false", 44), ("true", 1)] {
        let cloud = Cloud::new().with("skip_s3_checksum", skip);
        let store = cloud.store(Locks::File);
        store.lock(&info("a")).await.unwrap();
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        let puts: Vec<Recorded> =
            cloud.server.requests().into_iter().filter(|request| request.method == "PUT").collect();
        assert_eq!(puts.len(), 2);
        for put in puts {
            assert_eq!(header(&put, "x-amz-checksum-sha256").len(), expected, "{put:?}");
            assert_eq!(header(&put, "content-type"), "application/json", "{put:?}");
        }
    }
}

#[tokio::test]
async fn tags_of_states_and_locks_are_told_apart() {
    let cloud = Cloud::new().with("state_tags", "kind=state").with("lock_tags", "kind=lock");
    let store = cloud.store(Locks::File);
    store.lock(&info("a")).await.unwrap();
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    let tags: Vec<String> = cloud
        .server
        .requests()
        .iter()
        .filter(|request| request.method == "PUT")
        .map(|request| header(request, "x-amz-tagging").to_owned())
        .collect();
    assert_eq!(tags, ["kind=lock", "kind=state"]);
}

#[tokio::test]
async fn keys_with_blanks_and_accents_are_kept() {
    let cloud = Cloud::new();
    let key = "a~b c/é.tfstate";
    let backend = cloud.backend_at(S3Layout::new(key).unwrap(), Locks::None.options());
    let store = backend.open(&WorkspaceName::default_name()).unwrap();
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    assert_eq!(cloud.server.keys(BUCKET), [key]);
    assert_eq!(store.read().await.unwrap().unwrap().bytes, state(1));
}

/// Sends a request past the store, and gives the body and the entity tag of the reply.
async fn send(cloud: &Cloud, method: &str, query: &str, body: impl Into<Bytes>) -> (String, String) {
    let url = format!("{}{STATE}?{query}", cloud.server.endpoint());
    let request = http::Request::builder().method(method).uri(url).body(body.into()).unwrap();
    let reply = cloud.blobs().signed("s3", request).await.unwrap();
    assert!(reply.is_success(), "{reply:?}");
    (String::from_utf8(reply.body.to_vec()).unwrap(), reply.header("etag").unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_state_uploaded_in_parts_is_read_and_replaced() {
    let cloud = Cloud::new();
    let (started, _) = send(&cloud, "POST", "uploads", "").await;
    let id = started.split_once("<UploadId>").unwrap().1.split_once('<').unwrap().0.to_owned();
    let parts = [vec![b' '; 5 * 1024 * 1024], state(1)];
    let mut list = String::new();
    for (number, part) in parts.iter().enumerate() {
        let number = number + 1;
        let (_, tag) = send(&cloud, "PUT", &format!("partNumber={number}&uploadId={id}"), part.clone()).await;
        list.push_str(&format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"));
    }
    let complete = format!("<CompleteMultipartUpload>{list}</CompleteMultipartUpload>");
    send(&cloud, "POST", &format!("uploadId={id}"), complete).await;
    let store = cloud.store(Locks::None);
    let read = store.read().await.unwrap().unwrap();
    assert!(read.bytes == parts.concat());
    assert!(read.version.as_str().contains("-2"), "{}", read.version);
    store
        .write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Version(read.version)))
        .await
        .unwrap();
    assert_eq!(cloud.state(), Some(state(2)));
}

#[tokio::test]
async fn versions_of_other_stores_are_conflicts() {
    let cloud = Cloud::new();
    let store = cloud.store(Locks::None);
    let made_up = WriteOptions::expecting(Expect::Version(groundstate_statemgr::Version::new("17")));
    assert_eq!(
        store.write(Bytes::copy_from_slice(&state(1)), &made_up).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    assert_eq!(store.delete(&made_up).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(cloud.state(), Some(state(1)));
}

#[tokio::test]
async fn an_object_of_zero_bytes_is_no_state_and_is_replaced() {
    let cloud = Cloud::new();
    cloud.server.put_object(BUCKET, KEY, "");
    let store = cloud.store(Locks::None);
    assert!(store.read().await.unwrap().is_none());
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::expecting(Expect::Absent)).await.unwrap();
    assert_eq!(cloud.state(), Some(state(1)));
}
