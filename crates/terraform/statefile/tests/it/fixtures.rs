//! Files of Terraform 1.11.4: read, written again and listed.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_statefile::{Document, EncodeOptions, encode, encode_equally, list, outputs};
use serde_json::Value;

use crate::files::files;
use crate::shared::fixtures;
use crate::support::{read, strict_verdict};

/// State files with their texts.
fn state_files() -> Vec<(PathBuf, Vec<u8>)> {
    let Some(folder) = fixtures() else { return Vec::new() };
    let found = files(&folder.join("terraform-1.11"), &|name| name.ends_with(".tfstate"));
    assert!(found.len() > 30, "{found:?}");
    found.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// The first line that differs, for messages.
fn difference(a: &[u8], b: &[u8]) -> String {
    let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
    let pair = a.lines().zip(b.lines()).enumerate().find(|(_, (a, b))| a != b);
    pair.map_or_else(|| "one ends earlier".into(), |(line, (a, b))| format!("line {}: {a} | {b}", line + 1))
}

#[test]
fn files_of_a_release_are_written_byte_for_byte_as_they_were_read() {
    for (path, text) in state_files() {
        let file = read(&text);
        assert!(file.notes.is_empty(), "{}: {:?}", path.display(), file.notes);
        let written = encode(&file, &EncodeOptions::default()).unwrap();
        assert!(written == text, "{}: {}", path.display(), difference(&text, &written));
        assert!(strict_verdict(&text), "{}", path.display());
        assert!(encode_equally(&file.state, &file.state.clone()));
    }
}

#[test]
fn a_file_survives_the_compact_layout() {
    for (path, text) in state_files() {
        let compact = encode(&read(&text), &EncodeOptions::default().indented(false)).unwrap();
        let mut file = read(&compact);
        file.style.indented = true;
        let written = encode(&file, &EncodeOptions::default()).unwrap();
        assert!(written == text, "{}: {}", path.display(), difference(&text, &written));
    }
}

#[test]
fn every_part_of_a_document_is_what_the_whole_says() {
    for (path, text) in state_files() {
        let file = read(&text);
        let document = Document::open(text.clone()).unwrap();
        for address in document.resources() {
            let part = document.resource(address).unwrap();
            assert_eq!(part.as_ref(), file.state.resource(address), "{}: {address}", path.display());
        }
        for name in document.output_names() {
            let part = document.output(name).unwrap().unwrap();
            assert_eq!(part, *file.state.outputs()[name], "{}: {name}", path.display());
        }
        assert_eq!(document.resources().count(), file.state.all_resources().count());
        assert_eq!(document.output_names().count(), file.state.outputs().len());
        assert_eq!(document.edit().to_vec().unwrap(), text, "an edit without changes");
        assert_eq!(document.to_file().unwrap().state, file.state);
        let found = outputs(&text[..], None).unwrap();
        let whole: Vec<_> =
            file.state.outputs().iter().map(|(n, o)| (n.to_string(), (**o).clone())).collect();
        assert_eq!(found, whole, "{}", path.display());
    }
}

#[test]
fn lists_are_those_of_the_release() {
    let mut compared = 0;
    for (path, text) in state_files() {
        let expected = path.with_file_name("list.txt");
        if !path.ends_with("terraform.tfstate") || !expected.is_file() {
            continue;
        }
        let listing = list(&text[..], true).unwrap();
        let shown: String = listing.iter().map(|listed| format!("{listed}\n")).collect();
        assert_eq!(shown, fs::read_to_string(expected).unwrap(), "{}", path.display());
        let document = Document::open(text).unwrap();
        let indexed: String = document.instances().map(|address| format!("{address}\n")).collect();
        assert_eq!(indexed, shown);
        compared += 1;
    }
    assert!(compared > 5 || fixtures().is_none(), "{compared} lists");
}

#[test]
fn ids_are_those_of_the_current_objects() {
    for (path, text) in state_files() {
        let whole: Value = serde_json::from_slice(&text).unwrap();
        let listing = list(&text[..], true).unwrap();
        let ids: Vec<&str> = listing.iter().filter_map(|listed| listed.id).collect();
        let instances =
            whole["resources"].as_array().unwrap().iter().flat_map(|r| r["instances"].as_array().unwrap());
        let mut expected: Vec<&str> = instances
            .filter(|object| object.get("deposed").is_none())
            .map(|object| object["attributes"]["id"].as_str().unwrap_or_default())
            .collect();
        let mut ids: Vec<&str> = ids.into_iter().collect();
        ids.sort_unstable();
        expected.sort_unstable();
        assert_eq!(ids, expected, "{}", path.display());
    }
}

#[test]
fn moved_and_removed_states_are_those_of_the_release() {
    let Some(folder) = fixtures() else { return };
    let folder: &Path = &folder.join("terraform-1.11/moves");
    let start = read(fs::read(folder.join("start.tfstate")).unwrap());
    for path in files(folder, &|name| name.ends_with(".tfstate") && name != "start.tfstate") {
        let other = read(fs::read(&path).unwrap());
        assert!(!encode_equally(&start.state, &other.state), "{}", path.display());
        assert_eq!(start.lineage, other.lineage);
        assert!(start.serial < other.serial, "{}", path.display());
    }
}
