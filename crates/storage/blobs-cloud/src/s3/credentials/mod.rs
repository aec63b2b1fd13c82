//! Who the store is to AWS: where credentials come from, and how long they are used.

mod account;
mod chain;
mod container;
mod imds;
mod process;
mod role;
mod sso;
mod sts;
mod web_identity;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_common::{Clock, Timestamp};
use object_store::aws::AwsCredential;
use tracing::debug;

use crate::cloud::token;

pub(super) use account::Accounts;
pub(super) use chain::provider;

/// Credentials are renewed this long before they end, or after three quarters of their time if that is shorter.
const MARGIN: Duration = Duration::from_secs(300);

/// The verb of errors about credentials.
const OP: Op = Op::Get;

/// What to do without credentials.
pub(super) const NO_CREDENTIALS: &str = "set `access_key` and `secret_key`, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a `profile` or AWS_PROFILE";

/// Something that gives credentials: keys, a program, a service.
#[async_trait]
trait Source: fmt::Debug + Send + Sync + 'static {
    /// What kind of source it is, in words without secrets.
    fn kind(&self) -> &'static str;

    async fn fetch(&self) -> Result<Fetched>;
}

/// Credentials, and when they end.
struct Fetched {
    credential: AwsCredential,
    expires: Option<Timestamp>,
}

/// Credentials that are fetched when they are needed, used until they end, and checked for their account first.
#[derive(Clone)]
pub(super) struct Credentials(Arc<Inner>);

struct Inner {
    source: Box<dyn Source>,
    accounts: Option<Accounts>,
    clock: Arc<dyn Clock>,
    cached: Mutex<Option<Cached>>,
}

#[derive(Clone)]
struct Cached {
    credential: Arc<AwsCredential>,
    /// When to ask for new ones, and when these end.
    times: Option<(Timestamp, Timestamp)>,
}

impl Credentials {
    fn new(source: impl Source, clock: &Arc<dyn Clock>) -> Self {
        let source = Box::new(source);
        Self(Arc::new(Inner { source, accounts: None, clock: Arc::clone(clock), cached: Mutex::default() }))
    }

    /// The same, and only in these accounts.
    fn in_accounts(self, accounts: Option<Accounts>) -> Self {
        let Some(accounts) = accounts else { return self };
        let clock = Arc::clone(&self.0.clock);
        let source: Box<dyn Source> = Box::new(self);
        Self(Arc::new(Inner { source, accounts: Some(accounts), clock, cached: Mutex::default() }))
    }

    /// Credentials that have not ended.
    pub(super) async fn get(&self) -> Result<Arc<AwsCredential>> {
        let Inner { source, accounts, clock, cached } = &*self.0;
        let now = clock.now();
        let known = cached.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = &known
            && known.times.is_none_or(|(renewal, _)| now < renewal)
        {
            return Ok(Arc::clone(&known.credential));
        }
        debug!(from = source.kind(), "asking for credentials");
        let fetched = match source.fetch().await {
            Ok(fetched) => fetched,
            // Until they end, the old ones are good enough.
            Err(error) => {
                return match known.filter(|known| known.times.is_some_and(|(_, end)| now < end)) {
                    Some(known) => Ok(known.credential),
                    None => Err(error),
                };
            }
        };
        if let Some(accounts) = accounts {
            accounts.check(&fetched.credential).await?;
        }
        let credential = Arc::new(fetched.credential);
        let times = fetched.expires.map(|end| (renewal(now, end), end));
        let fresh = Cached { credential: Arc::clone(&credential), times };
        *cached.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh);
        Ok(credential)
    }
}

/// When to renew what ends then.
fn renewal(now: Timestamp, end: Timestamp) -> Timestamp {
    let left = end.duration_since(now).unwrap_or_default();
    let margin = MARGIN.min(left / 4);
    now.checked_add(left.saturating_sub(margin)).unwrap_or(end)
}

impl fmt::Debug for Credentials {
    /// Shows where they come from.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.source.fmt(f)
    }
}

#[async_trait]
impl Source for Credentials {
    fn kind(&self) -> &'static str {
        self.0.source.kind()
    }

    async fn fetch(&self) -> Result<Fetched> {
        let credential = self.get().await?;
        let AwsCredential { key_id, secret_key, token } = &*credential;
        let credential =
            AwsCredential { key_id: key_id.clone(), secret_key: secret_key.clone(), token: token.clone() };
        let cached = self.0.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let expires = cached.as_ref().and_then(|cached| cached.times).map(|(_, end)| end);
        Ok(Fetched { credential, expires })
    }
}

/// Keys that are given.
struct Keys(AwsCredential);

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

#[async_trait]
impl Source for Keys {
    fn kind(&self) -> &'static str {
        "keys"
    }

    async fn fetch(&self) -> Result<Fetched> {
        let AwsCredential { key_id, secret_key, token } = &self.0;
        let credential =
            AwsCredential { key_id: key_id.clone(), secret_key: secret_key.clone(), token: token.clone() };
        Ok(Fetched { credential, expires: None })
    }
}

/// Checks what a service or a program gave before the signer, which panics on what no header can have, gets it.
fn fetched(
    from: &str,
    (key_id, secret_key): (&str, &str),
    session: Option<&str>,
    expires: Option<Timestamp>,
) -> Result<Fetched> {
    let checked = |what: &str, text: &str| match token(text) {
        Ok(text) => Ok(text.to_owned()),
        Err(why) => Err(Error::new(ErrorKind::Unauthenticated, OP, from).because(format!("{what}: {why}"))),
    };
    let token = session.filter(|text| !text.is_empty());
    let credential = AwsCredential {
        key_id: checked("the id of the key cannot be used", key_id)?,
        secret_key: checked("the secret key cannot be used", secret_key)?,
        token: token.map(|text| checked("the session token cannot be used", text)).transpose()?,
    };
    Ok(Fetched { credential, expires })
}

/// An answer with credentials that cannot be read. Its text, and so the cause, may have secrets in it.
fn unreadable(from: &str) -> Error {
    Error::new(ErrorKind::Unauthenticated, OP, from).because("the answer is not the expected document")
}

/// A file with a token, without the white space around it; it may have changed since the last time.
fn token_file(from: &str, path: &str) -> Result<String> {
    use std::io::Read as _;
    const LONGEST: u64 = 64 << 10;
    let failed = || Error::new(ErrorKind::Unauthenticated, OP, from);
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    read.map_err(|error| {
        failed().because(format!("the token file {path} cannot be read")).with_source(error)
    })?;
    if text.len() as u64 > LONGEST {
        return Err(failed().because(format!("the token file {path} is larger than 64 KiB")));
    }
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests;
