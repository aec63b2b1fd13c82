//! The contract over requests of HTTP, which S3, Google and Azure answer alike: what differs is in [`Cloud`].

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions, Key, LeaseId,
    ListOptions, Op, Page, Precondition, PutOptions, Result, Role,
};
use http::Method;

use super::pages::page;
use super::reading::{
    Dialect, attribute_headers, blob_of, covers, meta_of, nothing_of, read_headers, version_of,
};
use super::{Effect, Failure, Meaning, Reply, Request};

/// A service that keeps blobs: how it is asked, and what its refusals mean.
#[async_trait]
pub(crate) trait Cloud: BlobStore + fmt::Display {
    const DIALECT: Dialect;

    /// A request for a blob, without what its contents need.
    fn request(&self, op: Op, method: Method, key: &Key) -> Result<Request>;

    /// The headers of keys that a read needs: of the contents, or of the headers alone if `is_head`.
    fn read_keys(&self, role: Role, is_head: bool) -> &[(String, String)];

    /// Adds what a write has besides its body: keys, checksums, tags.
    fn to_write(&self, request: Request, bytes: &Bytes, role: Role) -> Result<Request>;

    /// A request for a page of a list.
    fn to_list(&self, prefix: &str, options: &ListOptions) -> Request;

    fn list_page(place: &str, body: &[u8]) -> Result<Page>;

    /// Signs and sends a request.
    async fn call(&self, op: Op, place: &str, request: Request, effect: Effect) -> Result<Reply>;

    fn classify(&self, failure: &Failure, op: Op, effect: Effect) -> Meaning;

    /// What the headers of a reply say of a blob.
    fn meta(&self, reply: &Reply) -> BlobMeta {
        meta_of(reply, &Self::DIALECT)
    }

    /// Adds the header of a lease, where the service has leases.
    fn leased(&self, op: Op, key: &Key, request: Request, lease: Option<&LeaseId>) -> Result<Request> {
        match lease {
            None => Ok(request),
            Some(_) => {
                let why = format!("{} has no leases", Self::DIALECT.service);
                Err(Error::unsupported(op, self.at(key)).because(why))
            }
        }
    }

    /// A blob, as errors name it.
    fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    fn refused(&self, op: Op, place: &str, failure: Failure, effect: Effect) -> Error {
        let meaning = self.classify(&failure, op, effect);
        failure.into_error(op, place, meaning)
    }

    /// Adds the headers of a condition and a lease.
    fn conditional(
        &self,
        op: Op,
        key: &Key,
        request: Request,
        condition: &Precondition,
        lease: Option<&LeaseId>,
    ) -> Result<Request> {
        let request = self.leased(op, key, request, lease)?;
        let missing = |what| {
            Error::new(ErrorKind::Invalid, op, self.at(key)).because(format!("the version has no {what}"))
        };
        match (condition, Self::DIALECT.generation_match) {
            (Precondition::Any, _) => Ok(request),
            (Precondition::Absent, Some(name)) => request.header(name, "0"),
            (Precondition::Absent, None) => request.header("if-none-match", "*"),
            (Precondition::Version(version), Some(name)) => {
                let generation = version.generation().ok_or_else(|| missing("generation"))?;
                request.header(name, &generation.to_string())
            }
            (Precondition::Version(version), None) => {
                request.header("if-match", version.e_tag().ok_or_else(|| missing("entity tag"))?)
            }
        }
    }

    async fn read_blob(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        let place = self.at(key);
        let request = self.request(Op::Read, Method::GET, key)?.expects(options.role.into());
        let request = self.leased(Op::Read, key, request, options.lease.as_ref())?;
        if options.range.as_ref().is_none_or(covers) {
            let request =
                request.headers(self.read_keys(options.role, false))?.headers(&read_headers(options))?;
            let reply = self.call(Op::Read, &place, request, Effect::Read).await?;
            if reply.is_success() {
                return blob_of(&reply, self.meta(&reply), options, &place).map(Some);
            }
            let failure = Failure::of(&reply);
            if failure.is_missing(&Self::DIALECT) {
                return Ok(None);
            }
            // The range begins behind the end.
            if failure.status != 416 {
                return Err(self.refused(Op::Read, &place, failure, Effect::Read));
            }
        }
        let meta = self.head_blob(key).await?;
        meta.map(|meta| nothing_of(meta, options, &place)).transpose()
    }

    async fn head_blob(&self, key: &Key) -> Result<Option<BlobMeta>> {
        let place = self.at(key);
        let request =
            self.request(Op::LookAt, Method::HEAD, key)?.headers(self.read_keys(Role::State, true))?;
        let reply = self.call(Op::LookAt, &place, request, Effect::Read).await?;
        let failure = Failure::of(&reply);
        match reply.status {
            200 => Ok(Some(self.meta(&reply))),
            _ if failure.is_missing(&Self::DIALECT) => Ok(None),
            _ => Err(self.refused(Op::LookAt, &place, failure, Effect::Read)),
        }
    }

    async fn write_blob(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        let place = self.at(key);
        let request = self.request(Op::Write, Method::PUT, key)?;
        let request = self.to_write(request, &bytes, options.role)?;
        let request = attribute_headers(request, &options.attributes, Self::DIALECT.metadata)?;
        let request =
            self.conditional(Op::Write, key, request, &options.precondition, options.lease.as_ref())?;
        let reply = self.call(Op::Write, &place, request.body(bytes), Effect::Change).await?;
        if reply.is_success() {
            let version = version_of(&reply, &Self::DIALECT);
            let is_marked = match Self::DIALECT.generation_match {
                Some(_) => version.generation().is_some(),
                None => version.e_tag().is_some(),
            };
            let missing = || {
                let error = Error::new(ErrorKind::Ambiguous, Op::Write, &place);
                error.because("the service did not say what it stored")
            };
            return is_marked.then_some(version).ok_or_else(missing);
        }
        let failure = Failure::of(&reply);
        match &options.precondition {
            Precondition::Version(_) if failure.code == Self::DIALECT.missing => {
                let error = Error::new(ErrorKind::PreconditionFailed, Op::Write, &place).with_source(failure);
                Err(error.because(format!("nothing is stored where {} was expected", options.precondition)))
            }
            _ => Err(self.refused(Op::Write, &place, failure, Effect::Change)),
        }
    }

    async fn delete_blob(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        let place = self.at(key);
        options.check(&place)?;
        let request = self.request(Op::Delete, Method::DELETE, key)?;
        let request =
            self.conditional(Op::Delete, key, request, &options.precondition, options.lease.as_ref())?;
        let reply = self.call(Op::Delete, &place, request, Effect::Change).await?;
        let failure = Failure::of(&reply);
        if reply.is_success() {
            return Ok(true);
        }
        if failure.is_missing(&Self::DIALECT) {
            return Ok(false);
        }
        let error = self.refused(Op::Delete, &place, failure, Effect::Change);
        // Some answer so where nothing is stored, too.
        if error.kind() == ErrorKind::PreconditionFailed && self.head_blob(key).await?.is_none() {
            return Ok(false);
        }
        Err(error)
    }

    async fn list_blobs(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        let place = &*self.to_string();
        let ask = |asked: ListOptions| async move {
            let reply = self.call(Op::List, place, self.to_list(prefix, &asked), Effect::Read).await?;
            if !reply.is_success() {
                return Err(self.refused(Op::List, place, Failure::of(&reply), Effect::Read));
            }
            Self::list_page(place, &reply.body)
        };
        page(options, Self::DIALECT.page, place, ask).await
    }
}
