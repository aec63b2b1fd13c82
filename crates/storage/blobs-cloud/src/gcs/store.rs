//! The contract, in requests of the XML API of Google Cloud Storage.

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, LeaseId, Leases, ListOptions, Page, Precondition, PutOptions, Result,
};
use http::Method;

use super::GcsBlobs;
use super::credentials::NO_CREDENTIALS;
use super::error::classify;
use crate::cloud::{
    Effect, Expected, Failure, Meaning, PAGE, Reading, Reply, Request, attribute_headers, blob_of, covers,
    encode, list_page, list_query, meta_of, nothing_of, page, read_headers, unauthenticated, version_of,
};

const NAMES: Reading =
    Reading { metadata: "x-goog-meta-", version_id: "x-goog-version-id", generation: "x-goog-generation" };
const GENERATION: &str = "x-goog-if-generation-match";

impl GcsBlobs {
    fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    fn request(&self, method: Method, key: &Key) -> Request {
        Request::new(method, format!("{}/{}", self.base, encode(key.as_str(), true)))
    }

    async fn call(&self, op: &'static str, place: &str, request: Request, effect: Effect) -> Result<Reply> {
        let bearer = self.identity.bearer(&self.wire).await.map_err(|error| no_token(op, place, error))?;
        let request = match bearer {
            None => request,
            Some(bearer) => request.header("authorization", &format!("Bearer {bearer}"))?,
        };
        self.wire.send(op, place, request.build()?, effect).await
    }

    fn refused(&self, op: &'static str, place: &str, failure: Failure, effect: Effect) -> Error {
        let meaning = classify(&failure, op, &self.bucket, effect);
        failure.into_error(op, place, meaning)
    }

    fn needs_no_lease(&self, op: &'static str, key: &Key, lease: Option<&LeaseId>) -> Result<()> {
        match lease {
            None => Ok(()),
            Some(_) => {
                Err(Error::unsupported(op, self.at(key)).because("Google Cloud Storage has no leases"))
            }
        }
    }

    /// The header of a condition.
    fn conditional(
        &self,
        op: &'static str,
        key: &Key,
        request: Request,
        condition: &Precondition,
    ) -> Result<Request> {
        match condition {
            Precondition::Any => Ok(request),
            Precondition::Absent => request.header(GENERATION, "0"),
            Precondition::Version(version) => {
                let missing = || {
                    Error::new(ErrorKind::Invalid, op, self.at(key)).because("the version has no generation")
                };
                request.header(GENERATION, &version.generation().ok_or_else(missing)?.to_string())
            }
        }
    }

    async fn page(&self, place: &str, prefix: &str, options: &ListOptions) -> Result<Page> {
        let request = Request::new(Method::GET, format!("{}?{}", self.base, list_query(prefix, options)));
        let reply = self.call("list", place, request, Effect::Read).await?;
        if !reply.is_success() {
            return Err(self.refused("list", place, Failure::of(&reply), Effect::Read));
        }
        list_page(place, &reply.body)
    }
}

/// Why there is no token. The clock is what tokens of service accounts most often fail for.
fn no_token(op: &'static str, place: &str, error: Error) -> Error {
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
        const OP: &str = "read";
        self.needs_no_lease(OP, key, options.lease.as_ref())?;
        let place = self.at(key);
        if options.range.as_ref().is_none_or(covers) {
            let request = self.request(Method::GET, key).expects(Expected::of(options.role));
            let request = request.headers(self.keys.read(options.role))?;
            let reply = self.call(OP, &place, request.headers(&read_headers(options))?, Effect::Read).await?;
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
        let reply = self.call(OP, &place, self.request(Method::HEAD, key), Effect::Read).await?;
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
        let request = self.request(Method::PUT, key).headers(self.keys.write(options.role))?;
        let request = attribute_headers(request, &options.attributes, NAMES.metadata)?;
        let request = self.conditional(OP, key, request, &options.precondition)?.body(bytes);
        let reply = self.call(OP, &place, request, Effect::Change).await?;
        if !reply.is_success() {
            return Err(self.refused(OP, &place, Failure::of(&reply), Effect::Change));
        }
        let version = version_of(&reply, NAMES);
        let missing =
            || Error::new(ErrorKind::Ambiguous, OP, &place).because("the service did not say what it stored");
        version.generation().is_some().then_some(version).ok_or_else(missing)
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        const OP: &str = "delete";
        let place = self.at(key);
        self.needs_no_lease(OP, key, options.lease.as_ref())?;
        if options.precondition == Precondition::Absent {
            let message = "there is nothing to delete where nothing is expected";
            return Err(Error::new(ErrorKind::Invalid, OP, &place).because(message));
        }
        let request = self.conditional(OP, key, self.request(Method::DELETE, key), &options.precondition)?;
        let reply = self.call(OP, &place, request, Effect::Change).await?;
        let failure = Failure::of(&reply);
        match (reply.status, failure.code.as_str()) {
            (200..300, _) => Ok(true),
            (404, "NoSuchKey" | "") => Ok(false),
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
