//! Id sources and their texts.

use std::error::Error;
use std::sync::Arc;

use groundstate_common::{IdSource, IdSourceError, SequenceIds, uuid_text};
use proptest::prelude::*;

#[test]
fn sequence_ids_count_across_all_kinds_of_id() -> Result<(), Box<dyn Error>> {
    let ids = SequenceIds::starting_at(9);
    assert_eq!(ids.uuid()?, "00000000-0000-0000-0000-000000000009");
    assert_eq!(ids.number()?, 10);
    let mut wide = [0xff; 20];
    ids.fill(&mut wide)?;
    assert_eq!((wide[..19].iter().sum::<u8>(), wide[19]), (0, 11));
    let mut narrow = [0xff; 1];
    ids.fill(&mut narrow)?;
    assert_eq!(narrow, [12]);
    Ok(())
}

#[test]
fn sequence_ids_go_round_after_the_largest_number() -> Result<(), Box<dyn Error>> {
    let ids = SequenceIds::starting_at(u64::MAX);
    assert_eq!(ids.uuid()?, "00000000-0000-0000-ffff-ffffffffffff");
    assert_eq!(ids.uuid()?, "00000000-0000-0000-0000-000000000000");
    Ok(())
}

#[test]
fn shared_and_boxed_sources_draw_from_the_one_inside() -> Result<(), Box<dyn Error>> {
    let shared = Arc::new(SequenceIds::default());
    let boxed: Box<dyn IdSource> = Box::new(Arc::clone(&shared));
    let by_reference: &dyn IdSource = &&boxed;
    assert_eq!((shared.number()?, by_reference.number()?, shared.number()?), (1, 2, 3));
    Ok(())
}

/// A generator that never answers.
#[derive(Debug)]
struct Broken;

impl IdSource for Broken {
    fn fill(&self, _: &mut [u8]) -> Result<(), IdSourceError> {
        Err(IdSourceError::new("no entropy"))
    }
}

#[test]
fn a_generator_that_fails_gives_no_id_and_says_why() {
    for error in [Broken.uuid().unwrap_err(), Broken.number().unwrap_err()] {
        assert_eq!(
            error.to_string(),
            "the generator of random ids does not answer, so no new id can be made"
        );
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("no entropy"));
    }
}

proptest! {
    #[test]
    fn an_id_text_holds_every_bit_in_order(bytes: [u8; 16]) {
        let text = uuid_text(bytes);
        let parts: Vec<usize> = text.split('-').map(str::len).collect();
        prop_assert_eq!(parts, [8, 4, 4, 4, 12]);
        let digits = text.replace('-', "");
        let back: Vec<u8> =
            (0..16).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect();
        prop_assert_eq!(back, bytes);
        prop_assert_eq!(text.to_lowercase(), text);
    }
}
