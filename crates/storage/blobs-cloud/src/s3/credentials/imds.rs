//! Credentials of the role of a machine, from its metadata: version 2 of the service, with a token for the session.

use async_trait::async_trait;
use groundstate_blobs::{Error, ErrorKind, Result};
use http::Method;

use super::container::document;
use super::{Fetched, NO_CREDENTIALS, OP, Source, unreadable};
use crate::cloud::{Effect, Expected, Failure, Reply, Request, Wire, address, encode, token};
use crate::settings::Values;

const FROM: &str = "credentials of the machine's role";
const ROLES: &str = "latest/meta-data/iam/security-credentials/";

#[derive(Debug)]
pub(super) struct Machine {
    wire: Wire,
    /// With a slash at its end.
    base: String,
}

impl Machine {
    pub(super) fn of(values: &Values, wire: &Wire) -> Result<Self> {
        const NAME: &str = "ec2_metadata_service_endpoint";
        let mode = values.text("ec2_metadata_service_endpoint_mode").unwrap_or("IPv4");
        let standard = match mode.to_ascii_lowercase().as_str() {
            "ipv4" => "http://169.254.169.254",
            "ipv6" => "http://[fd00:ec2::254]",
            _ => {
                let why = "it is neither IPv4 nor IPv6";
                return Err(values.invalid("ec2_metadata_service_endpoint_mode", why));
            }
        };
        let url = address(values.text(NAME).unwrap_or(standard)).map_err(|why| values.invalid(NAME, why))?;
        if url.query().is_some() {
            return Err(values.invalid(NAME, "an endpoint has no query"));
        }
        Ok(Self { wire: wire.clone(), base: format!("{}/", url.as_str().trim_end_matches('/')) })
    }

    async fn ask(&self, request: Request) -> Result<Reply> {
        let request = request.expects(Expected::Metadata).build()?;
        self.wire.send(OP, FROM, request, Effect::Read).await.map_err(|error| {
            // Most machines have no such service, so asking again would only take longer.
            let failed = Error::new(ErrorKind::Unauthenticated, OP, FROM);
            failed
                .because("there are no other credentials, and the metadata of the machine does not answer")
                .next_step(NO_CREDENTIALS)
                .with_source(error)
        })
    }

    async fn read(&self, path: &str, session: &str) -> Result<Reply> {
        let request = Request::new(Method::GET, format!("{}{path}", self.base));
        let reply = self.ask(request.header("x-aws-ec2-metadata-token", session)?).await?;
        match reply.status {
            200 => Ok(reply),
            404 => {
                let error = Error::new(ErrorKind::Unauthenticated, OP, FROM);
                Err(error.because("the machine has no role").next_step(NO_CREDENTIALS))
            }
            _ => Err(refused(&reply)),
        }
    }
}

fn refused(reply: &Reply) -> Error {
    let failure = Failure::of(reply);
    let meaning = failure.general(Effect::Read);
    failure.into_error(OP, FROM, meaning).next_step(NO_CREDENTIALS)
}

/// An answer of one word.
fn word(reply: &Reply) -> Result<String> {
    let text = std::str::from_utf8(&reply.body).map_err(|_| unreadable(FROM))?;
    token(text.lines().next().unwrap_or_default()).map(str::to_owned).map_err(|_| unreadable(FROM))
}

#[async_trait]
impl Source for Machine {
    fn kind(&self) -> &'static str {
        "a machine"
    }

    async fn fetch(&self) -> Result<Fetched> {
        let request = Request::new(Method::PUT, format!("{}latest/api/token", self.base));
        let reply = self.ask(request.header("x-aws-ec2-metadata-token-ttl-seconds", "21600")?).await?;
        if !reply.is_success() {
            return Err(refused(&reply));
        }
        let session = word(&reply)?;
        let role = word(&self.read(ROLES, &session).await?)?;
        let reply = self.read(&format!("{ROLES}{}", encode(&role, false)), &session).await?;
        document(FROM, &reply.body)
    }
}
