//! Findings and whole states through serde and back.

use std::fs;
use std::path::Path;

use groundstate_state_edit::{Finding, Rule, VerifyOptions, verify};
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_states::State;

/// Every file of a folder of fixtures.
fn texts(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures").join(folder);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn every_finding_is_the_same_after_it() {
    let mut met = 0;
    for text in texts("check") {
        for finding in verify(&text, &VerifyOptions::default()).findings {
            let written = serde_json::to_string(&finding).unwrap();
            assert_eq!(serde_json::from_str::<Finding>(&written).unwrap(), finding, "{written}");
            met += 1;
        }
    }
    assert!(met > Rule::ALL.len(), "{met}");
}

#[test]
fn codes_are_read_back_and_others_refused() {
    for rule in Rule::ALL {
        assert_eq!(Rule::from_id(&rule.id()), Some(*rule));
    }
    for text in [r#""GS9999""#, r#""GS1""#, "1"] {
        serde_json::from_str::<Rule>(text).unwrap_err();
    }
}

#[test]
fn states_of_real_shapes_are_the_same_after_it() {
    let mut met = 0;
    for text in ["states", "upgrade", "check", "opentofu"].map(texts).into_iter().flatten() {
        let Ok(file) = decode(&text, &DecodeOptions::default()) else { continue };
        // What no address can hold is refused and not lost.
        let Ok(written) = serde_json::to_string(&file.state) else { continue };
        assert_eq!(serde_json::from_str::<State>(&written).unwrap(), file.state);
        met += 1;
    }
    assert!(met > 50, "{met}");
}
