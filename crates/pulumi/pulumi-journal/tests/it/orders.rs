//! The order in which entries arrive does not matter, and neither does how often anybody looks.

use groundstate_pulumi_journal::Entry;
use proptest::prelude::*;

use crate::notation::{entry, on};

/// Bases with journals in which every kind of reference is there.
const JOURNALS: [(&str, &str); 4] = [
    (
        "P A B(A) C(B)@P D~d",
        "2 1 begin\n3 1 success removeOld0 P'\n4 2 begin +creating A'\n5 2 success deleteOld1 A'\n\
         6 3 begin +updating B'(A)\n7 3 success removeOld2 B'(A)\n8 4 outputs removeNew3 B''(A)\n\
         9 5 begin +deleting A~d\n10 5 success removeOld1\n11 6 begin +deleting D~d\n12 6 success removeOld4\n\
         13 7 begin +creating E\n14 8 begin +creating F\n15 8 failure\n16 9 outputs removeOld3 C'(B)@P",
    ),
    (
        "A B(A) C(B) A~d +creating Z",
        "2 1 begin\n3 1 refresh-success isRefresh removeOld0\n4 2 begin\n5 2 refresh-success isRefresh removeOld1 B'(A)\n\
         6 0 rebuilt-base-state\n7 3 begin +deleting C(B)\n8 3 success pendingReplacementOld1\n\
         9 4 begin +creating C'(B)\n10 4 success removeOld1 C'(B)\n11 5 begin\n12 5 success removeNew4 C''(B)\n\
         13 6 begin +creating N\n14 6 success N\n15 0 rebuilt-base-state",
    ),
    (
        "A",
        "2 0 write [D A(D) A'~d]\n3 1 begin\n4 1 success removeOld0 D'\n5 2 begin +creating X(D)\n6 2 success X(D)\n\
         7 3 begin +updating X'(D)\n8 3 refresh-success removeNew2 X'(D)\n9 4 begin +creating X''\n\
         10 4 success deleteNew2 X''\n11 5 begin +deleting X'(D)~d\n12 5 success removeNew2\n13 6 begin\n14 6 success removeOld2",
    ),
    (
        "A B C D",
        "2 1 begin\n3 1 success removeOld0\n4 2 begin\n5 2 success removeOld1\n6 3 begin\n7 3 success removeOld2\n8 4 begin\n9 4 success removeOld3",
    ),
];

fn entries(text: &str) -> Vec<Entry> {
    text.lines().map(entry).collect()
}

#[test]
fn every_two_entries_may_change_places() {
    for (base, text) in JOURNALS {
        let entries = entries(text);
        let expected = on(base).take(text).to_string();
        assert!(!expected.starts_with("error"), "{expected}");
        for a in 0..entries.len() {
            for b in a..entries.len() {
                let mut shuffled = entries.clone();
                shuffled.swap(a, b);
                let mut journal = on(base);
                for entry in shuffled {
                    journal.0.apply(entry).unwrap();
                    // Looking in between makes the replayer work out what is there so far.
                    drop(journal.0.snapshot(Default::default()));
                }
                assert_eq!(journal.0.snapshot(Default::default()).unwrap(), journal.replayed().unwrap());
                assert_eq!(journal.to_string(), expected, "{a} and {b}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_subset_in_any_order_gives_what_it_gives_in_order(
        at in 0..JOURNALS.len(),
        keep in any::<u32>(),
        looks in any::<u32>(),
        order in Just((0..16_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let (base, text) = JOURNALS[at];
        let all = entries(text);
        let kept = |index: &usize| keep & (1 << index) != 0;
        let mut sorted = on(base);
        for index in (0..all.len()).filter(kept) {
            sorted.0.apply(all[index].clone()).unwrap();
        }
        let mut arrived = on(base);
        for index in order.into_iter().filter(|index| *index < all.len()).filter(kept) {
            arrived.0.apply(all[index].clone()).unwrap();
            if looks & (1 << index) != 0 {
                drop(arrived.0.snapshot(Default::default()));
            }
        }
        prop_assert_eq!(arrived.0.snapshot(Default::default()), sorted.replayed());
    }
}
