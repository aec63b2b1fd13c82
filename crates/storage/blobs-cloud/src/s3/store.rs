//! The contract, in requests of S3.

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, GetOptions, Key, Leases,
    ListOptions, Op, Page, Precondition, PutOptions, Result, Role,
};
use http::Method;

use super::S3Blobs;
use super::error::classify;
use super::identity::sign;
use crate::cloud::{Cloud, Dialect, Effect, Failure, Meaning, PAGE, Reply, Request, list_page, list_query};

impl S3Blobs {
    /// Signs a request for a service of AWS.
    pub(super) async fn sign(
        &self,
        op: Op,
        place: &str,
        service: &str,
        request: Request,
    ) -> Result<object_store::client::HttpRequest> {
        sign(&self.credentials, &self.place.services.region, (op, place), service, request).await
    }

    /// Refuses a condition if the settings say that the server knows none.
    fn allows(&self, is_known: bool, op: Op, key: &Key, condition: &Precondition) -> Result<()> {
        if is_known || *condition == Precondition::Any {
            return Ok(());
        }
        let error = Error::unsupported(op, self.at(key))
            .because("the settings say that the server knows no conditions");
        Err(error.next_step("remove `conditional_write` and `conditional_delete` if it does"))
    }
}

#[async_trait]
impl Cloud for S3Blobs {
    const DIALECT: Dialect = Dialect {
        service: "S3",
        metadata: "x-amz-meta-",
        version_id: "x-amz-version-id",
        generation_match: None,
        missing: "NoSuchKey",
        page: PAGE,
    };

    fn request(&self, _: Op, method: Method, key: &Key) -> Result<Request> {
        Ok(Request::new(method, self.place.blob(key.as_str())))
    }

    fn read_keys(&self, _: Role, _: bool) -> &[(String, String)] {
        self.headers.read()
    }

    fn to_write(&self, request: Request, bytes: &Bytes, role: Role) -> Result<Request> {
        let (headers, digest) = self.headers.write(bytes, role);
        let mut request = request.headers(&headers)?;
        request.digest = Some(digest);
        Ok(request)
    }

    fn to_list(&self, prefix: &str, options: &ListOptions) -> Request {
        Request::new(Method::GET, self.place.list(&list_query(prefix, options)))
    }

    fn list_page(place: &str, body: &[u8]) -> Result<Page> {
        list_page(place, body)
    }

    async fn call(&self, op: Op, place: &str, request: Request, effect: Effect) -> Result<Reply> {
        let request = self.sign(op, place, "s3", request).await?;
        self.wire.send(op, place, request, effect).await
    }

    fn classify(&self, failure: &Failure, op: Op, effect: Effect) -> Meaning {
        classify(failure, op, &self.place, effect)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for S3Blobs {
    fn capabilities(&self) -> BlobCapabilities {
        self.can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.read_blob(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.head_blob(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.allows(self.can.conditional_put, Op::Write, key, &options.precondition)?;
        self.write_blob(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.allows(self.can.conditional_delete, Op::Delete, key, &options.precondition)?;
        self.delete_blob(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.list_blobs(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
