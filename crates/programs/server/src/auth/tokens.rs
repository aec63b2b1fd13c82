//! The tokens of a server: a document for each in the store that all nodes share.

use std::fmt;
use std::sync::Arc;

use groundstate_blobs::{
    BlobStore, Context, Error as BlobError, ErrorKind as BlobErrorKind, GetOptions, Key, ListOptions,
    Precondition, PutOptions,
};
use groundstate_common::{InvalidId, Timestamp, string_id};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::principal::{Grant, Principal, PrincipalKind};
use super::token::{Token, TokenHash, TokenId};

/// The folder of the documents of tokens.
const TOKENS: &str = "auth/tokens/";
/// The folder of the documents that say when a token was used.
const USES: &str = "auth/token-uses/";
/// The version of both documents.
const FORMAT: u32 = 1;
/// How often to revoke anew when others change the document at the same time.
const ATTEMPTS: usize = 8;

string_id! {
    /// The name of a token: 1 to 100 letters and digits of ASCII and `-_.@`, of which the first is a letter or a digit.
    pub struct TokenName: "token name" = check;
}

fn check(text: &str) -> Result<(), &'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    match text {
        "" => Err("it is empty"),
        long if long.len() > 100 => Err("it is longer than 100 bytes"),
        text if !text.chars().all(is_plain) => Err("it may have letters, digits and -_.@ only"),
        text if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
            Err("it has to begin with a letter or a digit")
        }
        _ => Ok(()),
    }
}

/// What is known of a token; not the token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenInfo {
    /// The id, which is in logs too.
    pub id: TokenId,
    /// The name, which is that of the principal.
    pub name: TokenName,
    /// What it is for.
    pub grants: Vec<Grant>,
    /// When it was made.
    pub created: Timestamp,
    /// Who made it.
    pub created_by: String,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// When it was revoked, and by whom.
    pub revoked: Option<Revocation>,
    /// The last day on which it was used, such as `2026-03-01`, where that was asked for.
    pub last_used: Option<String>,
}

/// The end of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Revocation {
    /// When.
    pub time: Timestamp,
    /// By whom.
    pub by: String,
}

/// Whether a token is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenStatus {
    /// It is.
    Active,
    /// Its time is over.
    Expired,
    /// It was revoked.
    Revoked,
}

/// A token that is to be made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewToken {
    /// Its name.
    pub name: TokenName,
    /// What it is for; at least one.
    pub grants: Vec<Grant>,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// Who makes it.
    pub created_by: String,
}

impl NewToken {
    /// A token that never ends.
    pub fn new(name: TokenName, grants: Vec<Grant>, created_by: impl Into<String>) -> Self {
        Self { name, grants, expires: None, created_by: created_by.into() }
    }

    /// Ends it.
    #[must_use]
    pub fn expires(mut self, time: Timestamp) -> Self {
        self.expires = Some(time);
        self
    }
}

/// Why tokens cannot be made, listed, found or revoked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// There is a token of this name already.
    #[error("there is a token {name} already, with the id {id}; revoke it first, or use another name")]
    Exists {
        /// The name.
        name: TokenName,
        /// The id of the other one.
        id: TokenId,
    },
    /// It would end before it begins.
    #[error("the token would expire at {0}, which is past")]
    Past(Timestamp),
    /// It would be for nothing.
    #[error("a token without a role is for nothing")]
    NoGrant,
    /// There is none of this name or id.
    #[error("there is no token {0}")]
    NotFound(String),
    /// A document is damaged.
    #[error("the token in {object} of {store} is damaged")]
    Damaged {
        /// The store, without secrets.
        store: String,
        /// The object.
        object: String,
        /// Why.
        source: Option<serde_json::Error>,
    },
    /// The store fails.
    #[error("cannot use the tokens in {store}")]
    Store {
        /// The store, without secrets.
        store: String,
        /// Why.
        source: BlobError,
    },
    /// No random bits can be had.
    #[error(transparent)]
    Random(#[from] groundstate_common::IdSourceError),
}

/// A token as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: u32,
    id: String,
    name: String,
    sha256: String,
    grants: Vec<Grant>,
    created: Timestamp,
    created_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked: Option<Revocation>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Use {
    format: u32,
    day: String,
}

/// A token that was found: what is known of it, and its hash.
#[derive(Clone, Debug)]
pub(crate) struct StoredToken {
    pub(crate) info: TokenInfo,
    pub(crate) hash: TokenHash,
}

/// The tokens in a store. The store repeats what fails, as [`Retry`](groundstate_blobs::Retry) does.
#[derive(Clone, Debug)]
pub struct Tokens {
    store: Arc<dyn BlobStore>,
    context: Context,
}

impl TokenInfo {
    /// Whether it is accepted at this time.
    pub fn status(&self, now: Timestamp) -> TokenStatus {
        match self.expires {
            _ if self.revoked.is_some() => TokenStatus::Revoked,
            Some(end) if end <= now => TokenStatus::Expired,
            _ => TokenStatus::Active,
        }
    }

    /// Who asks with it.
    pub fn principal(&self) -> Principal {
        Principal::new(&format!("token:{}", self.name), PrincipalKind::Token, self.grants.clone())
    }
}

impl Tokens {
    /// The tokens in the store.
    pub fn new(store: Arc<dyn BlobStore>, context: Context) -> Self {
        Self { store, context }
    }

    /// Makes a token. What is given back with it is all that is stored.
    ///
    /// # Errors
    ///
    /// If one of the name is active, if it would not be of use, or if the store fails.
    pub async fn create(&self, new: NewToken) -> Result<(Token, TokenInfo), TokenError> {
        let now = self.context.clock.now();
        if let Some(end) = new.expires.filter(|end| *end <= now) {
            return Err(TokenError::Past(end));
        }
        if new.grants.is_empty() {
            return Err(TokenError::NoGrant);
        }
        let same = |info: &TokenInfo| info.name == new.name && info.status(now) == TokenStatus::Active;
        if let Some(info) = self.list().await?.into_iter().find(same) {
            return Err(TokenError::Exists { name: info.name, id: info.id });
        }
        let token = Token::generate(&*self.context.ids)?;
        let hash = token.hash();
        let document = Document {
            format: FORMAT,
            id: hash.id().to_string(),
            name: new.name.to_string(),
            sha256: hash.to_string(),
            grants: new.grants,
            created: now,
            created_by: new.created_by,
            expires: new.expires,
            revoked: None,
        };
        let name = object(&hash.id());
        self.put(&name, &document, &PutOptions::expecting(Precondition::Absent)).await?;
        let stored = self.read(&name, &serde_json::to_vec(&document).unwrap_or_default())?;
        Ok((token, stored.info))
    }

    /// All tokens, the oldest first, those that are not accepted any more among them; with the day of their last use.
    ///
    /// # Errors
    ///
    /// If a document is damaged, or the store fails.
    pub async fn list(&self) -> Result<Vec<TokenInfo>, TokenError> {
        let mut tokens = Vec::new();
        for name in self.names(usize::MAX).await? {
            let Some((bytes, _)) = self.get(&name).await? else { continue };
            let mut info = self.read(&name, &bytes)?.info;
            info.last_used = self.last_used(&info.id).await?;
            tokens.push(info);
        }
        tokens.sort_by(|a: &TokenInfo, b| (a.created, &a.name, &a.id).cmp(&(b.created, &b.name, &b.id)));
        Ok(tokens)
    }

    /// Whether there is any token, accepted or not: authentication is in use then.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn is_any(&self) -> Result<bool, TokenError> {
        Ok(!self.names(1).await?.is_empty())
    }

    /// Revokes the active token of this name, or any of this id. Nodes that have seen it accept it for at most
    /// [`STALENESS`](super::STALENESS) longer.
    ///
    /// # Errors
    ///
    /// If there is none, or the store fails.
    pub async fn revoke(&self, name_or_id: &str, by: &str) -> Result<TokenInfo, TokenError> {
        let now = self.context.clock.now();
        let tokens = self.list().await?;
        let of_id = tokens.iter().find(|info| info.id.as_str() == name_or_id);
        let of_name = || {
            let mut named: Vec<&TokenInfo> =
                tokens.iter().filter(|info| info.name.as_str() == name_or_id).collect();
            // One that is accepted before those that are not.
            named.sort_by_key(|info| info.status(now) != TokenStatus::Active);
            named.first().copied()
        };
        let found = of_id.or_else(of_name).ok_or_else(|| TokenError::NotFound(name_or_id.to_owned()))?;
        let name = object(&found.id);
        for _ in 0..ATTEMPTS {
            let Some((bytes, version)) = self.get(&name).await? else { break };
            let mut document = self.parse(&name, &bytes)?;
            if document.revoked.is_some() {
                return Ok(self.read(&name, &bytes)?.info);
            }
            document.revoked = Some(Revocation { time: now, by: by.to_owned() });
            match self.put(&name, &document, &PutOptions::expecting(Precondition::Version(version))).await {
                Ok(()) => {
                    return Ok(self.read(&name, &serde_json::to_vec(&document).unwrap_or_default())?.info);
                }
                Err(TokenError::Store { source, .. })
                    if source.kind() == BlobErrorKind::PreconditionFailed => {}
                Err(error) => return Err(error),
            }
        }
        Err(TokenError::NotFound(name_or_id.to_owned()))
    }

    /// The stored token of this id.
    pub(crate) async fn find(&self, id: &TokenId) -> Result<Option<StoredToken>, TokenError> {
        let name = object(id);
        match self.get(&name).await? {
            Some((bytes, _)) => self.read(&name, &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Remembers that it was used on this day.
    pub(crate) async fn note_use(&self, id: &TokenId, day: String) -> Result<(), TokenError> {
        let name = format!("{USES}{id}.json");
        let content = serde_json::to_vec(&Use { format: FORMAT, day }).unwrap_or_default();
        let key = self.key(&name)?;
        let put = self.store.put(&key, content.into(), &PutOptions::default()).await;
        put.map(drop).map_err(|error| self.failed(error))
    }

    async fn last_used(&self, id: &TokenId) -> Result<Option<String>, TokenError> {
        let Some((bytes, _)) = self.get(&format!("{USES}{id}.json")).await? else { return Ok(None) };
        // It says nothing that counts, so a damaged one says nothing.
        Ok(serde_json::from_slice(&bytes).ok().map(|used: Use| used.day))
    }

    /// The names of the documents, some of them at least.
    async fn names(&self, enough: usize) -> Result<Vec<String>, TokenError> {
        let (mut names, mut options) = (Vec::new(), ListOptions::default());
        loop {
            let page = self.store.list(TOKENS, &options).await.map_err(|error| self.failed(error))?;
            names.extend(page.blobs.into_iter().map(|blob| blob.name));
            match page.next {
                Some(token) if names.len() < enough => options.page = Some(token),
                _ => return Ok(names),
            }
        }
    }

    async fn get(&self, name: &str) -> Result<Option<(Vec<u8>, groundstate_blobs::BlobVersion)>, TokenError> {
        let key = self.key(name)?;
        let blob = self.store.get(&key, &GetOptions::default()).await.map_err(|error| self.failed(error))?;
        Ok(blob.map(|blob| (blob.bytes.to_vec(), blob.meta.version)))
    }

    async fn put(&self, name: &str, document: &Document, options: &PutOptions) -> Result<(), TokenError> {
        let mut bytes = serde_json::to_vec_pretty(document).unwrap_or_default();
        bytes.push(b'\n');
        let key = self.key(name)?;
        self.store.put(&key, bytes.into(), options).await.map(drop).map_err(|error| self.failed(error))
    }

    fn parse(&self, name: &str, bytes: &[u8]) -> Result<Document, TokenError> {
        serde_json::from_slice(bytes).map_err(|error| self.damaged(name, Some(error)))
    }

    fn read(&self, name: &str, bytes: &[u8]) -> Result<StoredToken, TokenError> {
        let Document { format, id, name: token_name, sha256, grants, created, created_by, expires, revoked } =
            self.parse(name, bytes)?;
        let hash =
            TokenHash::parse(&sha256).filter(|hash| hash.id().as_str() == id && object(&hash.id()) == name);
        let (Some(hash), Ok(token_name), FORMAT) = (hash, TokenName::parse(&token_name), format) else {
            return Err(self.damaged(name, None));
        };
        let info = TokenInfo {
            id: hash.id(),
            name: token_name,
            grants,
            created,
            created_by,
            expires,
            revoked,
            last_used: None,
        };
        Ok(StoredToken { info, hash })
    }

    fn key(&self, name: &str) -> Result<Key, TokenError> {
        Key::parse(name).map_err(|error| self.failed(error))
    }

    fn failed(&self, source: BlobError) -> TokenError {
        TokenError::Store { store: self.store.to_string(), source }
    }

    fn damaged(&self, name: &str, source: Option<serde_json::Error>) -> TokenError {
        TokenError::Damaged { store: self.store.to_string(), object: name.to_owned(), source }
    }
}

/// The name of the document of a token.
fn object(id: &TokenId) -> String {
    format!("{TOKENS}{id}.json")
}

impl fmt::Display for TokenStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        })
    }
}

/// Reads what a person types for a token: its name or its id.
///
/// # Errors
///
/// If it can be neither.
pub fn name_or_id(text: &str) -> Result<String, InvalidId> {
    match TokenId::parse(text) {
        Some(_) => Ok(text.to_owned()),
        None => TokenName::parse(text).map(|name| name.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use groundstate_blobs::{BlobStore, Context, GetOptions, Key, MemoryBlobs, PutOptions};
    use groundstate_common::{FixedClock, OsIds, Timestamp};

    use super::{NewToken, TokenError, TokenName, TokenStatus, Tokens};
    use crate::auth::{Grant, Role};

    struct Setup {
        store: Arc<MemoryBlobs>,
        clock: Arc<FixedClock>,
        tokens: Tokens,
    }

    fn setup() -> Setup {
        let store = Arc::new(MemoryBlobs::new("states"));
        let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
        let context = Context::new(Arc::clone(&clock) as _, Arc::clone(&clock) as _, Arc::new(OsIds));
        let tokens = Tokens::new(Arc::clone(&store) as Arc<dyn BlobStore>, context);
        Setup { store, clock, tokens }
    }

    fn new(name: &str) -> NewToken {
        NewToken::new(TokenName::parse(name).unwrap(), vec![Grant::everything(Role::Write)], "user:ana")
    }

    #[tokio::test]
    async fn a_token_is_stored_as_its_hash_and_found_by_it() {
        let Setup { store, tokens, .. } = setup();
        let (token, info) = tokens.create(new("ci")).await.unwrap();
        let key = Key::parse(&format!("auth/tokens/{}.json", info.id)).unwrap();
        let blob = store.get(&key, &GetOptions::default()).await.unwrap().unwrap();
        let text = String::from_utf8(blob.bytes.to_vec()).unwrap();
        assert!(!text.contains(&token.reveal()[3..20]), "{text}");
        let found = tokens.find(&token.hash().id()).await.unwrap().unwrap();
        assert!(found.hash.is(&token.hash()));
        assert_eq!(found.info, info);
        assert_eq!(info.principal().name(), "token:ci");
    }

    #[tokio::test]
    async fn names_are_free_again_when_a_token_has_ended() {
        let Setup { clock, tokens, .. } = setup();
        assert!(!tokens.is_any().await.unwrap());
        let end = clock_in(&clock, 60);
        let (_, first) = tokens.create(new("ci").expires(end)).await.unwrap();
        let error = tokens.create(new("ci")).await.unwrap_err();
        assert!(matches!(&error, TokenError::Exists { id, .. } if *id == first.id), "{error}");
        clock.advance(Duration::from_secs(60));
        let (_, second) = tokens.create(new("ci")).await.unwrap();
        let now = clock_in(&clock, 0);
        // By name, the one that is accepted.
        assert_eq!(tokens.revoke("ci", "user:bob").await.unwrap().id, second.id);
        let statuses: Vec<TokenStatus> =
            tokens.list().await.unwrap().iter().map(|info| info.status(now)).collect();
        assert_eq!(statuses, [TokenStatus::Expired, TokenStatus::Revoked]);
        // Again, it stays as it was.
        clock.advance(Duration::from_secs(60));
        let again = tokens.revoke(second.id.as_str(), "user:eve").await.unwrap();
        assert_eq!(
            again.revoked.map(|revoked| (revoked.time, revoked.by)),
            Some((now, "user:bob".to_owned()))
        );
        assert!(tokens.is_any().await.unwrap());
    }

    fn clock_in(clock: &FixedClock, seconds: u64) -> Timestamp {
        groundstate_common::Clock::now(clock).checked_add(Duration::from_secs(seconds)).unwrap()
    }

    #[tokio::test]
    async fn tokens_that_would_be_of_no_use_are_not_made() {
        let Setup { clock, tokens, .. } = setup();
        let past = tokens.create(new("ci").expires(clock_in(&clock, 0))).await.unwrap_err();
        assert_eq!(past.to_string(), "the token would expire at 2026-03-01T12:00:00Z, which is past");
        let none = NewToken::new(TokenName::parse("ci").unwrap(), vec![], "user:ana");
        assert!(matches!(tokens.create(none).await, Err(TokenError::NoGrant)));
        assert!(matches!(tokens.revoke("ci", "x").await, Err(TokenError::NotFound(_))));
    }

    #[tokio::test]
    async fn the_day_of_the_last_use_is_in_the_list() {
        let Setup { tokens, .. } = setup();
        let (_, info) = tokens.create(new("ci")).await.unwrap();
        assert_eq!(tokens.list().await.unwrap()[0].last_used, None);
        tokens.note_use(&info.id, "2026-03-01".to_owned()).await.unwrap();
        assert_eq!(tokens.list().await.unwrap()[0].last_used.as_deref(), Some("2026-03-01"));
    }

    #[tokio::test]
    async fn a_damaged_document_is_named_and_accepts_nothing() {
        let Setup { store, tokens, .. } = setup();
        let (token, info) = tokens.create(new("ci")).await.unwrap();
        let name = format!("auth/tokens/{}.json", info.id);
        let key = Key::parse(&name).unwrap();
        let text = store.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
        let text = String::from_utf8(text.to_vec()).unwrap();
        let other_hash = "0".repeat(64);
        for damage in [
            "{}".to_owned(),
            text.replace("\"format\": 1", "\"format\": 2"),
            text.replace("\"ci\"", "\"c i\""),
            text.replace(&token.hash().to_string(), &other_hash),
            text.replace("write", "root"),
        ] {
            assert_ne!(damage, text);
            store.put(&key, damage.clone().into(), &PutOptions::default()).await.unwrap();
            let error = tokens.find(&info.id).await.unwrap_err();
            assert!(error.to_string().contains(&name), "{damage}: {error}");
            assert!(tokens.list().await.is_err());
        }
    }

    #[test]
    fn names_that_would_be_mistaken_are_refused() {
        for name in ["", "-a", "a b", "a/b", "a\nb", "ü", &"a".repeat(101)] {
            assert!(TokenName::parse(name).is_err(), "{name}");
        }
        assert!(TokenName::parse("ana@example.com").is_ok());
        assert!(super::name_or_id("0123456789abcdef").is_ok() && super::name_or_id("a/b").is_err());
    }
}
