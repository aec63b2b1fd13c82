//! A server without a socket, and clients of it.

use std::sync::Arc;

use axum::body::Body;
use axum::{Extension, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use groundstate_server::auth::{Grant, Principal, PrincipalKind, Role};
use groundstate_server::blobs::{BlobStore, Context, MemoryBlobs};
use groundstate_server::common::{FixedClock, IdSource as _, OsEntropy, OsIds, SequenceIds};
use groundstate_server::pulumi_service::LocalKey;
use groundstate_server::pulumi_service::pulumi_secrets::Key;
use groundstate_server::{App, Parts, Policies, router};
use groundstate_testkit::{TestBackend, server_of_peer};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use md5::{Digest as _, Md5};
use tower::ServiceExt;

/// The state that most tests are about.
pub(crate) const URL: &str = "/tf/shop/network";

/// A server, by its app.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) app: App,
}

/// A principal that sends requests.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    service: Router,
}

/// What a request was answered with.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::with(Policies::default())
    }

    pub(crate) fn with(policies: Policies) -> Self {
        Self::on(Arc::new(MemoryBlobs::new("states")), policies)
    }

    /// A node on a container that others may use too.
    pub(crate) fn on(blobs: Arc<dyn BlobStore>, policies: Policies) -> Self {
        let mut parts = Parts::new(blobs);
        let key = LocalKey::new(&Key::new([7; Key::LENGTH]), Arc::new(OsEntropy));
        parts.secrets_key = Some(Arc::new(key));
        parts.policies = policies;
        Self::of(parts)
    }

    pub(crate) fn of(parts: Parts) -> Self {
        Self { app: App::open(parts).unwrap() }
    }

    /// A client with a role on everything, whose name is that of the role.
    pub(crate) fn client(&self, role: Role) -> Client {
        let name = format!("{role:?}").to_lowercase();
        self.client_of(Principal::new(&name, PrincipalKind::Token, vec![Grant::everything(role)]))
    }

    pub(crate) fn client_of(&self, principal: Principal) -> Client {
        Client { service: router(self.app.clone()).layer(Extension(principal)) }
    }

    /// A client that does not say who it is.
    pub(crate) fn stranger(&self) -> Client {
        Client { service: router(self.app.clone()) }
    }

    pub(crate) fn admin(&self) -> Client {
        self.client(Role::Admin)
    }

    pub(crate) fn writer(&self) -> Client {
        self.client(Role::Write)
    }
}

impl Client {
    /// A client of a service that has its layers already.
    pub(crate) fn of(service: Router) -> Self {
        Self { service }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.service.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Sends a body as Terraform does: with its type and its MD5.
    pub(crate) async fn call(&self, method: &str, url: &str, body: impl AsRef<[u8]>) -> Answer {
        let body = body.as_ref();
        let mut request = Request::builder().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(url);
        if method != "GET" && method != "HEAD" {
            request = request.header("content-type", "application/json").header("content-md5", md5(body));
        }
        self.send(request.body(Body::from(body.to_vec())).unwrap()).await
    }

    pub(crate) async fn get(&self, url: &str) -> Answer {
        self.call("GET", url, "").await
    }

    pub(crate) async fn lock(&self, id: &str) -> Answer {
        self.call("LOCK", URL, lock_document(id)).await
    }

    pub(crate) async fn unlock(&self, id: &str) -> Answer {
        self.call("UNLOCK", URL, lock_document(id)).await
    }

    pub(crate) async fn post(&self, query: &str, body: impl AsRef<[u8]>) -> Answer {
        self.call("POST", &format!("{URL}{query}"), body).await
    }
}

impl Answer {
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The end of the URI of a problem.
    #[track_caller]
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json");
        self.json()["type"].as_str().unwrap().replace("urn:groundstate:problem:", "")
    }

    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

/// A context of this clock, which nothing has to wait for, and ids from this one on.
pub(crate) fn context(clock: &Arc<FixedClock>, ids: u64) -> Context {
    let [time, timer] = [(); 2].map(|()| Arc::<FixedClock>::clone(clock));
    Context::new(time, timer, Arc::new(SequenceIds::starting_at(ids)))
}

/// The URL by which the program opens a bucket.
pub(crate) fn bucket_url(bucket: &TestBackend) -> String {
    let settings = bucket.direct_settings();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    format!(
        "s3://{}/server?region=us-east-1&use_path_style=true&access_key=a&secret_key=b&endpoint={}",
        text(&settings["bucket"]),
        text(&settings["endpoints"]["s3"])
    )
}

/// The URL of a table of its own in PostgreSQL, if that takes part.
pub(crate) fn postgres_url() -> Option<String> {
    let server = server_of_peer("postgres", "GROUNDSTATE_PG")?;
    let number = OsIds.number().expect("the system has randomness");
    Some(format!("{server}&table=server_{number:x}"))
}

pub(crate) fn md5(body: &[u8]) -> String {
    BASE64.encode(Md5::digest(body))
}

/// A document as Terraform sends it.
pub(crate) fn lock_document(id: &str) -> String {
    format!(
        r#"{{"ID":"{id}","Operation":"OperationTypeApply","Info":"","Who":"ana@build-7","Version":"1.11.4","Created":"2026-03-01T12:30:00.5Z","Path":""}}"#
    )
}

/// A state of this serial.
pub(crate) fn state(serial: u64) -> String {
    state_of("3f2a1c00-0000-4000-8000-000000000001", serial)
}

pub(crate) fn state_of(lineage: &str, serial: u64) -> String {
    format!(
        r#"{{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": {serial},
  "lineage": "{lineage}",
  "outputs": {{
    "region": {{
      "value": "eu-west-1",
      "type": "string"
    }}
  }},
  "resources": [],
  "check_results": null
}}
"#
    )
}
