//! The identity that Azure gives to a machine, or to an application that runs in one of its services.

use std::time::Duration;

use groundstate_blobs::Result;
use http::Method;
use serde::Deserialize;

use crate::cloud::{Request, SHORT, Seconds, Token, Wire, address, ask, query, token, token_of};
use crate::settings::Values;

/// Where machines ask.
const METADATA: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

pub(super) struct MachineIdentity {
    url: String,
    client: Option<String>,
    /// The secret of the services that have one, and which version of the protocol that takes.
    header: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    access_token: String,
    expires_in: Option<Seconds>,
}

impl MachineIdentity {
    pub(super) fn new(values: &Values) -> Result<Self> {
        let endpoint = |name| {
            let check = |text| address(text).map_err(|why| values.invalid(name, why));
            values.text(name).map(check).transpose()
        };
        let header = values
            .text("identity_header")
            .map(|text| token(text).map(str::to_owned).map_err(|why| values.invalid("identity_header", why)));
        let (given, service) = (endpoint("msi_endpoint")?, endpoint("identity_endpoint")?);
        // The secret goes to the service that it came with.
        let header = header.transpose()?.filter(|_| given.is_none() && service.is_some());
        let url = given.or(service).map_or_else(|| METADATA.to_owned(), String::from);
        let client = values.text("client_id").map(|text| text.trim().to_owned());
        Ok(Self { url, client, header })
    }

    pub(super) async fn token(&self, wire: &Wire, resource: &str) -> Result<Token> {
        let place = "the identity service of the machine (`use_msi`)";
        let version = if self.header.is_some() { "2019-08-01" } else { "2018-02-01" };
        let mut pairs = vec![("api-version", version), ("resource", resource)];
        pairs.extend(self.client.as_deref().map(|client| ("client_id", client)));
        let separator = if self.url.contains('?') { "&" } else { "?" };
        let url = format!("{}{separator}{}", self.url, query(&pairs));
        let mut request = Request::new(Method::GET, url).header("metadata", "true")?;
        if let Some(header) = &self.header {
            request = request.header("x-identity-header", header)?;
        }
        let answer: Answer = ask(wire, place, request).await?;
        let lives = answer.expires_in.map_or(SHORT, |Seconds(seconds)| Duration::from_secs(seconds));
        token_of(place, &answer.access_token, lives)
    }
}
