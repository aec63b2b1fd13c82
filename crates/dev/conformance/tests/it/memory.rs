//! The reference passes.

use std::time::Duration;

use groundstate_conformance::MemoryHarness;

mod plain {
    groundstate_conformance::suite!(super::MemoryHarness::new());
}

mod with_leases {
    groundstate_conformance::suite!(super::MemoryHarness::with_lease(super::Duration::from_secs(60)));
}
