//! A client of services of Google that keep no blobs.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::{Op, Result};

use super::config::GcpSettings;
use super::credentials::{self, NO_CREDENTIALS};
use super::identity::{CLOUD_SCOPE, Identity};
use crate::cloud::{
    Effect, HttpOptions, Reply, Request, Transport, Wire, endpoint, no_client, unauthenticated,
};

/// Who a client is to Google. It sends requests to services that keep no blobs, such as that of keys.
///
/// Each call is one attempt, and changes nothing that could not be asked for again.
#[derive(Clone)]
pub struct GcpIdentity {
    identity: Arc<Identity>,
    kms: String,
    wire: Wire,
    warnings: Vec<String>,
}

impl GcpIdentity {
    /// An identity with these settings. Nothing is sent yet; files of credentials are read.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, naming the option and the variable.
    pub fn open(settings: &GcpSettings) -> Result<Self> {
        let values = &settings.0;
        let kms = match values.text("kms_custom_endpoint") {
            Some(text) => {
                let url = endpoint(values, "kms_custom_endpoint", text)?;
                url.as_str().trim_end_matches('/').trim_end_matches("/v1").to_owned()
            }
            None => {
                format!("https://cloudkms.{}", values.text("universe_domain").unwrap_or("googleapis.com"))
            }
        };
        groundstate_http_client::address(&kms).map_err(|why| values.invalid("universe_domain", why))?;
        let transport = Transport::new(HttpOptions::of(values)?)
            .map_err(|error| no_client(values, "kms_custom_endpoint", error))?;
        let hint = "check the network, and the variables GOOGLE_KMS_CUSTOM_ENDPOINT and GOOGLE_CLOUD_UNIVERSE_DOMAIN";
        // The library that signs tokens of service accounts wants the name of a bucket.
        let identity = credentials::identity(values, "none", &transport, CLOUD_SCOPE)?;
        Ok(Self {
            identity: Arc::new(identity),
            warnings: transport.warnings(&[&kms]),
            wire: Wire::new(transport, hint.to_owned()),
            kms,
        })
    }

    /// The address of the key management service, without a slash at its end.
    pub fn kms_endpoint(&self) -> &str {
        &self.kms
    }

    /// What a user should know of the settings, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Sends a request with a token once; by TLS only, or to this machine. `place` names what it is about in errors. The reply
    /// may have any status.
    ///
    /// # Errors
    ///
    /// `Unauthenticated` and those of the services of tokens, `Unavailable` when no whole reply came, and `Invalid` for a
    /// request that cannot be sent.
    pub async fn send(&self, place: &str, request: http::Request<Bytes>) -> Result<Reply> {
        let mut request = Request::confidential(request);
        let bearer = self.identity.bearer(&self.wire).await;
        let bearer = bearer.map_err(|error| unauthenticated(Op::Call, place, error, NO_CREDENTIALS))?;
        if let Some(bearer) = bearer {
            request = request.header("authorization", &format!("Bearer {bearer}"))?;
        }
        self.wire.send(Op::Call, place, request.build()?, Effect::Read).await
    }
}

impl fmt::Debug for GcpIdentity {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcpIdentity").field("kms", &self.kms).finish_non_exhaustive()
    }
}
