//! What a store can do beyond reading and writing.

use std::fmt;

/// Whom a store's lock keeps out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Exclusion {
    /// No one: there is no lock.
    #[default]
    None,
    /// No one: `lock` only checks that no other client holds a lock of the place, and writes and `unlock` check again.
    Look,
    /// Other users of the same process.
    Process,
    /// Other processes of the same host.
    Host,
    /// Everybody who uses the same place, from anywhere.
    Global,
}

/// What a store can do. What it cannot is answered with [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported),
/// never with a quiet success.
///
/// ```
/// use groundstate_statemgr::{Capabilities, Exclusion};
///
/// let mine = Capabilities::none().locking(Exclusion::Global).conditional_write().delete();
/// let needs = Capabilities::none().locking(Exclusion::Process).fencing();
/// assert_eq!(mine.missing(&needs), ["fencing"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Capabilities {
    /// `lock` and `unlock` work.
    pub locking: bool,
    /// Whom the lock keeps out.
    pub exclusion: Exclusion,
    /// `write` and `delete` honour `Expect::Absent` and `Expect::Version`.
    pub conditional_write: bool,
    /// Grants carry a token, and writes with an outdated one are refused.
    pub fencing: bool,
    /// Grants expire, and `renew` prolongs them.
    pub lease: bool,
    /// `force_unlock` works.
    pub force_unlock: bool,
    /// `lock_holder` works, and refusals of a lock say who holds it.
    pub holder: bool,
    /// `delete` works.
    pub delete: bool,
    /// The store checks serials or lineages itself, and `WriteOptions::force` tells it not to.
    pub force_write: bool,
}

impl Capabilities {
    /// Reading and unconditional writing, nothing else.
    pub const fn none() -> Self {
        Self {
            locking: false,
            exclusion: Exclusion::None,
            conditional_write: false,
            fencing: false,
            lease: false,
            force_unlock: false,
            holder: false,
            delete: false,
            force_write: false,
        }
    }

    /// Adds locks that keep out whom `exclusion` says.
    #[must_use]
    pub const fn locking(mut self, exclusion: Exclusion) -> Self {
        self.locking = !matches!(exclusion, Exclusion::None);
        self.exclusion = exclusion;
        self
    }

    /// Adds conditional writes and deletions.
    #[must_use]
    pub const fn conditional_write(mut self) -> Self {
        self.conditional_write = true;
        self
    }

    /// Adds fencing tokens.
    #[must_use]
    pub const fn fencing(mut self) -> Self {
        self.fencing = true;
        self
    }

    /// Adds leases.
    #[must_use]
    pub const fn lease(mut self) -> Self {
        self.lease = true;
        self
    }

    /// Adds release by force.
    #[must_use]
    pub const fn force_unlock(mut self) -> Self {
        self.force_unlock = true;
        self
    }

    /// Adds knowledge of the holder.
    #[must_use]
    pub const fn holder(mut self) -> Self {
        self.holder = true;
        self
    }

    /// Adds deletion.
    #[must_use]
    pub const fn delete(mut self) -> Self {
        self.delete = true;
        self
    }

    /// Adds writes that override the store's own checks.
    #[must_use]
    pub const fn force_write(mut self) -> Self {
        self.force_write = true;
        self
    }

    /// The names of what `needs` has and this has not, in the order of the fields.
    pub fn missing(&self, needs: &Self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        for ((name, have), (_, need)) in self.flags().into_iter().zip(needs.flags()) {
            if need && !have {
                missing.push(name);
            }
        }
        if needs.exclusion > self.exclusion && self.locking {
            missing.push("exclusion");
        }
        missing
    }

    fn flags(&self) -> [(&'static str, bool); 8] {
        // Taken apart completely, so that a new field cannot be forgotten here.
        let Self {
            locking,
            exclusion: _,
            conditional_write,
            fencing,
            lease,
            force_unlock,
            holder,
            delete,
            force_write,
        } = *self;
        [
            ("locking", locking),
            ("conditional_write", conditional_write),
            ("fencing", fencing),
            ("lease", lease),
            ("force_unlock", force_unlock),
            ("holder", holder),
            ("delete", delete),
            ("force_write", force_write),
        ]
    }
}

impl fmt::Display for Capabilities {
    /// The names of what is there, separated by commas, and whom locks keep out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.flags().into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        match self.exclusion {
            Exclusion::None => f.write_str(&names),
            Exclusion::Look => {
                write!(f, "{names} (locks keep out no one, but locks of others are respected)")
            }
            Exclusion::Process => write!(f, "{names} (locks keep out this process)"),
            Exclusion::Host => write!(f, "{names} (locks keep out this host)"),
            Exclusion::Global => write!(f, "{names} (a lock keeps out every other client)"),
        }
    }
}
