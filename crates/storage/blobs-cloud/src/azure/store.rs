//! The contract, in requests of Azure Blob Storage.

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, LeaseId, Leases, ListOptions, Page, Precondition, PutOptions, Result,
};
use http::Method;
use object_store::azure::AzureAuthorizer;

use super::AzureBlobs;
use super::credentials::NO_CREDENTIALS;
use super::error::classify;
use super::listing::{PAGE, lease_state, list_page, list_query};
use crate::cloud::{
    Effect, Expected, Failure, Reading, Reply, Request, attribute_headers, blob_of, covers, encode, meta_of,
    nothing_of, page, read_headers, unauthenticated, version_of,
};

pub(super) const NAMES: Reading =
    Reading { metadata: "x-ms-meta-", version_id: "x-ms-version-id", generation: "x-goog-generation" };

impl AzureBlobs {
    pub(super) fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    pub(super) fn request(
        &self,
        op: &'static str,
        method: Method,
        key: &Key,
        query: &str,
    ) -> Result<Request> {
        if key.as_str().contains('\\') {
            return Err(Error::new(ErrorKind::InvalidKey, op, self.at(key))
                .because("it has a backslash, which Azure takes for a slash")
                .next_step("choose another key"));
        }
        let separator = if query.is_empty() { "" } else { "?" };
        Ok(Request::new(method, format!("/{}{separator}{query}", encode(key.as_str(), true))))
    }

    /// Sends a request for what stands behind the address of the container.
    pub(super) async fn call(
        &self,
        op: &'static str,
        place: &str,
        mut request: Request,
        effect: Effect,
    ) -> Result<Reply> {
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

    pub(super) fn refused(&self, op: &'static str, place: &str, failure: Failure, effect: Effect) -> Error {
        let meaning = classify(&failure, &self.container, effect);
        failure.into_error(op, place, meaning)
    }

    /// The headers of a condition and a lease.
    pub(super) fn conditional(
        &self,
        op: &'static str,
        key: &Key,
        request: Request,
        condition: &Precondition,
        lease: Option<&LeaseId>,
    ) -> Result<Request> {
        let request = with_lease(request, lease)?;
        match condition {
            Precondition::Any => Ok(request),
            Precondition::Absent => request.header("if-none-match", "*"),
            Precondition::Version(version) => {
                let missing = || {
                    Error::new(ErrorKind::Invalid, op, self.at(key)).because("the version has no entity tag")
                };
                request.header("if-match", version.e_tag().ok_or_else(missing)?)
            }
        }
    }

    pub(super) async fn create(&self) -> Result<()> {
        const OP: &str = "create";
        let place = self.to_string();
        let request = Request::new(Method::PUT, "?restype=container".to_owned());
        let reply = self.call(OP, &place, request, Effect::Change).await?;
        let failure = Failure::of(&reply);
        if reply.is_success() || failure.code == "ContainerAlreadyExists" {
            return Ok(());
        }
        Err(self.refused(OP, &place, failure, Effect::Change))
    }

    fn meta(&self, reply: &Reply) -> BlobMeta {
        let mut meta = meta_of(reply, NAMES);
        meta.lease = reply
            .header("x-ms-lease-status")
            .map(|status| lease_state(status, reply.header("x-ms-lease-duration")));
        meta
    }

    async fn page(&self, place: &str, prefix: &str, options: &ListOptions) -> Result<Page> {
        let request = Request::new(Method::GET, format!("?{}", list_query(prefix, options)));
        let reply = self.call("list", place, request, Effect::Read).await?;
        if !reply.is_success() {
            return Err(self.refused("list", place, Failure::of(&reply), Effect::Read));
        }
        list_page(place, &reply.body)
    }
}

pub(super) fn with_lease(request: Request, lease: Option<&LeaseId>) -> Result<Request> {
    match lease {
        Some(lease) => request.header("x-ms-lease-id", lease.as_str()),
        None => Ok(request),
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
        const OP: &str = "read";
        let place = self.at(key);
        if options.range.as_ref().is_none_or(covers) {
            let request = self
                .request(OP, Method::GET, key, "")?
                .expects(Expected::of(options.role))
                .headers(&self.customer)?
                .headers(&read_headers(options))?;
            let request = with_lease(request, options.lease.as_ref())?;
            let reply = self.call(OP, &place, request, Effect::Read).await?;
            if reply.is_success() {
                let mut blob = blob_of(&reply, NAMES, options, &place)?;
                blob.meta.lease = self.meta(&reply).lease;
                return Ok(Some(blob));
            }
            let failure = Failure::of(&reply);
            match (failure.status, failure.code.as_str()) {
                (404, "BlobNotFound" | "") => return Ok(None),
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
        let request = self.request(OP, Method::HEAD, key, "")?.headers(&self.customer)?;
        let reply = self.call(OP, &place, request, Effect::Read).await?;
        let failure = Failure::of(&reply);
        match (reply.status, failure.code.as_str()) {
            (200, _) => Ok(Some(self.meta(&reply))),
            (404, "BlobNotFound" | "") => Ok(None),
            _ => Err(self.refused(OP, &place, failure, Effect::Read)),
        }
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        const OP: &str = "write";
        let place = self.at(key);
        let mut request = self
            .request(OP, Method::PUT, key, "")?
            .header("x-ms-blob-type", "BlockBlob")?
            .headers(&self.customer)?;
        if let Some(scope) = &self.scope {
            request = request.header("x-ms-encryption-scope", scope)?;
        }
        let request = attribute_headers(request, &options.attributes, NAMES.metadata)?;
        let request =
            self.conditional(OP, key, request, &options.precondition, options.lease.as_ref())?.body(bytes);
        let reply = self.call(OP, &place, request, Effect::Change).await?;
        if reply.is_success() {
            let version = version_of(&reply, NAMES);
            let missing = || {
                Error::new(ErrorKind::Ambiguous, OP, &place).because("the service did not say what it stored")
            };
            return version.e_tag().is_some().then_some(version).ok_or_else(missing);
        }
        let failure = Failure::of(&reply);
        match (&options.precondition, failure.code.as_str()) {
            (Precondition::Version(_), "BlobNotFound") => {
                let error = Error::new(ErrorKind::PreconditionFailed, OP, &place).with_source(failure);
                Err(error.because(format!("nothing is stored where {} was expected", options.precondition)))
            }
            _ => Err(self.refused(OP, &place, failure, Effect::Change)),
        }
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        const OP: &str = "delete";
        let place = self.at(key);
        if options.precondition == Precondition::Absent {
            let message = "there is nothing to delete where nothing is expected";
            return Err(Error::new(ErrorKind::Invalid, OP, &place).because(message));
        }
        let request = self.request(OP, Method::DELETE, key, "")?;
        let request = self.conditional(OP, key, request, &options.precondition, options.lease.as_ref())?;
        let reply = self.call(OP, &place, request, Effect::Change).await?;
        let failure = Failure::of(&reply);
        match (reply.status, failure.code.as_str()) {
            (200..300, _) => Ok(true),
            (404, "BlobNotFound" | "") => Ok(false),
            (412, "ConditionNotMet") if self.head(key).await?.is_none() => Ok(false),
            _ => Err(self.refused(OP, &place, failure, Effect::Change)),
        }
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        let place = &*self.to_string();
        page(options, PAGE, place, |asked| async move { self.page(place, prefix, &asked).await }).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        Some(self)
    }
}
