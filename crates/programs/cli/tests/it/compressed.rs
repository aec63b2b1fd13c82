//! States that are compressed by gzip: every command reads them, and what is changed stays compressed.

use std::fs;
use std::io::{Read, Write};

use groundstate_testkit::{S3Locks, TestBackend};

use super::remote::Work;
use super::support::{TempState, backups, groundstate, groundstate_with, resource, state, with_resources};

fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// The text of a file that has to be compressed.
#[track_caller]
fn text_in(path: &str) -> String {
    unpacked(&fs::read(path).unwrap())
}

#[track_caller]
fn unpacked(bytes: &[u8]) -> String {
    assert!(bytes.starts_with(&[0x1f, 0x8b]), "it is not compressed: {}", String::from_utf8_lossy(bytes));
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

/// Without blanks behind names, so that it does not matter which parts a change has written anew.
fn compact(text: &str) -> String {
    text.replace("\": ", "\":")
}

fn plain() -> String {
    let one = |name| resource("null_resource", name, r#"{"schema_version": 0, "attributes": {"id": "1"}}"#);
    with_resources(&format!("{},{}", one("one"), one("two")))
}

fn packed() -> TempState {
    state(gzip(plain()))
}

#[test]
fn every_change_keeps_the_file_compressed_and_the_backup_its_bytes() {
    let script = "mv null_resource.one null_resource.x\nrm null_resource.two\n";
    for (args, expected) in [
        (&["mv", "STATE", "null_resource.one", "null_resource.x"][..], r#""name":"x""#),
        (&["rm", "STATE", "null_resource.one"], r#""name":"two""#),
        (&["taint", "STATE", "null_resource.one"], r#""status":"tainted""#),
        (&["replace-provider", "STATE", "hashicorp/test", "hashicorp/other"], "hashicorp/other"),
        (&["edit", "STATE", "--script", "-"], r#""name":"x""#),
    ] {
        let (plainly, compressed) = (state(plain()), packed());
        let run = |file: &TempState| {
            let args: Vec<&str> =
                args.iter().map(|arg| if *arg == "STATE" { &*file.path } else { arg }).collect();
            let run = groundstate_with(&args, script.as_bytes());
            assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
            file.mask(&run.stdout)
        };
        assert_eq!(run(&plainly), run(&compressed), "{args:?}");
        let text = text_in(&compressed.path);
        assert!(compact(&text).contains(expected), "{args:?}: {text}");
        assert_eq!(text, fs::read_to_string(&plainly.path).unwrap(), "{args:?}");
        assert_eq!(fs::read(&backups(&compressed.path)[0]).unwrap(), gzip(plain()), "{args:?}");
    }
}

#[test]
fn a_change_and_its_undoing_go_through_a_directory_too() {
    let file = packed();
    let dir = file.dir.path().to_str().unwrap();
    assert_eq!(groundstate(&["taint", dir, "null_resource.one"]).code, 0);
    assert_eq!(groundstate(&["untaint", dir, "null_resource.one"]).code, 0);
    assert_eq!(groundstate(&["rm", dir, "null_resource.one", "--dry-run"]).code, 0);
    assert_eq!(groundstate(&["rm", dir, "null_resource.one"]).code, 0);
    assert!(!compact(&text_in(&file.path)).contains(r#""name":"one""#));
    groundstate(&["undo", dir]).clean();
    assert!(compact(&text_in(&file.path)).contains(r#""name":"one""#));
    assert_eq!(groundstate(&["list", dir]).clean(), "null_resource.one\nnull_resource.two\n");
    assert_eq!(groundstate(&["pull", dir]).clean(), text_in(&file.path));
    let copy = file.dir.path().join("copy.json");
    assert_eq!(groundstate(&["pull", dir, "--output", copy.to_str().unwrap()]).clean(), "");
    assert_eq!(fs::read_to_string(copy).unwrap(), text_in(&file.path));
    assert!(groundstate(&["locks", dir]).clean().ends_with(": not locked\n"));
}

#[test]
fn push_and_merge_take_compressed_files_on_both_sides() {
    let newer = plain().replace("\"serial\": 1", "\"serial\": 5").replace("two", "three");
    for (stored, pushed) in [
        (plain().into_bytes(), gzip(&newer)),
        (gzip(plain()), newer.clone().into_bytes()),
        (gzip(plain()), gzip(&newer)),
    ] {
        let (place, source) = (state(&stored), state(pushed));
        groundstate(&["push", &place.path, &source.path]).clean();
        assert_eq!(groundstate(&["list", &place.path]).clean(), "null_resource.one\nnull_resource.three\n");
        let bytes = fs::read(&place.path).unwrap();
        assert_eq!(bytes.starts_with(&[0x1f, 0x8b]), stored.starts_with(&[0x1f, 0x8b]));
        assert_eq!(fs::read(&backups(&place.path)[0]).unwrap(), stored);
    }
    // What an apply could not store, over the state it began with.
    let (place, errored) = (packed(), state(gzip(&newer)));
    let base = packed();
    let run = groundstate(&["merge-errored", &place.path, &errored.path, "--base", &base.path]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(text_in(&place.path).contains("three"));
}

#[test]
fn salvage_reads_as_far_as_a_damaged_file_can_be_unpacked() {
    let run = groundstate(&["salvage", &packed().path]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(compact(&run.stdout).contains(r#""name":"two""#), "{}", run.stdout);
    // Stored without compression, so that a cut leaves half of the text.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(plain().as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    let cut = state(&whole[..whole.len() - 100]);
    let run = groundstate(&["salvage", &cut.path]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("is compressed by gzip and is damaged after "), "{}", run.stderr);
    assert!(compact(&run.stdout).contains(r#""name":"one""#), "{}", run.stdout);
    for args in [&["pull", &*cut.path][..], &["list", &cut.path], &["rm", &cut.path, "null_resource.one"]] {
        let said = groundstate(args).failed(4);
        assert!(said.contains("is compressed by gzip and cannot be unpacked: "), "{args:?}: {said}");
    }
    // A forced push replaces it, keeps what was there, and compresses as before.
    let new = state(plain());
    groundstate(&["push", &cut.path, &new.path, "--force"]).clean();
    assert!(compact(&text_in(&cut.path)).contains(r#""name":"two""#));
    assert_eq!(fs::read(format!("{}.unreadable", cut.path)).unwrap(), &whole[..whole.len() - 100]);
}

#[test]
fn states_in_the_network_stay_compressed_as_well() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File));
    work.place.put_state(&gzip(plain()));
    assert_eq!(work.run(&["list", "."]).clean(), "null_resource.one\nnull_resource.two\n");
    let run = work.run(&["mv", ".", "null_resource.one", "null_resource.x"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let stored = work.place.object("team/app.tfstate").unwrap();
    assert!(compact(&unpacked(&stored)).contains(r#""name":"x""#));
    let listed: serde_json::Value =
        serde_json::from_str(&work.run(&["undo", ".", "--list", "--json"]).clean()).unwrap();
    assert_eq!(fs::read(listed["backups"][0]["path"].as_str().unwrap()).unwrap(), gzip(plain()));
}

#[test]
fn a_migrated_state_is_not_compressed_because_terraform_could_not_read_it() {
    let dirs = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| dirs.path().join(name));
    for dir in [&from, &to] {
        fs::create_dir(dir).unwrap();
    }
    let state_in = |dir: &std::path::Path| dir.join("terraform.tfstate");
    fs::write(state_in(&from), gzip(plain())).unwrap();
    let receipt = dirs.path().join("receipt.json");
    let [a, b, receipt] = [&from, &to, &receipt].map(|path| path.to_str().unwrap());
    let migrate = |options: &[&str]| {
        let run = groundstate(&[&["migrate", a, b, "--receipt", receipt], options].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    };
    let length = plain().len();
    assert_eq!(migrate(&["--dry-run"]), format!("default: would be copied: serial 1, {length} bytes\n"));
    assert_eq!(migrate(&[]), format!("default: copied, serial 1, {length} bytes\n"));
    assert_eq!(fs::read_to_string(state_in(&to)).unwrap(), plain());
    assert_eq!(fs::read(state_in(&from)).unwrap(), gzip(plain()), "the source stays as it is");
    assert_eq!(migrate(&[]), "default: is there already, serial 1\n");
    // The same state, compressed by what was there before.
    fs::write(state_in(&to), gzip(plain())).unwrap();
    assert_eq!(migrate(&[]), format!("default: copied, serial 1, {length} bytes\n"));
    assert_eq!(fs::read_to_string(state_in(&to)).unwrap(), plain());
    // What is newer there is found under its compression.
    fs::write(state_in(&to), gzip(plain().replace("\"serial\": 1", "\"serial\": 9").replace("two", "three")))
        .unwrap();
    let run = groundstate(&["migrate", a, b, "--receipt", receipt]);
    assert!(
        run.code == 9 && run.stderr.contains("a newer state is stored there: serial 9"),
        "{}",
        run.stderr
    );
}
