//! The contract, in requests of Azure Blob Storage.

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, LeaseId, Leases, ListOptions, Op, Page, PutOptions, Result, Role,
};
use http::Method;
use object_store::azure::AzureAuthorizer;

use super::AzureBlobs;
use super::credentials::NO_CREDENTIALS;
use super::error::classify;
use super::listing::{PAGE, lease_state, list_page, list_query};
use crate::cloud::{
    Cloud, Dialect, Effect, Failure, Meaning, Reply, Request, encode, meta_of, unauthenticated,
};

impl AzureBlobs {
    pub(super) async fn create(&self) -> Result<()> {
        const OP: Op = Op::Create;
        let place = self.to_string();
        let request = Request::new(Method::PUT, "?restype=container".to_owned());
        let reply = self.call(OP, &place, request, Effect::Change).await?;
        let failure = Failure::of(&reply);
        if reply.is_success() || failure.code == "ContainerAlreadyExists" {
            return Ok(());
        }
        Err(self.refused(OP, &place, failure, Effect::Change))
    }
}

#[async_trait]
impl Cloud for AzureBlobs {
    const DIALECT: Dialect = Dialect {
        service: "Azure Blob Storage",
        metadata: "x-ms-meta-",
        version_id: "x-ms-version-id",
        generation_match: None,
        missing: "BlobNotFound",
        page: PAGE,
    };

    fn request(&self, op: Op, method: Method, key: &Key) -> Result<Request> {
        if key.as_str().contains('\\') {
            return Err(Error::new(ErrorKind::InvalidKey, op, self.at(key))
                .because("it has a backslash, which Azure takes for a slash")
                .next_step("choose another key"));
        }
        Ok(Request::new(method, format!("/{}", encode(key.as_str(), true))))
    }

    fn read_keys(&self, _: Role, _: bool) -> &[(String, String)] {
        &self.customer
    }

    fn to_write(&self, request: Request, _: &Bytes, _: Role) -> Result<Request> {
        let request = request.header("x-ms-blob-type", "BlockBlob")?.headers(&self.customer)?;
        match &self.scope {
            Some(scope) => request.header("x-ms-encryption-scope", scope),
            None => Ok(request),
        }
    }

    fn to_list(&self, prefix: &str, options: &ListOptions) -> Request {
        Request::new(Method::GET, format!("?{}", list_query(prefix, options)))
    }

    fn list_page(place: &str, body: &[u8]) -> Result<Page> {
        list_page(place, body)
    }

    /// Sends a request for what stands behind the address of the container.
    async fn call(&self, op: Op, place: &str, mut request: Request, effect: Effect) -> Result<Reply> {
        let unknown = |error| unauthenticated(op, place, error, NO_CREDENTIALS);
        let base = self.location.base(&self.wire).await.map_err(unknown)?;
        request.url.insert_str(0, base);
        let mut request = request.build()?;
        let credential = self.credentials.get(&self.wire, &self.location).await.map_err(unknown)?;
        AzureAuthorizer::new(&credential, &self.account)
            .try_authorize(&mut request)
            .map_err(|error| Error::new(ErrorKind::Internal, op, place).with_source(error))?;
        self.wire.send(op, place, request, effect).await
    }

    fn classify(&self, failure: &Failure, _: Op, effect: Effect) -> Meaning {
        classify(failure, &self.container, effect)
    }

    fn meta(&self, reply: &Reply) -> BlobMeta {
        let mut meta = meta_of(reply, &Self::DIALECT);
        meta.lease = reply
            .header("x-ms-lease-status")
            .map(|status| lease_state(status, reply.header("x-ms-lease-duration")));
        meta
    }

    fn leased(&self, _: Op, _: &Key, request: Request, lease: Option<&LeaseId>) -> Result<Request> {
        match lease {
            Some(lease) => request.header("x-ms-lease-id", lease.as_str()),
            None => Ok(request),
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for AzureBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        let mut can = BlobCapabilities::all();
        can.generations = false;
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
        Some(self)
    }
}
