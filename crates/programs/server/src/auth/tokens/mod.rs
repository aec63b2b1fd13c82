//! The tokens of a server: a document for each in the store that all nodes share.

mod document;
mod error;
mod info;

use std::sync::Arc;

use groundstate_blobs::{
    BlobStore, BlobVersion, Context, Error as BlobError, ErrorKind as BlobErrorKind, GetOptions, Key,
    ListOptions, Precondition, PutOptions,
};
use groundstate_common::Timestamp;

pub(crate) use self::document::StoredToken;
use self::document::{Document, FORMAT, Use, object};
pub use self::error::TokenError;
pub use self::info::{NewToken, Revocation, RevokedToken, TokenInfo, TokenName, TokenStatus, name_or_id};
use super::principal::Grant;
use super::token::{Token, TokenId};

/// The folder of the documents of tokens.
const TOKENS: &str = "auth/tokens/";
/// The folder of the documents that say when a token was used.
const USES: &str = "auth/token-uses/";
/// How often to revoke anew when others change the document at the same time.
const ATTEMPTS: usize = 8;

/// The tokens in a store. The store repeats what fails, as [`Retry`](groundstate_blobs::Retry) does.
#[derive(Clone, Debug)]
pub struct Tokens {
    store: Arc<dyn BlobStore>,
    context: Context,
}

impl Tokens {
    /// The tokens in the store.
    pub fn new(store: Arc<dyn BlobStore>, context: Context) -> Self {
        Self { store, context }
    }

    /// Creates a token. Only its SHA-256 is stored, so this is the only time it can be shown.
    ///
    /// # Errors
    ///
    /// `NeverMatches` for a grant that no name matches, `Exists` if one of the name is active, `Past` for a time of expiry that has passed, `NoGrant` for a token without a role, `Damaged`
    /// if any stored token is damaged, and those of the store.
    pub async fn create(&self, new: NewToken) -> Result<(Token, TokenInfo), TokenError> {
        let now = self.context.clock.now();
        if let Some(end) = new.expires.filter(|end| *end <= now) {
            return Err(TokenError::Past(end));
        }
        if new.grants.is_empty() {
            return Err(TokenError::NoGrant);
        }
        new.grants.iter().try_for_each(Grant::check).map_err(TokenError::NeverMatches)?;
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
        let stored = self.read(&name, &document.to_bytes())?;
        Ok((token, stored.info))
    }

    /// All tokens, the oldest first, those that are not accepted any more among them; with the day of their last use.
    ///
    /// # Errors
    ///
    /// If a document is damaged, or the store fails.
    pub async fn list(&self) -> Result<Vec<TokenInfo>, TokenError> {
        let (tokens, mut damaged) = self.survey().await?;
        if damaged.is_empty() { Ok(tokens) } else { Err(damaged.swap_remove(0)) }
    }

    /// The tokens as [`list`](Self::list) gives them, and an error for each whose document is damaged.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn survey(&self) -> Result<(Vec<TokenInfo>, Vec<TokenError>), TokenError> {
        let (mut tokens, mut damaged) = (Vec::new(), Vec::new());
        for name in self.names(usize::MAX).await? {
            let Some((bytes, _)) = self.get(&name).await? else { continue };
            match self.read(&name, &bytes) {
                Ok(stored) => {
                    let mut info = stored.info;
                    info.last_used = self.last_used(&info.id).await?;
                    tokens.push(info);
                }
                Err(error) => damaged.push(error),
            }
        }
        tokens.sort_by(|a: &TokenInfo, b| (a.created, &a.name, &a.id).cmp(&(b.created, &b.name, &b.id)));
        Ok((tokens, damaged))
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
    /// By its id a token is revoked also while documents of other tokens are damaged.
    ///
    /// # Errors
    ///
    /// If there is none, if two that are active have the name, or if the store fails.
    pub async fn revoke(&self, name_or_id: &str, by: &str) -> Result<RevokedToken, TokenError> {
        let now = self.context.clock.now();
        let of_id = match TokenId::parse(name_or_id) {
            Some(id) => self.find(&id).await?.map(|stored| stored.info.id),
            None => None,
        };
        let id = match of_id {
            Some(id) => id,
            None => self.named(name_or_id, now).await?,
        };
        let (name, own) = (object(&id), Revocation { time: now, by: by.to_owned() });
        for _ in 0..ATTEMPTS {
            let Some((bytes, version)) = self.get(&name).await? else {
                return Err(TokenError::NotFound(name_or_id.to_owned()));
            };
            let mut document = self.parse(&name, &bytes)?;
            let was_revoked = document.revoked.as_ref().is_some_and(|known| *known != own);
            if document.revoked.is_some() {
                return Ok(RevokedToken { info: self.read(&name, &bytes)?.info, was_revoked });
            }
            document.revoked = Some(own.clone());
            match self.put(&name, &document, &PutOptions::expecting(Precondition::Version(version))).await {
                Ok(()) => {
                    let info = self.read(&name, &document.to_bytes())?.info;
                    return Ok(RevokedToken { info, was_revoked });
                }
                Err(TokenError::Store { source, .. })
                    if source.kind() == BlobErrorKind::PreconditionFailed => {}
                Err(error) => return Err(error),
            }
        }
        Err(TokenError::Contended(id))
    }

    /// The id of the token that this name means: one that is active before those that are not, and the newest of these.
    async fn named(&self, name: &str, now: Timestamp) -> Result<TokenId, TokenError> {
        let tokens = self.list().await?;
        let named = || tokens.iter().filter(|info| info.name.as_str() == name);
        let active: Vec<&TokenInfo> =
            named().filter(|info| info.status(now) == TokenStatus::Active).collect();
        match active.as_slice() {
            [] => {
                let newest = named().next_back().map(|info| info.id.clone());
                newest.ok_or_else(|| TokenError::NotFound(name.to_owned()))
            }
            [only] => Ok(only.id.clone()),
            several => {
                let ids = several.iter().map(|info| info.id.clone()).collect();
                Err(TokenError::SeveralNamed { name: name.to_owned(), ids })
            }
        }
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

    async fn get(&self, name: &str) -> Result<Option<(Vec<u8>, BlobVersion)>, TokenError> {
        let key = self.key(name)?;
        let blob = self.store.get(&key, &GetOptions::default()).await.map_err(|error| self.failed(error))?;
        Ok(blob.map(|blob| (blob.bytes.to_vec(), blob.meta.version)))
    }

    async fn put(&self, name: &str, document: &Document, options: &PutOptions) -> Result<(), TokenError> {
        let key = self.key(name)?;
        self.store
            .put(&key, document.to_bytes().into(), options)
            .await
            .map(drop)
            .map_err(|error| self.failed(error))
    }

    fn key(&self, name: &str) -> Result<Key, TokenError> {
        Key::parse(name).map_err(|error| self.failed(error))
    }

    fn failed(&self, source: BlobError) -> TokenError {
        TokenError::Store { store: self.store.to_string(), source }
    }

    fn parse(&self, name: &str, bytes: &[u8]) -> Result<Document, TokenError> {
        Document::parse(bytes).map_err(|error| self.damaged(name, Some(error)))
    }

    fn read(&self, name: &str, bytes: &[u8]) -> Result<StoredToken, TokenError> {
        self.parse(name, bytes)?.into_token(name).ok_or_else(|| self.damaged(name, None))
    }

    fn damaged(&self, name: &str, source: Option<serde_json::Error>) -> TokenError {
        TokenError::Damaged { store: self.store.to_string(), object: name.to_owned(), source }
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
        let revoked = tokens.revoke("ci", "user:bob").await.unwrap();
        assert_eq!((revoked.info.id, revoked.was_revoked), (second.id.clone(), false));
        let statuses: Vec<TokenStatus> =
            tokens.list().await.unwrap().iter().map(|info| info.status(now)).collect();
        assert_eq!(statuses, [TokenStatus::Expired, TokenStatus::Revoked]);
        // Again, it stays as it was.
        clock.advance(Duration::from_secs(60));
        for means in [second.id.as_str(), "ci"] {
            let again = tokens.revoke(means, "user:eve").await.unwrap();
            let first = again.info.revoked.map(|revoked| (revoked.time, revoked.by));
            assert_eq!((first, again.was_revoked), (Some((now, "user:bob".to_owned())), true));
        }
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
            text.replace("\"format\": 2", "\"format\": 1"),
            text.replace("\"sum\"", "\"sun\""),
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
        let (readable, damaged) = tokens.survey().await.unwrap();
        assert_eq!((readable.len(), damaged.len()), (0, 1));
    }

    #[tokio::test]
    async fn flipped_bit_of_a_token_accepts_no_other_grant() {
        let Setup { store, tokens, .. } = setup();
        let (_, info) = tokens.create(new("ci")).await.unwrap();
        let key = Key::parse(&format!("auth/tokens/{}.json", info.id)).unwrap();
        let good = store.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes.to_vec();
        for bit in 0..good.len() * 8 {
            let mut damaged = good.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            store.put(&key, damaged.into(), &PutOptions::default()).await.unwrap();
            assert!(matches!(tokens.find(&info.id).await, Err(TokenError::Damaged { .. })), "bit {bit}");
        }
    }

    #[tokio::test]
    async fn token_without_a_checksum_is_accepted_and_sealed_when_it_is_revoked() {
        let Setup { store, tokens, .. } = setup();
        let (_, info) = tokens.create(new("ci")).await.unwrap();
        let key = Key::parse(&format!("auth/tokens/{}.json", info.id)).unwrap();
        let stored = store.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
        let object = groundstate_blobs::sealed::unseal(&stored).unwrap().unwrap();
        let bare = String::from_utf8(object).unwrap().replacen("\"format\": 2", "\"format\": 1", 1);
        store.put(&key, bare.into(), &PutOptions::default()).await.unwrap();
        assert_eq!(tokens.find(&info.id).await.unwrap().unwrap().info, info);
        tokens.revoke(info.id.as_str(), "x").await.unwrap();
        let stored = store.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
        assert!(groundstate_blobs::sealed::unseal(&stored).unwrap().is_some());
    }

    #[tokio::test]
    async fn by_its_id_a_token_is_revoked_while_another_is_damaged() {
        let Setup { store, tokens, .. } = setup();
        let (_, good) = tokens.create(new("good")).await.unwrap();
        let (_, bad) = tokens.create(new("bad")).await.unwrap();
        let key = Key::parse(&format!("auth/tokens/{}.json", bad.id)).unwrap();
        store.put(&key, "{}".into(), &PutOptions::default()).await.unwrap();
        assert!(matches!(tokens.revoke("good", "x").await, Err(TokenError::Damaged { .. })));
        assert!(!tokens.revoke(good.id.as_str(), "x").await.unwrap().was_revoked);
    }

    #[tokio::test]
    async fn a_name_that_two_active_tokens_have_revokes_neither() {
        let Setup { tokens, .. } = setup();
        let other = setup();
        let (_, first) = tokens.create(new("ci")).await.unwrap();
        // As two processes at the same time do: none has seen the token of the other.
        let (_, second) = other.tokens.create(new("ci")).await.unwrap();
        let key = Key::parse(&format!("auth/tokens/{}.json", second.id)).unwrap();
        let blob = other.store.get(&key, &GetOptions::default()).await.unwrap().unwrap();
        tokens.store.put(&key, blob.bytes, &PutOptions::default()).await.unwrap();
        let error = tokens.revoke("ci", "x").await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(first.id.as_str()) && text.contains(second.id.as_str()), "{text}");
        tokens.revoke(second.id.as_str(), "x").await.unwrap();
        assert_eq!(tokens.revoke("ci", "x").await.unwrap().info.id, first.id);
    }

    #[test]
    fn names_that_would_be_mistaken_are_refused() {
        for name in ["", "-a", "a b", "a/b", "a\nb", "ü", "0123456789abcdef", &"a".repeat(101)] {
            assert!(TokenName::parse(name).is_err(), "{name}");
        }
        assert!(TokenName::parse("ana@example.com").is_ok());
        assert!(super::name_or_id("0123456789abcdef").is_ok() && super::name_or_id("a/b").is_err());
    }
}
