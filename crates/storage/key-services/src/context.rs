//! What a program hands in.

use std::fmt;
use std::sync::Arc;

use groundstate_common::{Clock, Entropy, IdSource, Sleeper};

/// Time and randomness, which programs hand in.
#[derive(Clone)]
pub struct KeyContext {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Waits between attempts.
    pub sleeper: Arc<dyn Sleeper>,
    /// Makes names of sessions.
    pub ids: Arc<dyn IdSource>,
    /// Makes keys.
    pub entropy: Arc<dyn Entropy>,
}

impl KeyContext {
    /// All four.
    pub fn new(
        clock: Arc<dyn Clock>,
        sleeper: Arc<dyn Sleeper>,
        ids: Arc<dyn IdSource>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self { clock, sleeper, ids, entropy }
    }

    #[cfg(feature = "aws")]
    pub(crate) fn of_blobs(&self) -> groundstate_blobs::Context {
        let Self { clock, sleeper, ids, .. } = self;
        groundstate_blobs::Context::new(Arc::clone(clock), Arc::clone(sleeper), Arc::clone(ids))
    }
}

impl fmt::Debug for KeyContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyContext").finish_non_exhaustive()
    }
}
