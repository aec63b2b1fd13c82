//! Services that the user has logged in to: the token for an address, and a client with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_common::Sleeper;
use groundstate_http_client::ClientOptions;
use groundstate_pulumi_http::{AccessToken, Service, ServiceAddress, ServiceOptions};
use serde::Deserialize;
use thiserror::Error;

use crate::choice::ServiceChoice;
use crate::home::PulumiHome;
use crate::service_url::ServiceUrl;

/// Why a service cannot be asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceLoginError {
    /// The user has not logged in there. No other token is sent: who names the address may be a stranger.
    #[error("there is no access token for the service {url}; log in with `pulumi login {url}`")]
    NoToken {
        /// The address.
        url: String,
    },
    /// The stored login cannot be read.
    #[error(transparent)]
    Login(#[from] groundstate_blobs::Error),
    /// The client cannot be made, or the token is none.
    #[error(transparent)]
    Client(#[from] groundstate_pulumi_http::Error),
}

/// What is read of `credentials.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Stored {
    current: Option<String>,
    #[serde(rename = "accessTokens")]
    tokens: Option<BTreeMap<String, Option<String>>>,
    accounts: Option<BTreeMap<String, Option<Account>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Account {
    #[serde(rename = "accessToken")]
    token: Option<String>,
    insecure: Option<bool>,
}

/// The login to an address.
struct Login {
    token: String,
    /// The user has logged in with `--insecure`.
    insecure: bool,
}

impl ServiceChoice {
    /// A client of the service, with the token of the user's login there. Nothing is sent yet.
    ///
    /// A token is sent only to the very address that it was stored for by `pulumi login`. That of `PULUMI_ACCESS_TOKEN` is sent to
    /// `PULUMI_BACKEND_URL`, or without it to the address of the stored login, or without one to `https://api.pulumi.com`. An address
    /// in a project file, in a state or on a command line decides nothing, since a stranger may have written it.
    ///
    /// # Errors
    ///
    /// When there is no token for the address, or the login cannot be read.
    pub fn open(
        &self,
        home: &PulumiHome,
        variable: &dyn Fn(&str) -> Option<String>,
        sleeper: Arc<dyn Sleeper>,
    ) -> Result<Service, ServiceLoginError> {
        connect(&self.url, false, home, variable, sleeper)
    }
}

/// A client of a service. `is_insecure` is what a place says that may be a stranger's; the user has to say it too.
pub(crate) fn connect(
    url: &ServiceUrl,
    is_insecure: bool,
    home: &PulumiHome,
    variable: &dyn Fn(&str) -> Option<String>,
    sleeper: Arc<dyn Sleeper>,
) -> Result<Service, ServiceLoginError> {
    let address = ServiceAddress::parse(url.as_str())?;
    let login =
        login(url, home, variable)?.ok_or_else(|| ServiceLoginError::NoToken { url: url.to_string() })?;
    let is_set = |name: &str| variable(name).is_some_and(|value| value == "true" || value == "1");
    let insecure = login.insecure || is_insecure && is_set("PULUMI_OPTION_INSECURE");
    let options = ClientOptions::new().insecure(insecure);
    let options = options.allow_plain_http(is_set("GROUNDSTATE_ALLOW_PLAIN_HTTP"));
    let token = AccessToken::new(&login.token)?;
    Ok(Service::new(address, Some(token), ServiceOptions::new().client(options), sleeper)?)
}

/// The login to exactly this address.
fn login(
    url: &ServiceUrl,
    home: &PulumiHome,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Login>, ServiceLoginError> {
    let given = |name: &str| variable(name).filter(|text| !text.is_empty());
    let (from_variable, backend) = (given("PULUMI_ACCESS_TOKEN"), given("PULUMI_BACKEND_URL"));
    let stored: Stored = match home.credentials() {
        Ok(stored) => stored,
        // Where variables say both, no stored login is needed.
        Err(_) if from_variable.is_some() && backend.as_deref().is_some_and(|backend| url.is(backend)) => {
            Stored::default()
        }
        Err(error) => return Err(error.into()),
    };
    let current = stored.current.unwrap_or_default();
    let known = stored.accounts.unwrap_or_default().into_iter().find(|(known, _)| url.is(known));
    let account = known.and_then(|(_, account)| account).unwrap_or_default();
    let insecure = account.insecure.unwrap_or_default();
    // The address that the variable's token belongs to.
    let own = match &backend {
        Some(backend) => backend,
        None if current.is_empty() => ServiceUrl::DEFAULT,
        None => &current,
    };
    if let Some(token) = from_variable.filter(|_| url.is(own)) {
        return Ok(Some(Login { token, insecure }));
    }
    let of_token = stored.tokens.unwrap_or_default().into_iter().find(|(known, _)| url.is(known));
    let tokens = [account.token, of_token.and_then(|(_, token)| token)];
    let token = tokens.into_iter().flatten().find(|token| !token.is_empty());
    Ok(token.map(|token| Login { token, insecure }))
}
