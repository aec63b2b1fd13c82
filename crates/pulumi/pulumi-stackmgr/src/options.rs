//! What managers need to know besides the base.

use std::fmt;
use std::sync::Arc;

use groundstate_common::Clock;
use groundstate_pulumi_secrets::Encrypter;
use groundstate_pulumi_snapshot::{Manifest, Time};

/// Where a manager tells what it did on its own.
pub trait Events: fmt::Debug + Send + Sync {
    /// Something went wrong, and was or was not set right.
    fn error(&self, message: &str);
}

/// How a manager writes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// What the time is.
    pub clock: Arc<dyn Clock>,
    /// The version of the program, with a `v` in front.
    pub version: Arc<str>,
    /// The command line, for the record in a snapshot that is broken.
    pub command: Arc<str>,
    /// Whether a broken snapshot is an error. It is written and marked in any case.
    pub check_integrity: bool,
    /// Writes nothing until the end, as `PULUMI_SKIP_CHECKPOINTS` asks for. A crash loses everything.
    pub skip_checkpoints: bool,
    /// Where repairs are told. Without such a place, nothing is repaired.
    pub events: Option<Arc<dyn Events>>,
    /// Encrypts the secrets in entries; without it they must be encrypted already.
    pub encrypter: Option<Arc<dyn Encrypter>>,
    /// How many entries are stored at once at most.
    pub batch: usize,
}

impl Options {
    /// The usual: integrity is checked, everything is written at once, nothing is repaired.
    pub fn new(clock: Arc<dyn Clock>, version: &str, command: &str) -> Self {
        Self {
            clock,
            version: version.into(),
            command: command.into(),
            check_integrity: true,
            skip_checkpoints: false,
            events: None,
            encrypter: None,
            batch: 100,
        }
    }

    /// Sets whether a broken snapshot is an error.
    #[must_use]
    pub fn check_integrity(mut self, yes: bool) -> Self {
        self.check_integrity = yes;
        self
    }

    /// Sets whether nothing is written until the end.
    #[must_use]
    pub fn skip_checkpoints(mut self, yes: bool) -> Self {
        self.skip_checkpoints = yes;
        self
    }

    /// Lets broken snapshots be repaired, and says where that is told.
    #[must_use]
    pub fn repair(mut self, events: Arc<dyn Events>) -> Self {
        self.events = Some(events);
        self
    }

    /// Sets what encrypts secrets.
    #[must_use]
    pub fn encrypter(mut self, encrypter: Arc<dyn Encrypter>) -> Self {
        self.encrypter = Some(encrypter);
        self
    }

    /// Sets how many entries are stored at once at most.
    #[must_use]
    pub fn batch(mut self, entries: usize) -> Self {
        self.batch = entries.max(1);
        self
    }

    /// The manifest of what is written now.
    pub(crate) fn manifest(&self) -> Manifest {
        Manifest::new(Time::utc(self.clock.now()), Arc::clone(&self.version))
    }
}

/// Whether the value of `PULUMI_SKIP_CHECKPOINTS`, or another such variable, says yes.
///
/// ```
/// use groundstate_pulumi_stackmgr::says_yes;
///
/// assert!(says_yes("1") && says_yes("True"));
/// assert!(!says_yes("") && !says_yes("0") && !says_yes("yes"));
/// ```
pub fn says_yes(value: &str) -> bool {
    value == "1" || value.eq_ignore_ascii_case("true")
}
