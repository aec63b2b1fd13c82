//! The contract, in requests of the XML API of Google Cloud Storage.

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, GetOptions, Key, Leases,
    ListOptions, Op, Page, PutOptions, Result, Role,
};
use http::Method;

use super::GcsBlobs;
use super::credentials::NO_CREDENTIALS;
use super::error::classify;
use crate::cloud::{
    Cloud, Dialect, Effect, Failure, Meaning, PAGE, Reply, Request, encode, list_page, list_query,
    unauthenticated,
};

#[async_trait]
impl Cloud for GcsBlobs {
    const DIALECT: Dialect = Dialect {
        service: "Google Cloud Storage",
        metadata: "x-goog-meta-",
        version_id: "x-goog-version-id",
        generation_match: Some("x-goog-if-generation-match"),
        missing: "NoSuchKey",
        page: PAGE,
    };

    fn request(&self, _: Op, method: Method, key: &Key) -> Result<Request> {
        Ok(Request::new(method, format!("{}/{}", self.base, encode(key.as_str(), true))))
    }

    fn read_keys(&self, role: Role, is_head: bool) -> &[(String, String)] {
        if is_head { &[] } else { self.keys.read(role) }
    }

    fn to_write(&self, request: Request, _: &Bytes, role: Role) -> Result<Request> {
        request.headers(self.keys.write(role))
    }

    fn to_list(&self, prefix: &str, options: &ListOptions) -> Request {
        Request::new(Method::GET, format!("{}?{}", self.base, list_query(prefix, options)))
    }

    fn list_page(place: &str, body: &[u8]) -> Result<Page> {
        list_page(place, body)
    }

    async fn call(&self, op: Op, place: &str, request: Request, effect: Effect) -> Result<Reply> {
        let bearer = self.identity.bearer(&self.wire).await.map_err(|error| no_token(op, place, error))?;
        let request = match bearer {
            None => request,
            Some(bearer) => request.header("authorization", &format!("Bearer {bearer}"))?,
        };
        self.wire.send(op, place, request.build()?, effect).await
    }

    fn classify(&self, failure: &Failure, op: Op, effect: Effect) -> Meaning {
        classify(failure, op, &self.bucket, effect)
    }
}

/// Why there is no token. The clock is what tokens of service accounts most often fail for.
fn no_token(op: Op, place: &str, error: Error) -> Error {
    // `object_store` asks for the token, and gives neither the status nor the `Date` of the answer: only its text is here.
    let text = crate::cloud::causes(&error);
    if text.contains("invalid_grant") && (text.contains("short-lived") || text.contains("iat")) {
        let Meaning { kind, why, step } = Meaning::clock_skew(None);
        return Error::new(kind, op, place)
            .because(why.unwrap_or_default())
            .next_step(step.unwrap_or_default())
            .with_source(error);
    }
    unauthenticated(op, place, error, NO_CREDENTIALS)
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for GcsBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        let mut can = BlobCapabilities::all();
        can.leases = false;
        can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.read_blob(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.head_blob(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.write_blob(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.delete_blob(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.list_blobs(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
