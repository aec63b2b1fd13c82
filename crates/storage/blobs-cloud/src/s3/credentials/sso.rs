//! Credentials of a role that a login by SSO gives: the login is the one of `aws sso login`.

use std::fmt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use groundstate_blobs::{Error, ErrorKind, Result};
use groundstate_common::{Clock, Timestamp, hex, shell_word};
use http::Method;
use serde::Deserialize;
use sha1::{Digest, Sha1};
use std::sync::Arc;

use super::{Fetched, OP, Source, fetched, unreadable};
use crate::cloud::{Effect, Failure, Request, Wire, query, token};
use crate::s3::profile::{Profile, SharedConfig};

pub(super) struct Sso {
    wire: Wire,
    url: String,
    login: PathBuf,
    profile: String,
    from: String,
    clock: Arc<dyn Clock>,
}

/// The file of a login.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Login {
    access_token: String,
    expires_at: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    role_credentials: Keys,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    /// Milliseconds since 1970.
    expiration: i64,
}

impl Sso {
    /// The login that a profile names; `home` is where `.aws` is, and `endpoint` stands in for AWS's own.
    pub(super) fn of(
        profile: &Profile,
        config: &SharedConfig,
        home: Option<&str>,
        endpoint: Option<&str>,
        wire: Wire,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self> {
        let (region, key) = match profile.text("sso_session") {
            Some(name) => {
                let session = config.sso_session(name);
                let session = session
                    .ok_or_else(|| profile.wrong(format!("there is no section [sso-session {name}]")))?;
                let region = session.get("sso_region").map(|property| property.value.as_str());
                let region = region.ok_or_else(|| {
                    profile.wrong(format!("the section [sso-session {name}] has no `sso_region`"))
                })?;
                (region, name)
            }
            None => (profile.needed("sso_region")?, profile.needed("sso_start_url")?),
        };
        if region.is_empty() || !region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(profile.wrong("`sso_region` is not the name of a region"));
        }
        let home = home.ok_or_else(|| profile.wrong("the home directory is not known, set HOME"))?;
        let name = hex(&Sha1::digest(key));
        let host = match endpoint {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None if region.starts_with("cn-") => format!("https://portal.sso.{region}.amazonaws.com.cn"),
            None => format!("https://portal.sso.{region}.amazonaws.com"),
        };
        let (account, role) = (profile.needed("sso_account_id")?, profile.needed("sso_role_name")?);
        let query = query(&[("role_name", role), ("account_id", account)]);
        Ok(Self {
            wire,
            url: format!("{host}/federation/credentials?{query}"),
            login: Path::new(home).join(".aws/sso/cache").join(format!("{name}.json")),
            profile: profile.name.clone(),
            from: format!("credentials by SSO for the profile {:?}", profile.name),
            clock: Arc::clone(clock),
        })
    }

    fn log_in(&self, why: impl Into<String>) -> Error {
        let error = Error::new(ErrorKind::Unauthenticated, OP, &self.from).because(why);
        error.next_step(format!("run `aws sso login --profile {}`", shell_word(&self.profile)))
    }

    fn login(&self) -> Result<String> {
        let text = super::token_file(&self.from, &self.login.to_string_lossy())
            .map_err(|error| self.log_in("there is no login").with_source(error))?;
        let unreadable = || self.log_in("the file of the login cannot be read");
        // The cause would show parts of it.
        let login: Login = serde_json::from_str(&text).map_err(|_| unreadable())?;
        // Older tools write `UTC` for `Z`.
        let expires = Timestamp::parse(&login.expires_at.replace("UTC", "Z")).map_err(|_| unreadable())?;
        if expires <= self.clock.now() {
            return Err(self.log_in(format!("the login expired at {expires}")));
        }
        token(&login.access_token).map(str::to_owned).map_err(|_| unreadable())
    }
}

#[async_trait]
impl Source for Sso {
    fn kind(&self) -> &'static str {
        "a single sign-on"
    }

    async fn fetch(&self) -> Result<Fetched> {
        let login = self.login()?;
        let request = Request::new(Method::GET, self.url.clone()).header("x-amz-sso_bearer_token", &login)?;
        let reply = self.wire.send(OP, &self.from, request.build()?, Effect::Read).await?;
        match reply.status {
            200..300 => {}
            401 => return Err(self.log_in("the service refuses the login")),
            403 | 404 => {
                let error = Error::new(ErrorKind::Denied, OP, &self.from);
                let error = error.because("the login does not give this role in this account");
                return Err(error.next_step("correct `sso_account_id` and `sso_role_name` of the profile"));
            }
            _ => {
                let failure = Failure::of(&reply);
                let meaning = failure.general(Effect::Read);
                return Err(failure.into_error(OP, &self.from, meaning));
            }
        }
        let answer: Answer = serde_json::from_slice(&reply.body).map_err(|_| unreadable(&self.from))?;
        let keys = answer.role_credentials;
        let expires = Timestamp::from_unix(keys.expiration.div_euclid(1000), 0);
        let expires = expires.map_err(|_| unreadable(&self.from))?;
        let pair = (keys.access_key_id.as_str(), keys.secret_access_key.as_str());
        fetched(&self.from, pair, Some(&keys.session_token), Some(expires))
    }
}

impl fmt::Debug for Sso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sso").field("profile", &self.profile).finish_non_exhaustive()
    }
}
