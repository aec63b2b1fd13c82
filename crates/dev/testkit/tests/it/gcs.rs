//! Google Cloud Storage, through object_store and by hand.

use groundstate_testkit::GcsServer;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::Value;

use crate::stores::check_all;
use crate::support::{gcs, gcs_builder, http};

#[tokio::test(flavor = "multi_thread")]
async fn an_object_store_finds_all_it_needs() {
    let (server, client) = gcs().await;
    server.require_token("token");
    check_all(client).await;
}

async fn sent(request: RequestBuilder) -> (StatusCode, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

/// An upload with a description, as clients of the JSON interface make it.
fn upload(server: &GcsServer, name: &str, condition: &str, bytes: &str) -> RequestBuilder {
    let url = format!(
        "{}/upload/storage/v1/b/b/o?alt=json&name={name}&uploadType=multipart{condition}",
        server.endpoint()
    );
    let body = format!(
        "--xx\r\nContent-Type: application/json\r\n\r\n{{\"bucket\":\"b\",\"metadata\":{{\"a\":\"1\"}}}}\r\n\
         --xx\r\nContent-Type: text/plain\r\n\r\n{bytes}\r\n--xx--\r\n"
    );
    http().post(url).header("content-type", "multipart/related; boundary=xx").body(body)
}

#[tokio::test]
async fn a_lock_is_created_and_deleted_by_generation() {
    let (server, _) = gcs().await;
    let (status, lock) = sent(upload(&server, "p%2Fa.tflock", "&ifGenerationMatch=0", "who\r\n--x")).await;
    assert_eq!(status, 200);
    let generation = lock["generation"].as_str().unwrap();
    assert_eq!((lock["name"].as_str(), lock["metadata"]["a"].as_str()), (Some("p/a.tflock"), Some("1")));
    assert_eq!(&server.object("b", "p/a.tflock").unwrap().bytes[..], b"who\r\n--x");
    let (status, error) = sent(upload(&server, "p%2Fa.tflock", "&ifGenerationMatch=0", "other")).await;
    assert_eq!((status.as_u16(), error["error"]["code"].as_u64()), (412, Some(412)));
    assert_eq!(error["error"]["errors"][0]["reason"], "conditionNotMet");
    let url = |generation: &str| {
        format!("{}b/b/o/p%2Fa.tflock?alt=json&ifGenerationMatch={generation}", server.json_endpoint())
    };
    assert_eq!(sent(http().delete(url("1"))).await.0, 412);
    assert_eq!(sent(http().delete(url(generation))).await.0, 204);
    assert_eq!(sent(http().delete(url(generation))).await.0, 404);
    // What is not there has generation 0, for uploads.
    assert_eq!(sent(upload(&server, "p%2Fa.tflock", "&ifGenerationMatch=7", "x")).await.0, 412);
}

#[tokio::test]
async fn the_interfaces_see_the_same_objects() {
    let (server, client) = gcs().await;
    let put = client.put(&Path::from("p/a b"), "bytes".into()).await.unwrap();
    let base = server.json_endpoint();
    let (_, resource) = sent(http().get(format!("{base}b/b/o/p%2Fa%20b?alt=json"))).await;
    assert_eq!(resource["generation"].as_str(), put.version.as_deref());
    assert_eq!((resource["size"].as_str(), resource["name"].as_str()), (Some("5"), Some("p/a b")));
    let media = http().get(format!("{base}b/b/o/p%2Fa%20b?alt=media")).send().await.unwrap();
    assert_eq!(media.headers()["x-goog-generation"], put.version.unwrap().as_str());
    assert_eq!(media.text().await.unwrap(), "bytes");
    let (_, list) = sent(http().get(format!("{base}b/b/o?delimiter=%2F"))).await;
    assert_eq!(list["prefixes"], serde_json::json!(["p/"]));
    let delete = |generation: &str| {
        http()
            .delete(format!("{}/b/p/a%20b", server.endpoint()))
            .header("x-goog-if-generation-match", generation)
    };
    assert_eq!(sent(delete("1")).await.0, 412);
    assert_eq!(sent(delete(resource["generation"].as_str().unwrap())).await.0, 204);
    assert_eq!(server.keys("b"), [""; 0]);
}

#[tokio::test]
async fn an_object_is_copied_with_its_description_and_under_conditions() {
    let (server, _) = gcs().await;
    sent(upload(&server, "p%2Fa", "", "bytes")).await;
    let base = server.json_endpoint();
    let url = |from: &str, verb: &str, to: &str, condition: &str| {
        format!("{base}b/b/o/{from}/{verb}/b/b/o/{to}?alt=json{condition}")
    };
    let (status, done) = sent(http().post(url("p%2Fa", "rewriteTo", "p%2Fb", "")).body("{}")).await;
    assert_eq!(
        (status.as_u16(), done["done"].as_bool(), &done["resource"]["name"]),
        (200, Some(true), &"p/b".into())
    );
    let copy = server.object("b", "p/b").unwrap();
    assert_eq!((&copy.bytes[..], copy.headers["x-goog-meta-a"].as_str()), (&b"bytes"[..], "1"));
    let (status, copied) = sent(http().post(url("p%2Fa", "copyTo", "c", "&ifGenerationMatch=0"))).await;
    assert_eq!((status.as_u16(), &copied["name"]), (200, &"c".into()));
    assert_eq!(sent(http().post(url("p%2Fa", "copyTo", "c", "&ifGenerationMatch=0"))).await.0, 412);
    assert_eq!(sent(http().post(url("none", "rewriteTo", "c", ""))).await.0, 404);
}

#[tokio::test]
async fn lists_come_in_pages() {
    let (server, _) = gcs().await;
    for number in 0..5 {
        server.put_object("b", &format!("k{number}"), "x");
    }
    let (mut names, mut token) = (Vec::new(), String::new());
    loop {
        let url = format!("{}b/b/o?maxResults=2&pageToken={token}", server.json_endpoint());
        let (_, page) = sent(http().get(url)).await;
        names.extend(
            page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["nextPageToken"].as_str() else { break };
        token = next.replace('=', "%3D");
    }
    assert_eq!(names, ["k0", "k1", "k2", "k3", "k4"]);
}

#[tokio::test]
async fn an_upload_is_resumed_and_its_condition_is_checked_at_the_end() {
    let (server, _) = gcs().await;
    let begin = || async {
        let url = format!(
            "{}/upload/storage/v1/b/b/o?uploadType=resumable&name=k&ifGenerationMatch=0",
            server.endpoint()
        );
        http().post(url).send().await.unwrap().headers()["location"].to_str().unwrap().to_owned()
    };
    let (first, second) = (begin().await, begin().await);
    let piece = |url: &str, range: &'static str, bytes: &'static str| {
        http().put(url).header("content-range", range).body(bytes).send()
    };
    let answer = piece(&first, "bytes 0-3/*", "abcd").await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers()["range"].to_str().unwrap()), (308, "bytes=0-3"));
    let answer = piece(&first, "bytes */6", "").await.unwrap();
    assert_eq!(answer.status(), 308);
    assert_eq!(piece(&first, "bytes 4-5/6", "ef").await.unwrap().status(), 200);
    assert_eq!(&server.object("b", "k").unwrap().bytes[..], b"abcdef");
    assert_eq!(piece(&second, "bytes 0-0/1", "x").await.unwrap().status(), 412);
}

#[tokio::test]
async fn an_object_under_a_customers_key_is_read_by_that_key_alone() {
    let (server, _) = gcs().await;
    let keys = [
        ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "Zmh6rfhivXdsj8GLjp+OIAiXFIVu4jOzkCpZHQ1fKSU="),
        ("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=", "cs1uhCLEB/ttCYaQ8RMLfe1+wvf14dML2dUh8BU2N5M="),
    ];
    let with = |request: RequestBuilder, key: usize| {
        request
            .header("x-goog-encryption-algorithm", "AES256")
            .header("x-goog-encryption-key", keys[key].0)
            .header("x-goog-encryption-key-sha256", keys[key].1)
    };
    let url = format!("{}/b/k", server.endpoint());
    let put = with(http().put(&url), 0).body("secret").send().await.unwrap();
    assert_eq!(put.status(), 200, "{}", put.text().await.unwrap());
    let get = |request: RequestBuilder| async move {
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(get(with(http().get(&url), 0)).await, (200, "secret".to_owned()));
    for (request, code) in [
        (http().get(&url), "ResourceIsEncryptedWithCustomerEncryptionKey"),
        (with(http().get(&url), 1), "CustomerEncryptionKeyIsIncorrect"),
    ] {
        let (status, text) = get(request).await;
        assert_eq!(status, 400);
        assert!(text.contains(code), "{text}");
    }
    let (_, resource) = sent(http().get(format!("{}b/b/o/k", server.json_endpoint()))).await;
    assert_eq!(resource["customerEncryption"]["encryptionAlgorithm"], "AES256");
    assert_eq!(resource["md5Hash"], Value::Null);
    server.put_object("b", "plain", "x");
    assert_eq!(get(with(http().get(format!("{}/b/plain", server.endpoint())), 0)).await.0, 400);
}

#[tokio::test]
async fn what_does_not_exist_or_is_not_allowed_is_told_apart() {
    let (server, client) = gcs().await;
    for (path, reason) in [("b/none/o/k", "notFound"), ("b/none/o", "notFound"), ("b/b/o/k", "notFound")] {
        let (status, error) = sent(http().get(format!("{}{path}", server.json_endpoint()))).await;
        assert_eq!(
            (status.as_u16(), error["error"]["errors"][0]["reason"].as_str()),
            (404, Some(reason)),
            "{path}"
        );
    }
    let bucket = http().get(format!("{}/none/k", server.endpoint())).send().await.unwrap();
    assert!(bucket.text().await.unwrap().contains("<Code>NoSuchBucket</Code>"));
    server.deny("PUT", "*");
    let error = client.put(&Path::from("k"), "x".into()).await.unwrap_err();
    assert!(matches!(error, Error::PermissionDenied { .. }), "{error:?}");
    server.require_token("other");
    let error = gcs_builder(&server).build().unwrap().get(&Path::from("k")).await.unwrap_err();
    assert!(matches!(error, Error::Unauthenticated { .. }), "{error:?}");
}
