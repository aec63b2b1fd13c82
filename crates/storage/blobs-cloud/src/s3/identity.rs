//! A client of services of AWS that keep no blobs: credentials, region and signatures.

use std::fmt;

use bytes::Bytes;
use groundstate_blobs::{Context, Error, ErrorKind, Op, Result};
use object_store::aws::AwsAuthorizer;
use object_store::client::HttpRequest;

use super::address::ServiceAddress;
use super::config::AwsSettings;
use super::credentials::{self, Credentials, NO_CREDENTIALS};
use super::profile::SharedConfig;
use super::transport;
use crate::cloud::{Effect, Reply, Request, Wire};

/// Who a client is to AWS. It signs requests to services that keep no blobs, such as that of keys.
///
/// Each call is one attempt, and changes nothing that could not be asked for again.
#[derive(Clone)]
pub struct AwsIdentity {
    place: ServiceAddress,
    kms: String,
    wire: Wire,
    /// Without, requests are not signed.
    credentials: Option<Credentials>,
    warnings: Vec<String>,
}

impl AwsIdentity {
    /// An identity with these settings. Nothing is sent yet; files of profiles and certificates are read.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, naming the option and the variable.
    pub fn open(settings: &AwsSettings, context: &Context) -> Result<Self> {
        let config = SharedConfig::read(&settings.0)?;
        let values = &config.complete(&settings.0)?;
        let place = ServiceAddress::new(values, false)?;
        let kms = place.kms(values)?;
        let transport = transport(values)?;
        let addresses = [Some(&kms), Some(&place.sts), place.sso.as_ref()];
        let addresses: Vec<&str> = addresses.into_iter().flatten().map(String::as_str).collect();
        let warnings = transport.warnings(&addresses);
        let wire = Wire::new(transport, values.unreachable_hint("endpoints.kms"));
        let credentials = match values.flag("anonymous")? {
            true => None,
            false => Some(credentials::provider(values, &config, &place, &wire, context)?),
        };
        Ok(Self { place, kms, wire, credentials, warnings })
    }

    /// The region that requests are signed for.
    pub fn region(&self) -> &str {
        &self.place.region
    }

    /// The address of the key management service, without a slash at its end.
    pub fn kms_endpoint(&self) -> &str {
        &self.kms
    }

    /// What a user should know of the settings, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Signs a request for a service and sends it once; by TLS only, or to this machine. `place` names what it is about in
    /// errors. The reply may have any status.
    ///
    /// # Errors
    ///
    /// `Unauthenticated` and those of the credentials' own services, `Unavailable` when no whole reply came, and `Invalid` for
    /// a request that cannot be sent.
    pub async fn send(&self, service: &str, place: &str, request: http::Request<Bytes>) -> Result<Reply> {
        let request = Request::confidential(request);
        let request = match &self.credentials {
            None => request.build()?,
            Some(credentials) => {
                sign(credentials, &self.place.region, (Op::Call, place), service, request).await?
            }
        };
        self.wire.send(Op::Call, place, request, Effect::Read).await
    }
}

impl fmt::Debug for AwsIdentity {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsIdentity").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Signs a request for a service of AWS.
pub(super) async fn sign(
    credentials: &Credentials,
    region: &str,
    (op, place): (Op, &str),
    service: &str,
    request: Request,
) -> Result<HttpRequest> {
    let credential = credentials.get().await.map_err(|error| {
        let failed = Error::new(error.kind(), op, place).because("no credentials can be had");
        failed.next_step(error.step().unwrap_or(NO_CREDENTIALS).to_owned()).with_source(error)
    })?;
    let digest = request.digest.clone();
    let mut request = request.build()?;
    AwsAuthorizer::new(&credential, service, region)
        .try_authorize(&mut request, digest.as_deref())
        .map_err(|error| Error::new(ErrorKind::Internal, op, place).with_source(error))?;
    Ok(request)
}
