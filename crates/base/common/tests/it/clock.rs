//! Fixed clocks and forwarding.

use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{Clock, FixedClock, Timestamp};

#[test]
fn a_fixed_clock_stands_still_until_it_is_moved() {
    let clock = FixedClock::new(Timestamp::UNIX_EPOCH);
    assert_eq!((clock.now(), clock.now()), (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH));
    clock.advance(Duration::from_millis(1500));
    assert_eq!(clock.now().to_string(), "1970-01-01T00:00:01.5Z");
    clock.set(Timestamp::MIN);
    assert_eq!(clock.now(), Timestamp::MIN);
}

#[test]
fn a_fixed_clock_stops_at_the_end_of_time() {
    let clock = FixedClock::new(Timestamp::UNIX_EPOCH);
    clock.advance(Duration::MAX);
    assert_eq!(clock.now(), Timestamp::MAX);
}

#[test]
fn shared_and_boxed_clocks_show_the_time_of_the_one_inside() {
    let shared = Arc::new(FixedClock::new(Timestamp::MAX));
    let boxed: Box<dyn Clock> = Box::new(Arc::clone(&shared));
    let by_reference: &dyn Clock = &&boxed;
    shared.set(Timestamp::MIN);
    assert_eq!(by_reference.now(), Timestamp::MIN);
}
