//! The example of surgery in the README: what it shows is what happens.

use std::fs;
use std::process::Stdio;

use super::support::{command, workspace};

#[test]
fn the_example_of_surgery_shows_what_happens() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let example = readme.split("```").find(|block| block.contains("$ cp ")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut ran = Vec::new();
    for part in example.split("\n$ ").skip(1) {
        let (line, expected) = part.split_once('\n').unwrap_or((part, ""));
        let words: Vec<&str> = line.split(' ').collect();
        let shown = match *words {
            ["cp", from, to] => {
                fs::copy(workspace().join(from), folder.path().join(to)).unwrap();
                String::new()
            }
            ["groundstate", ref args @ ..] => {
                let run = command(args).current_dir(folder.path()).stdin(Stdio::null()).output().unwrap();
                assert!(run.status.success(), "{line}");
                String::from_utf8([run.stdout, run.stderr].concat()).unwrap()
            }
            _ => unreachable!("{line}"),
        };
        assert_eq!(shown.trim_end(), expected.trim_end(), "{line}");
        ran.push(*words.get(1).unwrap());
    }
    assert_eq!(ran[1..], ["mv", "mv", "undo"]);
}
