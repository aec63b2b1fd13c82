//! Where resources stand in a text.

use std::fs;
use std::path::Path;

use groundstate_pulumi_deployment::Offsets;

use crate::shared::files;
use crate::support::{FIXTURES, read};

#[test]
fn every_resource_of_every_envelope_is_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURES);
    for path in files(&folder, &|name| name.ends_with(".json")) {
        if path.components().any(|part| part.as_os_str() == "reject") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let offsets = Offsets::find(text.as_bytes()).unwrap();
        let snapshot = read(&text).snapshot.unwrap_or_default();
        // Version 1 knows no pending operations, so those of a file that has them are not believed.
        let believed = !path.ends_with("v1-newer-members.json");
        assert_eq!(offsets.resources.len(), snapshot.resources.len(), "{}", path.display());
        assert!(!believed || offsets.pending_operations.len() == snapshot.pending_operations.len());
        assert!(
            offsets.resources.iter().all(|offset| text[*offset..].starts_with('{')),
            "{}",
            path.display()
        );
        let places = offsets.places(text.as_bytes(), &offsets.resources);
        for (index, place) in places.iter().enumerate() {
            assert!(place.path.ends_with(&format!("resources[{index}]")), "{place}");
        }
    }
}

#[test]
fn what_is_no_json_is_refused_and_other_documents_have_none() {
    assert!(Offsets::find(b"{").is_err());
    for text in ["[]", "{}", r#"{"resources":[{}]}"#, r#"{"deployment":{"resources":{}}}"#] {
        assert_eq!(Offsets::find(text.as_bytes()), Ok(Offsets::default()), "{text}");
    }
}
