//! How often one address may fail to say who it is, in bounded memory.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How many failures an address has at once.
const BURST: u32 = 10;
/// How long until it has one more again.
const REST: Duration = Duration::from_secs(6);
/// How many addresses are remembered. Further ones are let through: no client is refused for what others do.
const MOST: usize = 1 << 14;

/// Counts failures by address; the addresses of one network of IPv6 with 64 bits are one.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<HashMap<IpAddr, Instant>>);

impl Failures {
    /// How long the address has to wait, if it has failed too often.
    pub(crate) fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let owed = *self.owed().get(&network(address))?;
        let allowed = now + REST * (BURST - 1);
        owed.checked_duration_since(allowed).filter(|wait| !wait.is_zero())
    }

    /// Remembers a failure.
    pub(crate) fn count(&self, address: IpAddr, now: Instant) {
        let mut owed = self.owed();
        let network = network(address);
        if owed.len() >= MOST && !owed.contains_key(&network) {
            owed.retain(|_, until| *until > now);
            if owed.len() >= MOST {
                return;
            }
        }
        // Each failure is paid for by a rest; what is owed is when all of it is paid.
        let until = owed.entry(network).or_insert(now);
        *until = (*until).max(now) + REST;
    }

    fn owed(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, Instant>> {
        // The map is plain data, so a panic elsewhere cannot have left it half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The addresses that count as one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{BURST, Failures, MOST};

    #[test]
    fn an_address_that_fails_too_often_waits_and_others_do_not() {
        let (failures, start) = (Failures::default(), Instant::now());
        let address: IpAddr = "2001:db8::1".parse().unwrap();
        for _ in 0..BURST {
            assert_eq!(failures.wait(address, start), None);
            failures.count(address, start);
        }
        assert_eq!(failures.wait(address, start), Some(Duration::from_secs(6)));
        assert_eq!(failures.wait("2001:db8::ffff:2".parse().unwrap(), start), Some(Duration::from_secs(6)));
        assert_eq!(failures.wait("2001:db8:0:1::1".parse().unwrap(), start), None);
        let later = start + Duration::from_secs(6);
        assert_eq!(failures.wait(address, later), None);
        failures.count(address, later);
        assert_eq!(failures.wait(address, later), Some(Duration::from_secs(6)));
        let rested = start + Duration::from_secs(600);
        (0..BURST - 1).for_each(|_| failures.count(address, rested));
        assert_eq!(failures.wait(address, rested), None);
    }

    #[test]
    fn the_memory_is_bounded_and_addresses_that_rested_make_room() {
        let (failures, start) = (Failures::default(), Instant::now());
        let address = |number: usize| IpAddr::from(Ipv4Addr::from(u32::try_from(number).unwrap()));
        (0..2 * MOST).for_each(|number| failures.count(address(number), start));
        assert_eq!(failures.0.lock().unwrap().len(), MOST);
        failures.count(address(2 * MOST), start + Duration::from_secs(7));
        assert_eq!(failures.0.lock().unwrap().len(), 1);
    }
}
