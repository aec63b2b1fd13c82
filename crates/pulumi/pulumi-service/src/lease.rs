//! Leases: their tokens, which every request of an update is checked with, and their renewal.

use std::fmt;
use std::time::Duration;

use groundstate_blobs::{Precondition, PutOptions};
use groundstate_common::{Timestamp, hex};
use groundstate_versioned::{Ending, Head, Lock, Step};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind, Result};
use crate::live::SeenLease;
use crate::op::Op;
use crate::record::{Holder, PreviewRecord, Running};
use crate::stack::holder;
use crate::traced;
use crate::update::Update;

/// The shortest and the longest lease that a client may ask for.
const LEASES: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(600));

/// The secret by which the client of an update says who it is. `Debug` does not show it.
pub struct LeaseToken(Zeroizing<String>);

impl LeaseToken {
    /// A token that a client sends.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Its text, to be sent to the client.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn digest(&self) -> String {
        hex(&Sha256::digest(self.0.as_bytes()))
    }

    pub(crate) fn is(&self, digest: &str) -> bool {
        self.digest().as_bytes().ct_eq(digest.as_bytes()).into()
    }
}

impl fmt::Debug for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeaseToken(…)")
    }
}

/// A lease on a stack, or a preview, which has none.
#[derive(Debug)]
#[non_exhaustive]
pub struct Lease {
    /// What the client has to send from now on.
    pub token: LeaseToken,
    /// When it is over.
    pub expires: Timestamp,
    /// The number of the version that the update will make; for a preview that of the present one.
    pub version: u64,
    /// The version of the journal that the client may send; none if it has to send checkpoints.
    pub journal: Option<u32>,
}

/// What a client says when it starts an update.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StartOptions {
    /// The newest version of journals that the client speaks.
    pub journal: Option<u32>,
    /// The version of the engine, such as `v3.259.0`.
    pub engine: String,
}

impl StartOptions {
    /// Says which journals the client speaks, and of which version its engine is.
    pub fn new(journal: Option<u32>, engine: impl Into<String>) -> Self {
        Self { journal, engine: engine.into() }
    }
}

/// An update that runs, and the lock that says so.
pub(crate) struct Leased {
    pub(crate) running: Running,
    pub(crate) lock: Lock,
}

impl Update {
    /// The update as it runs, if the token is that of its lease.
    ///
    /// # Errors
    ///
    /// `LeaseLost` for another token, an update that has ended, and a lease that is over.
    pub(crate) async fn leased(&self, op: Op, token: &LeaseToken) -> Result<Leased> {
        let head = self.stack.head(op).await?;
        let leased = self.told(op, &head, self.leased_by(op, &head, token)).await;
        self.remember(&leased);
        leased
    }

    /// Keeps what the store said of the lease for [`admit`](Self::admit).
    fn remember(&self, leased: &Result<Leased>) {
        let live = self.stack.stacks.live();
        match leased {
            Ok(Leased { running, lock }) => {
                live.keep_lease(&self.id, SeenLease::of(running, lock.expires));
                live.keep(&self.id, &self.stack);
            }
            Err(error) if error.kind() == ErrorKind::LeaseLost => live.forget(&self.id),
            Err(_) => {}
        }
    }

    /// Whether something of the update may be read and stored: the token is that of its lease, as far as this process knows. Gives the update; none
    /// for a preview. What is acknowledged has to be [leased](Self::leased) after it is stored, since another client may have ended the
    /// update meanwhile.
    ///
    /// # Errors
    ///
    /// `LeaseLost`, and those of the store.
    pub(crate) async fn admit(&self, op: Op, token: &LeaseToken) -> Result<Option<Running>> {
        let live = self.stack.stacks.live();
        if let Some(seen) = live.lease(&self.id, token, self.stack.stacks.now()) {
            return Ok(seen.running);
        }
        let head = self.stack.head(op).await?;
        if head.lock_of(&self.id).is_none()
            && let Some((preview, _)) = self.get::<PreviewRecord>(op, "preview").await?
        {
            self.check_preview(op, &preview, token)?;
            live.keep_lease(&self.id, SeenLease::of_preview(&preview.token, preview.expires));
            live.keep(&self.id, &self.stack);
            return Ok(None);
        }
        let leased = self.told(op, &head, self.leased_by(op, &head, token)).await;
        self.remember(&leased);
        leased.map(|leased| Some(leased.running))
    }

    /// A lease that is lost, with what the version says of the end of the update: another user, or time.
    pub(crate) async fn told(&self, op: Op, head: &Head, leased: Result<Leased>) -> Result<Leased> {
        let is_over = head.ended(&self.id).is_some_and(|ended| ended.how != Ending::Released);
        match leased {
            Err(error) if is_over && error.kind() == ErrorKind::LeaseLost => {
                let reason = self.made_version(op).await?.and_then(|note| note.reason);
                Err(match reason {
                    Some(reason) => self.stack.error(ErrorKind::LeaseLost, op).because(reason),
                    None => error,
                })
            }
            leased => leased,
        }
    }

    pub(crate) fn leased_by(&self, op: Op, head: &Head, token: &LeaseToken) -> Result<Leased> {
        let lost = |why: String| self.stack.error(ErrorKind::LeaseLost, op).because(why);
        let Some(lock) = head.lock_of(&self.id) else { return Err(lost(self.how_it_ended(head))) };
        let Some(Holder::Update(running)) = holder(lock) else { return Err(lost(self.how_it_ended(head))) };
        if !token.is(&running.token) {
            return Err(lost("the token is not that of the lease".to_owned()));
        }
        if let Some(by) = &running.cancelled {
            return Err(lost(format!("{by} cancelled the update")));
        }
        if !lock.is_in_force(head.time()) {
            return Err(lost("the lease has expired".to_owned()));
        }
        Ok(Leased { running, lock: lock.clone() })
    }

    fn how_it_ended(&self, head: &Head) -> String {
        match head.ended(&self.id).map(|ended| &ended.how) {
            Some(Ending::Released) => "the update has ended".to_owned(),
            Some(Ending::Broken { by, .. }) => format!("{by} cancelled the update"),
            Some(_) => "the lease has expired, and the update was ended".to_owned(),
            None => "the update does not run".to_owned(),
        }
    }

    pub(crate) fn check_preview(&self, op: Op, preview: &PreviewRecord, token: &LeaseToken) -> Result<()> {
        let why = match preview {
            preview if !token.is(&preview.token) => "the token is not that of the preview",
            PreviewRecord { result: Some(_), .. } => "the preview has ended",
            preview if preview.expires <= self.stack.stacks.now() => "the preview has expired",
            _ => return Ok(()),
        };
        Err(self.stack.error(ErrorKind::LeaseLost, op).because(why))
    }

    /// Renews the lease, and gives when it is over now. The token stays.
    ///
    /// # Errors
    ///
    /// `LeaseLost`, and those of the store.
    pub async fn renew(&self, token: &LeaseToken, duration: Option<Duration>) -> Result<Timestamp> {
        Box::pin(traced::on_update(Op::Renew, self, self.renewing(token, duration))).await
    }

    async fn renewing(&self, token: &LeaseToken, duration: Option<Duration>) -> Result<Timestamp> {
        const OP: Op = Op::Renew;
        let lease = duration.unwrap_or(self.stack.stacks.options().lease).clamp(LEASES.0, LEASES.1);
        let expires = self.stack.stacks.now().checked_add(lease).unwrap_or(Timestamp::MAX);
        let renew = |preview: &mut PreviewRecord| {
            self.check_preview(OP, preview, token)?;
            preview.expires = expires;
            Ok(())
        };
        if self.change_preview(OP, renew).await? {
            let lease = SeenLease::of_preview(&token.digest(), expires);
            self.stack.stacks.live().keep_lease(&self.id, lease);
            return Ok(expires);
        }
        let decide = |head: &Head| {
            self.leased_by(OP, head, token)?;
            Ok::<_, Error>(Step::renew(Some(lease)))
        };
        let stepped = self.stack.versions_document().step(decide).await;
        let head = stepped.map_err(|error| self.stack.failed(OP, error))??.head;
        self.remember(&self.leased_by(OP, &head, token));
        self.renew_in_bucket(OP, token).await?;
        Ok(head.lock().and_then(|lock| lock.expires).unwrap_or(expires))
    }

    /// Changes what is kept of a preview; tells whether the update is one.
    pub(crate) async fn change_preview(
        &self,
        op: Op,
        change: impl Fn(&mut PreviewRecord) -> Result<()> + Send,
    ) -> Result<bool> {
        /// A renewal may come between.
        const ATTEMPTS: usize = 4;
        for _ in 0..ATTEMPTS {
            let Some((mut preview, version)) = self.get::<PreviewRecord>(op, "preview").await? else {
                return Ok(false);
            };
            change(&mut preview)?;
            let options = PutOptions::expecting(Precondition::Version(version));
            match self.put(op, "preview", &preview, &options).await {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                changed => return changed.map(|()| true),
            }
        }
        Err(self.stack.error(ErrorKind::Unavailable, op).because("other requests change it all the time"))
    }
}
