//! What stores that talk to services need from the program.

use std::sync::Arc;

use groundstate_common::{Clock, IdSource, Sleeper};

/// Time and randomness, handed in: the clock ends credentials, the sleeper waits between attempts, and the source of ids
/// spreads the waits of many clients.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Context {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Waits.
    pub sleeper: Arc<dyn Sleeper>,
    /// Gives random numbers.
    pub ids: Arc<dyn IdSource>,
}

impl Context {
    /// All three.
    pub fn new(clock: Arc<dyn Clock>, sleeper: Arc<dyn Sleeper>, ids: Arc<dyn IdSource>) -> Self {
        Self { clock, sleeper, ids }
    }
}
