//! Commands that pages, help texts and messages name: each of them exists, with each of its options.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::support::{groundstate, workspace};

/// Files that speak of this program: pages, READMEs and sources of what is released.
fn files() -> Vec<PathBuf> {
    let root = workspace();
    let mut found = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs"), root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // Designs and the changelog speak of earlier commands, tests of wrong ones.
            let skipped = ["design", "target", "tests", "fuzz", "changelog.md", "benchmarks.md"];
            if skipped.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".md") || name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found
}

/// What stands between backticks, in strings of sources, and behind a prompt, and begins with the name of the program.
fn named(path: &Path, found: &mut BTreeMap<String, PathBuf>) {
    let text = fs::read_to_string(path).unwrap();
    let is_source = path.extension().is_some_and(|ending| ending == "rs");
    let mut add = |command: &str| {
        found.entry(command.to_owned()).or_insert_with(|| path.to_owned());
    };
    for line in text.lines() {
        line.split('`').skip(1).step_by(2).filter(|part| part.starts_with("groundstate ")).for_each(&mut add);
        if is_source {
            let strings = line.split('"').skip(1).step_by(2);
            strings.filter(|part| part.starts_with("groundstate ")).for_each(&mut add);
        } else if let Some(command) =
            line.trim_start().strip_prefix("$ ").filter(|it| it.starts_with("groundstate "))
        {
            add(command);
        }
    }
}

/// The words of a command up to what a shell makes of the rest. Placeholders of format strings stay words.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in command.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            (' ', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    let ends = |word: &&String| !["|", "||", "&&", ";", ">", "<", "2>", "--", "#"].contains(&word.as_str());
    let words = words.iter().skip(1).take_while(ends);
    words.map(|word| word.trim_matches(['[', ']', ';']).to_owned()).filter(|word| !word.is_empty()).collect()
}

#[test]
fn commands_that_are_named_anywhere_exist_with_their_options() {
    let mut found = BTreeMap::new();
    files().iter().for_each(|path| named(path, &mut found));
    assert!(found.len() > 200, "{}", found.len());
    let mut asked: BTreeMap<Vec<String>, (String, PathBuf)> = BTreeMap::new();
    for (command, path) in found {
        let words = words(&command);
        // A placeholder for the command itself, a version, or a sentence about the program.
        let is_command = words.first().is_some_and(|word| {
            word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !SENTENCES.contains(&word.as_str())
        });
        // `encrypt|decrypt` stands for two commands.
        let is_choice = words.iter().take(2).any(|word| word.contains('|'));
        if is_command && !is_choice && !LABELS.contains(&command.as_str()) {
            asked.entry(words).or_insert((command, path));
        }
    }
    let wrong: Vec<String> = asked
        .into_iter()
        .filter_map(|(words, (command, path))| {
            // Help comes after everything in front of it was understood.
            let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
            let said = groundstate(&args).stderr;
            let is_wrong =
                ["unexpected argument", "unrecognized subcommand"].iter().any(|it| said.contains(it));
            is_wrong.then(|| {
                format!("{}: {command}: {}", path.display(), said.lines().next().unwrap_or_default())
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// First words of sentences that begin with the name of the program.
const SENTENCES: [&str; 4] = ["is", "has", "keeps", "can"];

/// Labels of measurements in tables.
const LABELS: [&str; 2] = ["groundstate journal 1", "groundstate journal 2"];
