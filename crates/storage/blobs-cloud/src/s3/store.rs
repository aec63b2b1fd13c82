//! The contract, in requests of S3.

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, LeaseId, Leases, ListOptions, Page, Precondition, PutOptions, Result,
};
use http::Method;
use object_store::aws::AwsAuthorizer;

use super::S3Blobs;
use super::credentials::NO_CREDENTIALS;
use super::error::classify;
use crate::cloud::{
    Effect, Expected, Failure, PAGE, Reading, Reply, Request, attribute_headers, blob_of, covers, list_page,
    list_query, meta_of, nothing_of, page, read_headers, version_of,
};

const NAMES: Reading =
    Reading { metadata: "x-amz-meta-", version_id: "x-amz-version-id", generation: "x-goog-generation" };

impl S3Blobs {
    fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    /// Signs a request for a service of AWS.
    pub(super) async fn sign(
        &self,
        op: &'static str,
        place: &str,
        service: &str,
        request: Request,
        digest: Option<&[u8]>,
    ) -> Result<object_store::client::HttpRequest> {
        let credential = self.credentials.get().await.map_err(|error| {
            let failed = Error::new(error.kind(), op, place).because("no credentials can be had");
            failed.next_step(error.step().unwrap_or(NO_CREDENTIALS).to_owned()).with_source(error)
        })?;
        let mut request = request.build()?;
        AwsAuthorizer::new(&credential, service, &self.place.region)
            .try_authorize(&mut request, digest)
            .map_err(|error| Error::new(ErrorKind::Internal, op, place).with_source(error))?;
        Ok(request)
    }

    async fn call(
        &self,
        op: &'static str,
        place: &str,
        request: Request,
        digest: Option<&[u8]>,
        effect: Effect,
    ) -> Result<Reply> {
        let request = self.sign(op, place, "s3", request, digest).await?;
        self.wire.send(op, place, request, effect).await
    }

    fn refused(&self, op: &'static str, place: &str, failure: Failure, effect: Effect) -> Error {
        let meaning = classify(&failure, op, &self.place, effect);
        failure.into_error(op, place, meaning)
    }

    fn needs_no_lease(&self, op: &'static str, key: &Key, lease: Option<&LeaseId>) -> Result<()> {
        match lease {
            None => Ok(()),
            Some(_) => Err(Error::unsupported(op, self.at(key)).because("S3 has no leases")),
        }
    }

    /// The headers of a condition.
    fn conditional(
        &self,
        op: &'static str,
        key: &Key,
        request: Request,
        condition: &Precondition,
    ) -> Result<Request> {
        let is_allowed = if op == "delete" { self.can.conditional_delete } else { self.can.conditional_put };
        match condition {
            Precondition::Any => Ok(request),
            _ if !is_allowed => {
                let error = Error::unsupported(op, self.at(key))
                    .because("the settings say that the server knows no conditions");
                Err(error.next_step("remove `conditional_write` and `conditional_delete` if it does"))
            }
            Precondition::Absent => request.header("if-none-match", "*"),
            Precondition::Version(version) => {
                let missing = || {
                    Error::new(ErrorKind::Invalid, op, self.at(key)).because("the version has no entity tag")
                };
                request.header("if-match", version.e_tag().ok_or_else(missing)?)
            }
        }
    }

    async fn page(&self, place: &str, prefix: &str, options: &ListOptions) -> Result<Page> {
        let request = Request::new(Method::GET, self.place.list(&list_query(prefix, options)));
        let reply = self.call("list", place, request, None, Effect::Read).await?;
        if !reply.is_success() {
            return Err(self.refused("list", place, Failure::of(&reply), Effect::Read));
        }
        list_page(place, &reply.body)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for S3Blobs {
    fn capabilities(&self) -> BlobCapabilities {
        self.can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        const OP: &str = "read";
        self.needs_no_lease(OP, key, options.lease.as_ref())?;
        let place = self.at(key);
        if options.range.as_ref().is_none_or(covers) {
            let request =
                Request::new(Method::GET, self.place.blob(key.as_str())).expects(Expected::of(options.role));
            let request = request.headers(self.headers.read())?.headers(&read_headers(options))?;
            let reply = self.call(OP, &place, request, None, Effect::Read).await?;
            if reply.is_success() {
                return blob_of(&reply, NAMES, options, &place).map(Some);
            }
            let failure = Failure::of(&reply);
            match (failure.status, failure.code.as_str()) {
                (404, "NoSuchKey" | "") => return Ok(None),
                // The range begins behind the end.
                (416, _) => {}
                _ => return Err(self.refused(OP, &place, failure, Effect::Read)),
            }
        }
        let meta = self.head(key).await?;
        meta.map(|meta| nothing_of(meta, options, &place)).transpose()
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        const OP: &str = "look at";
        let place = self.at(key);
        let request =
            Request::new(Method::HEAD, self.place.blob(key.as_str())).headers(self.headers.read())?;
        let reply = self.call(OP, &place, request, None, Effect::Read).await?;
        match reply.status {
            200 => Ok(Some(meta_of(&reply, NAMES))),
            404 => Ok(None),
            _ => Err(self.refused(OP, &place, Failure::of(&reply), Effect::Read)),
        }
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        const OP: &str = "write";
        let place = self.at(key);
        self.needs_no_lease(OP, key, options.lease.as_ref())?;
        let (headers, digest) = self.headers.write(&bytes, options.role);
        let request = Request::new(Method::PUT, self.place.blob(key.as_str())).headers(&headers)?;
        let request = attribute_headers(request, &options.attributes, NAMES.metadata)?;
        let request = self.conditional(OP, key, request, &options.precondition)?.body(bytes);
        let reply = self.call(OP, &place, request, Some(&digest), Effect::Change).await?;
        if reply.is_success() {
            let version = version_of(&reply, NAMES);
            let missing = || {
                Error::new(ErrorKind::Ambiguous, OP, &place).because("the service did not say what it stored")
            };
            return version.e_tag().is_some().then_some(version).ok_or_else(missing);
        }
        let failure = Failure::of(&reply);
        match (&options.precondition, failure.code.as_str()) {
            (Precondition::Version(_), "NoSuchKey") => {
                let error = Error::new(ErrorKind::PreconditionFailed, OP, &place).with_source(failure);
                Err(error.because(format!("nothing is stored where {} was expected", options.precondition)))
            }
            _ => Err(self.refused(OP, &place, failure, Effect::Change)),
        }
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        const OP: &str = "delete";
        let place = self.at(key);
        self.needs_no_lease(OP, key, options.lease.as_ref())?;
        if options.precondition == Precondition::Absent {
            let message = "there is nothing to delete where nothing is expected";
            return Err(Error::new(ErrorKind::Invalid, OP, &place).because(message));
        }
        let request = Request::new(Method::DELETE, self.place.blob(key.as_str()));
        let request = self.conditional(OP, key, request, &options.precondition)?;
        let reply = self.call(OP, &place, request, None, Effect::Change).await?;
        let failure = Failure::of(&reply);
        match (reply.status, failure.code.as_str()) {
            (200..300, _) => Ok(true),
            (404, "NoSuchKey" | "") => Ok(false),
            // Some answer so where nothing is stored, too.
            (412, _) if self.head(key).await?.is_none() => Ok(false),
            _ => Err(self.refused(OP, &place, failure, Effect::Change)),
        }
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        let place = &*self.to_string();
        page(options, PAGE, place, |asked| async move { self.page(place, prefix, &asked).await }).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
