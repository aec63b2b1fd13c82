//! Our readers on invented states: nothing is lost, and the ways of reading agree.

use groundstate_bench::{Format, KNOWN_OUTPUT, KNOWN_RESOURCE, Recipe};
use groundstate_statefile::{
    DecodeOptions, Dialect, Document, EncodeOptions, decode, encode, leading_outputs, list,
};

use super::state;

#[test]
fn states_of_format_4_are_written_again_byte_for_byte() {
    for (format, dialect) in [(Format::Terraform, Dialect::Terraform), (Format::OpenTofu, Dialect::OpenTofu)]
    {
        for instances in [0, 1, 2000] {
            let text = state(Recipe::new(instances), format);
            let file = decode(&text, &DecodeOptions::default()).unwrap();
            assert_eq!(file.dialect, dialect);
            let again = encode(&file, &EncodeOptions::default()).unwrap();
            assert!(again == text, "{format:?} with {instances} instances");
        }
    }
}

#[test]
fn lists_agree_with_the_index_and_the_number_asked_for() {
    for format in [Format::Terraform, Format::OpenTofu] {
        let text = state(Recipe::new(2000), format);
        let listed: Vec<String> =
            list(&text[..], false).unwrap().iter().map(|listed| listed.to_string()).collect();
        assert_eq!(listed.len(), 2000);
        let document = Document::open(text).unwrap();
        let indexed: Vec<String> = document.instances().map(|address| address.to_string()).collect();
        assert_eq!(listed, indexed);
    }
}

#[test]
fn what_measurements_ask_for_is_there() {
    let text = state(Recipe::new(1), Format::Terraform);
    assert_eq!(leading_outputs(&text[..], &text, Some(KNOWN_OUTPUT)).unwrap().len(), 1);
    let document = Document::open(text).unwrap();
    assert!(document.resource(&KNOWN_RESOURCE.parse().unwrap()).unwrap().is_some());
}

#[test]
fn states_of_format_3_are_upgraded_whole() {
    let text = state(Recipe::new(1000), Format::V3);
    let file = decode(&text, &DecodeOptions::default()).unwrap();
    let upgraded = encode(&file, &EncodeOptions::default().allow_loss(true)).unwrap();
    assert_eq!(list(&upgraded[..], false).unwrap().iter().count(), 1000);
}
