//! Whole states: what Pulumi writes is written again byte for byte.

use std::fs;
use std::path::Path;

use groundstate_pulumi_deployment::{DecodeOptions, EncodeOptions, decode, decode_map, encode};

use crate::shared::{files, fixtures};
use crate::support::FIXTURES;

#[track_caller]
fn same_bytes(path: &Path) {
    let text = fs::read(path).unwrap();
    let file = decode(&text, &DecodeOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut written = encode(&file, &EncodeOptions::default()).unwrap();
    let mut text = text;
    if file.style.source_version < 3 {
        // What is upgraded is canonical after one step.
        text = written;
        let again = decode(&text, &DecodeOptions::default()).unwrap();
        written = encode(&again, &EncodeOptions::default()).unwrap();
    }
    assert_eq!(String::from_utf8(written), String::from_utf8(text), "{}", path.display());
    for resource in file.snapshot.iter().flat_map(|snapshot| &snapshot.resources) {
        for properties in [&resource.inputs, &resource.outputs] {
            let Some(raw) = properties.as_raw() else { continue };
            decode_map(raw).unwrap_or_else(|error| panic!("{}: {}: {error}", path.display(), resource.urn));
        }
    }
}

#[test]
fn states_of_this_repository_are_written_again_byte_for_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURES).join("states");
    let paths = files(&folder, &|name| name.ends_with(".json"));
    assert!(paths.len() >= 3, "there are states in {}", folder.display());
    paths.iter().for_each(|path| same_bytes(path));
}

#[test]
fn states_written_by_real_releases_are_written_again_byte_for_byte() {
    let Some(folder) = fixtures() else { return };
    let mut count = 0;
    for dir in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let is_pulumi =
            dir.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("pulumi"));
        if !is_pulumi {
            continue;
        }
        for path in files(&dir, &|name| name.ends_with(".json")) {
            let text = fs::read(&path).unwrap();
            let head = String::from_utf8_lossy(text.get(..400).unwrap_or(&text)).into_owned();
            if head.contains("\"deployment\"") || head.contains("\"checkpoint\"") {
                same_bytes(&path);
                count += 1;
            }
        }
    }
    if count == 0 {
        println!("not run: shared fixtures of Pulumi not present");
    }
}
