//! New keys for objects that a replacement deposes.

use std::collections::BTreeSet;

use groundstate_states::DeposedKey;
use groundstate_states::addr::AbsResourceInstance;

/// Proposes keys of deposed objects. A proposal that is in use is asked for again, a bounded number of times.
pub trait DeposedKeys {
    /// The next proposal for an instance whose deposed objects have the keys in `used`.
    fn next(&mut self, addr: &AbsResourceInstance, used: &BTreeSet<DeposedKey>) -> DeposedKey;
}

/// Counts from 1 for each instance, so that the same input gives the same graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountedKeys;

/// Makes keys of numbers that the caller draws, as Terraform does with random ones.
#[derive(Debug)]
pub struct DrawnKeys<F>(pub F);

impl DeposedKeys for CountedKeys {
    fn next(&mut self, _addr: &AbsResourceInstance, used: &BTreeSet<DeposedKey>) -> DeposedKey {
        first_unused(1, used)
    }
}

impl<F: FnMut() -> u32> DeposedKeys for DrawnKeys<F> {
    fn next(&mut self, _addr: &AbsResourceInstance, used: &BTreeSet<DeposedKey>) -> DeposedKey {
        DeposedKey::generate(&mut self.0, |key| used.contains(key))
    }
}

/// A key that is not in use, proposed by `keys` if it comes up with one.
pub(crate) fn allocate(
    keys: &mut dyn DeposedKeys,
    addr: &AbsResourceInstance,
    used: &BTreeSet<DeposedKey>,
) -> DeposedKey {
    const TRIES: usize = 64;
    let proposals = (0..TRIES).map(|_| keys.next(addr, used));
    let fits = |key: &DeposedKey| key.is_canonical() && !used.contains(key);
    proposals.into_iter().find(fits).unwrap_or_else(|| first_unused(1, used))
}

/// The first key from `number` on that is not in use.
fn first_unused(number: u32, used: &BTreeSet<DeposedKey>) -> DeposedKey {
    DeposedKey::generate(|| number, |key| used.contains(key))
}
