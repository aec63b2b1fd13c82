//! The same faults on every face, in the words of each.

use groundstate_testkit::{AzureServer, Fault, GcsServer, S3Server};
use reqwest::{RequestBuilder, Response};

use crate::support::http;

/// A server of some kind, with a place for the object `k`.
enum Any {
    S3(S3Server),
    Gcs(GcsServer),
    Azure(AzureServer),
}

impl Any {
    fn all() -> [Self; 3] {
        let (s3, gcs, azure) =
            (S3Server::start_blocking(), GcsServer::start_blocking(), AzureServer::start_blocking());
        s3.create_bucket("b");
        gcs.create_bucket("b");
        azure.create_container("b");
        [Self::S3(s3), Self::Gcs(gcs), Self::Azure(azure)]
    }

    fn fault(&self, fault: Fault) {
        match self {
            Self::S3(server) => server.fault(fault),
            Self::Gcs(server) => server.fault(fault),
            Self::Azure(server) => server.fault(fault),
        }
    }

    fn url(&self) -> String {
        match self {
            Self::S3(server) => format!("{}/b/k", server.endpoint()),
            Self::Gcs(server) => format!("{}/b/k", server.endpoint()),
            Self::Azure(server) => format!("{}/b/k", server.account_endpoint()),
        }
    }

    fn is_stored(&self) -> bool {
        match self {
            Self::S3(server) => server.object("b", "k").is_some(),
            Self::Gcs(server) => server.object("b", "k").is_some(),
            Self::Azure(server) => server.blob("b", "k").is_some(),
        }
    }

    /// Creates the object, which must not exist.
    fn create(&self) -> RequestBuilder {
        let put = http().put(self.url()).header("x-ms-blob-type", "BlockBlob").body("x");
        match self {
            Self::Gcs(_) => put.header("x-goog-if-generation-match", "0"),
            Self::S3(_) | Self::Azure(_) => put.header("if-none-match", "*"),
        }
    }

    /// The statuses of a creation and of one that comes too late.
    fn created_and_late(&self) -> (u16, u16) {
        match self {
            Self::S3(_) | Self::Gcs(_) => (200, 412),
            Self::Azure(_) => (201, 409),
        }
    }
}

#[tokio::test]
async fn a_creation_is_committed_or_not_and_repeating_it_shows_which() {
    for (fault, status, committed) in [
        (Fault::after_commit_500(), Some(500), true),
        (Fault::before_500(), Some(500), false),
        (Fault::drop_before(), None, false),
        (Fault::drop_after_commit(), None, true),
        (Fault::unavailable(3), Some(503), false),
        (Fault::throttle(), Some(429), false),
    ] {
        for server in Any::all() {
            let name = format!("{} {fault:?}", server.url());
            server.fault(fault.clone().on("PUT", "*/b/k").nth(1));
            let found = server.create().send().await.ok().map(|answer| answer.status().as_u16());
            assert_eq!((found, server.is_stored()), (status, committed), "{name}");
            let (created, late) = server.created_and_late();
            let again = server.create().send().await.unwrap().status();
            assert_eq!(again, if committed { late } else { created }, "{name}");
        }
    }
}

#[tokio::test]
async fn a_duplicate_comes_too_late() {
    for server in Any::all() {
        server.fault(Fault::duplicate());
        assert_eq!(server.create().send().await.unwrap().status(), server.created_and_late().1);
        assert!(server.is_stored());
    }
}

#[tokio::test]
async fn reads_are_cut_off_midway() {
    for server in Any::all() {
        let answer = server.create().send().await.unwrap();
        assert_eq!(answer.status(), server.created_and_late().0);
        server.fault(Fault::cut_body(0).on("GET", "*"));
        assert!(http().get(server.url()).send().await.unwrap().bytes().await.is_err(), "{}", server.url());
    }
}

async fn throttled(request: RequestBuilder) -> (Response, String) {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.headers()["retry-after"], "3");
    let code = answer.headers().get("x-ms-error-code").map_or("", |code| code.to_str().unwrap()).to_owned();
    (answer, code)
}

#[tokio::test]
async fn each_service_has_its_own_words_for_too_much() {
    for server in Any::all() {
        server.fault(Fault::unavailable(3));
        let (answer, code) = throttled(server.create()).await;
        let text = answer.text().await.unwrap();
        match server {
            Any::S3(server) => {
                assert!(text.contains("<Code>SlowDown</Code>"), "{text}");
                let call = http().post(server.endpoint()).header("x-amz-target", "DynamoDB_20120810.GetItem");
                let text = throttled(call).await.0.text().await.unwrap();
                assert!(text.contains("\"ServiceUnavailable\""), "{text}");
            }
            Any::Gcs(server) => {
                assert!(text.contains("<Code>SlowDown</Code>"), "{text}");
                let url = format!("{}b/b/o", server.json_endpoint());
                let text = throttled(http().get(url)).await.0.text().await.unwrap();
                assert!(text.contains("\"backendError\""), "{text}");
            }
            Any::Azure(_) => assert_eq!(code, "ServerBusy"),
        }
    }
}
