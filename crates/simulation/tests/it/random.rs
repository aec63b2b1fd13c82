//! Cases by chance.

use groundstate_simulation::{check, simulate};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_all_agree(tape in proptest::collection::vec(any::<u8>(), 0..500)) {
        if let Err(failure) = check(&tape) {
            prop_assert!(false, "{}\n{}\ntape: {tape:?}", failure.what, failure.log.join("\n"));
        }
    }
}

#[test]
fn cases_of_a_seed_pass() {
    let campaign = simulate(7, 0..300);
    if let Some((number, tape, failure)) = campaign.failure {
        panic!("case {number}: {}\n{}\ntape: {tape:?}", failure.what, failure.log.join("\n"));
    }
    assert!(campaign.stats.killed > 10 && campaign.stats.entries > 1000, "{:?}", campaign.stats);
}
