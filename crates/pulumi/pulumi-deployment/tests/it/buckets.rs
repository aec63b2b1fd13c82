//! Checkpoints in buckets that the real pulumi wrote, as `tests/fixtures/pulumi-diy/make.sh` says.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_pulumi_deployment::{DecodeOptions, EncodeOptions, decode, encode};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/pulumi-diy")
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Whether a file holds a checkpoint without compression: the stack itself, a copy of it, a backup, or one of the history.
fn is_checkpoint(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let folder = path.to_str().unwrap();
    let plain = !name.contains(".gz") && !name.contains(".zst") && !name.ends_with(".attrs");
    let history = folder.contains("/history/");
    plain
        && name.contains(".json")
        && !folder.contains("/locks/")
        && (!history || name.contains(".checkpoint."))
}

#[test]
fn what_pulumi_wrote_is_written_the_same() {
    let checkpoints: Vec<PathBuf> =
        files(&fixtures()).into_iter().filter(|path| is_checkpoint(path)).collect();
    assert!(checkpoints.len() > 30, "{}", checkpoints.len());
    for path in checkpoints {
        let text = fs::read(&path).unwrap();
        let file =
            decode(&text, &DecodeOptions::default()).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let again = encode(&file, &EncodeOptions::default()).unwrap();
        assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(text).unwrap(), "{path:?}");
    }
}

/// Sources are named as modules, and a user and a host that any machine may have.
#[test]
fn nothing_tells_where_the_buckets_were_made() {
    let files = files(&fixtures());
    for path in &files {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        for source in text.split("project:///").skip(1) {
            let source = source.trim_start_matches("../");
            let module = source.split('/').next().unwrap();
            assert!(
                ["github.com", "google.golang.org", "runtime"].contains(&module),
                "{path:?}: {source:.60}"
            );
        }
    }
    let lock = files.iter().find(|path| path.to_str().unwrap().contains("/locks/") && is_json(path)).unwrap();
    let lock: serde_json::Value = serde_json::from_slice(&fs::read(lock).unwrap()).unwrap();
    assert_eq!((&lock["username"], &lock["hostname"]), (&"daemon".into(), &"builder".into()));
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}
