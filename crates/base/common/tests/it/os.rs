//! The operating system's clock and generator.

use std::collections::BTreeSet;

use groundstate_common::{Clock, IdSource, OsIds, SystemClock, Timestamp};

#[test]
fn the_machine_clock_shows_a_time_after_this_was_written() {
    let now = SystemClock.now();
    assert!(now > Timestamp::parse("2025-01-01T00:00:00Z").unwrap(), "{now}");
    assert!(SystemClock.now().seconds() >= now.seconds());
}

#[test]
fn ids_of_the_operating_system_do_not_repeat() {
    let ids: BTreeSet<String> = (0..1000).map(|_| OsIds.uuid().unwrap()).collect();
    assert_eq!(ids.len(), 1000);
    let mut bytes = [0; 256];
    OsIds.fill(&mut bytes).unwrap();
    assert!(bytes.iter().any(|&byte| byte != 0));
}
