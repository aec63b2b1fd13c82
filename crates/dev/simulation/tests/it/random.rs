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

/// A case that once failed: who is kept must not go on naming a provider that waits for its deletion.
#[test]
fn a_kept_resource_names_the_provider_there_is() {
    let tape = [
        (1, 29),
        (22, 118),
        (36, 1),
        (42, 250),
        (45, 92),
        (56, 1),
        (59, 1),
        (64, 238),
        (101, 91),
        (139, 2),
        (140, 1),
        (146, 1),
        (147, 1),
        (148, 223),
        (149, 233),
        (168, 243),
        (169, 236),
        (170, 241),
        (171, 228),
        (174, 232),
        (176, 239),
    ];
    let mut bytes = vec![0; 177];
    tape.into_iter().for_each(|(at, byte): (usize, u8)| bytes[at] = byte);
    assert!(check(&bytes).is_ok());
}
