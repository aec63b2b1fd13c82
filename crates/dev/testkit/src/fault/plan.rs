//! The faults that are planned for a server, and what is left of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Fault, Kind};
use crate::http::Request;
use crate::pattern::fits_request;

/// The plan of a server.
pub(crate) struct Faults(Mutex<Plan>);

struct Plan {
    faults: Vec<Fault>,
    random: fastrand::Rng,
}

impl Default for Faults {
    fn default() -> Self {
        Self(Mutex::new(Plan { faults: Vec::new(), random: fastrand::Rng::with_seed(0) }))
    }
}

impl Faults {
    fn lock(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn plan(&self, fault: Fault) {
        self.lock().faults.push(fault);
    }

    pub(crate) fn clear(&self) {
        self.lock().faults.clear();
    }

    pub(crate) fn seed(&self, seed: u64) {
        self.lock().random = fastrand::Rng::with_seed(seed);
    }

    /// What happens to this request. Every fault that fits counts it, also when another one is carried out.
    pub(crate) fn next(&self, request: &Request) -> Option<Kind> {
        let path = request.path();
        let Plan { faults, random } = &mut *self.lock();
        let mut found = None;
        for fault in faults {
            if !fits_request(&fault.method, &fault.pattern, (&request.method, &path, request.raw_query())) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if fault.times > 0 && (fault.chance >= 1.0 || random.f64() < fault.chance) {
                fault.times -= 1;
                found = found.or_else(|| Some(fault.kind.clone()));
            }
        }
        found
    }
}
