//! A replayer that is wrong in one way is caught.

use groundstate_simulation::{Defect, catch};

#[test]
fn every_defect_is_caught() {
    let missed: Vec<Defect> =
        Defect::ALL.into_iter().filter(|defect| catch(*defect, 20_261_121, 3000).is_none()).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
