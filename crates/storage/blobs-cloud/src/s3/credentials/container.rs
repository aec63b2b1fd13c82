//! Credentials that containers get from where they run: ECS, EKS, Greengrass.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use async_trait::async_trait;
use groundstate_blobs::{Error, ErrorKind, Result};
use groundstate_common::Timestamp;
use http::Method;
use serde::Deserialize;
use url::{Host, Url};

use super::{Fetched, OP, Source, fetched, token_file, unreadable};
use crate::cloud::{Effect, Failure, Request, Wire, address, header_text, is_loopback};
use crate::settings::Values;

/// Where ECS and EKS answer, by plain http.
const ECS: Ipv4Addr = Ipv4Addr::new(169, 254, 170, 2);
const EKS: Ipv4Addr = Ipv4Addr::new(169, 254, 170, 23);
const EKS_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23);

const FROM: &str = "credentials of the container";

pub(super) struct Container {
    wire: Wire,
    url: Url,
    authorization: Option<Authorization>,
}

enum Authorization {
    File(String),
    Text(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Document {
    access_key_id: String,
    secret_access_key: String,
    token: Option<String>,
    expiration: Option<String>,
}

impl Container {
    /// `None` if no variable names a place to ask.
    pub(super) fn of(values: &Values, wire: &Wire) -> Result<Option<Self>> {
        let relative = values.text("container_credentials_relative_uri");
        let full = values.text("container_credentials_full_uri");
        let (name, url) = match (relative, full) {
            (Some(path), _) if path.starts_with('/') => {
                ("container_credentials_relative_uri", format!("http://{ECS}{path}"))
            }
            (Some(_), _) => {
                return Err(
                    values.invalid("container_credentials_relative_uri", "it has to begin with a slash")
                );
            }
            (None, Some(url)) => ("container_credentials_full_uri", url.to_owned()),
            (None, None) => return Ok(None),
        };
        let url = address(&url).map_err(|why| values.invalid(name, why))?;
        if url.scheme() == "http" && !is_known(&url) {
            let why =
                "plain http is for this machine and for 169.254.170.2, 169.254.170.23 and [fd00:ec2::23]";
            return Err(values.invalid(name, why).next_step("use an address with https"));
        }
        let file = values.text("container_authorization_token_file");
        let text = values.text("container_authorization_token");
        let authorization = file
            .map(|path| Authorization::File(path.to_owned()))
            .or_else(|| text.map(|text| Authorization::Text(text.to_owned())));
        Ok(Some(Self { wire: wire.with_hint(values.unreachable_hint(name)), url, authorization }))
    }
}

/// Whether the SDKs of AWS, too, ask this host by plain http.
fn is_known(url: &Url) -> bool {
    is_loopback(url)
        || match url.host() {
            Some(Host::Ipv4(ip)) => ip == ECS || ip == EKS,
            Some(Host::Ipv6(ip)) => ip == EKS_V6,
            _ => false,
        }
}

#[async_trait]
impl Source for Container {
    fn kind(&self) -> &'static str {
        "a container"
    }

    async fn fetch(&self) -> Result<Fetched> {
        let mut request = Request::new(Method::GET, self.url.to_string());
        if let Some(authorization) = &self.authorization {
            let text = match authorization {
                Authorization::File(path) => token_file(FROM, path)?,
                Authorization::Text(text) => text.clone(),
            };
            let text = header_text(&text).map_err(|why| {
                let error = Error::new(ErrorKind::Unauthenticated, OP, FROM);
                error.because(format!("the authorization token cannot be used: {why}"))
            })?;
            request = request.header("authorization", text)?;
        }
        let reply = self.wire.send(OP, FROM, request.build()?, Effect::Read).await?;
        if !reply.is_success() {
            let failure = Failure::of(&reply);
            let meaning = failure.general(Effect::Read);
            return Err(failure.into_error(OP, FROM, meaning));
        }
        document(FROM, &reply.body)
    }
}

/// Reads what the services of containers and machines answer.
pub(super) fn document(from: &str, body: &[u8]) -> Result<Fetched> {
    // The cause would show parts of it.
    let document: Document = serde_json::from_slice(body).map_err(|_| unreadable(from))?;
    let expires = document.expiration.as_deref().map(Timestamp::parse).transpose();
    let expires = expires.map_err(|_| unreadable(from))?;
    let keys = (document.access_key_id.as_str(), document.secret_access_key.as_str());
    fetched(from, keys, document.token.as_deref(), expires)
}

impl fmt::Debug for Container {
    /// Shows the host only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Container").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}
