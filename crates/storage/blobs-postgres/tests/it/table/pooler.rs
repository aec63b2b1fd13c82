//! The contract by way of PgBouncer, where each statement may run in another session of the server.

use groundstate_testkit::{PgBouncer, server_of_peer};

use crate::harness::Harness;

fn harness() -> Option<Harness> {
    let pooler = PgBouncer::start(&server_of_peer("postgres", "GROUNDSTATE_PG")?, 3)?;
    Some(super::harness_at(pooler.url().to_owned(), pooler))
}

mod suite {
    groundstate_conformance::blob_suite!(optional super::harness());
}
