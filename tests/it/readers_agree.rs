//! The three readers of state files say the same of every example.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_state_edit::{VerifyOptions, verify};
use groundstate_statefile::{DecodeOptions, Document, ReadError, ScanError, decode, list, outputs};

/// Every JSON file and state below a folder of this package.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "json" || end == "tfstate") {
            found.push(path);
        }
    }
}

#[test]
fn on_what_every_file_holds_and_whether_it_can_be_used() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &mut found);
    assert!(found.len() > 40, "{}", found.len());
    let mut listed = 0;
    for path in found {
        let text = fs::read(&path).unwrap();
        let name = path.display();
        let model = decode(&text, &DecodeOptions::default());
        let document = Document::open(text.clone());
        let listing = list(&text[..], false);
        let report = verify(&text, &VerifyOptions::default());
        assert_eq!(report.readable, model.is_ok(), "{name}");
        let Ok(file) = model else {
            assert!(document.is_err() && matches!(listing, Err(ScanError::Whole)), "{name}");
            // Of older formats a document only says that it is not for them.
            if report.version.is_none_or(|version| version > 3) {
                assert_eq!(verdict(&document.unwrap_err()), verdict(&model.unwrap_err()), "{name}");
            }
            continue;
        };
        if file.style.source_version < 4 {
            assert!(matches!(listing, Err(ScanError::Whole)), "{name}");
            continue;
        }
        let addresses: Vec<String> =
            file.state.resource_instances().map(|(address, _)| address.to_string()).collect();
        let document = document.unwrap();
        assert_eq!(
            document.instances().map(|address| address.to_string()).collect::<Vec<_>>(),
            addresses,
            "{name}"
        );
        let listing = listing.unwrap();
        assert_eq!(listing.iter().map(|item| item.to_string()).collect::<Vec<_>>(), addresses, "{name}");
        let values: Vec<_> = file
            .state
            .outputs()
            .iter()
            .map(|(name, output)| (name.to_string(), (**output).clone()))
            .collect();
        assert_eq!(outputs(&text[..], None).unwrap(), values, "{name}");
        listed += 1;
    }
    assert!(listed > 20, "{listed}");
}

/// The kind of an error and the codes of its problems.
fn verdict(error: &ReadError) -> (&'static str, Vec<String>) {
    let kind = match error {
        ReadError::NoState => "no state",
        ReadError::NotState(_) => "not a state",
        _ => "unusable",
    };
    (kind, error.problems().iter().map(|problem| problem.code.id()).collect())
}
