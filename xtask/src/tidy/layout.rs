//! Where files lie and what they are called.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::tree::Tree;

/// What may stand in the root besides hidden files.
const ROOT: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "crates",
    "xtask",
    "tests",
    "docs",
    "README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
];
/// What must stand in the root.
const REQUIRED: [&str; 7] =
    ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-APACHE", "LICENSE-MIT", ".deny.toml", ".ci/run"];
const UPGRADE_FIXTURES: &str = "tests/fixtures/upgrade/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = root(tree);
    findings.extend(fixture_names(tree));
    findings
}

fn root(tree: &Tree) -> Vec<Finding> {
    let entries: BTreeSet<&str> = tree.files.iter().filter_map(|file| file.path.split('/').next()).collect();
    let unknown = entries.into_iter().filter(|entry| !entry.starts_with('.') && !ROOT.contains(entry));
    let message = "nothing else belongs into the root, move it into crates, tests or docs";
    let mut findings: Vec<Finding> = unknown.map(|entry| Finding::new(entry, "root", message)).collect();
    let missing = REQUIRED.into_iter().filter(|path| tree.files.iter().all(|file| file.path != *path));
    findings.extend(missing.map(|path| Finding::new(path, "root", "the file is missing")));
    findings
}

/// A fixture of an upgrade says the version and the one thing it shows: `v2-modules.json`.
fn fixture_names(tree: &Tree) -> Vec<Finding> {
    let in_folder = |path: &str| -> Option<String> {
        let start = path.find(UPGRADE_FIXTURES).filter(|&at| at == 0 || path[..at].ends_with('/'))?;
        Some(path[start + UPGRADE_FIXTURES.len()..].to_owned())
    };
    let wrong = tree.files.iter().filter_map(|file| {
        let name = in_folder(&file.path)?;
        (name != "README.md" && !is_fixture_name(&name)).then_some(file)
    });
    let message = "call it by version and what it shows, as in `v2-modules.tfstate`";
    wrong.map(|file| Finding::new(&file.path, "fixture-name", message)).collect()
}

fn is_fixture_name(name: &str) -> bool {
    let Some((version, rest)) = name.split_once('-') else { return false };
    let Some((shows, extension)) = rest.split_once('.') else { return false };
    let version_is_one_digit = version
        .strip_prefix('v')
        .is_some_and(|digits| digits.len() == 1 && digits.chars().all(|c| c.is_ascii_digit()));
    let plain = |text: &str, others: &[char]| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || others.contains(&c))
    };
    version_is_one_digit && plain(shows, &['-']) && plain(extension, &['.'])
}

#[cfg(test)]
mod tests {
    use super::{REQUIRED, check, is_fixture_name};
    use crate::tidy::example::tree;

    fn found(extra: &[&str], without: &str) -> Vec<String> {
        let files: Vec<(&str, &str)> =
            REQUIRED.iter().chain(extra).filter(|path| **path != without).map(|&path| (path, "")).collect();
        check(&tree(&files)).iter().map(|finding| format!("{} {}", finding.rule, finding.path)).collect()
    }

    #[test]
    fn only_known_entries_stand_in_the_root() {
        assert_eq!(found(&["crates/a/Cargo.toml", ".github/x", "docs/scripts/x"], ""), [""; 0]);
        assert_eq!(found(&["notes.txt", "scripts/x", "scripts/y"], ""), ["root notes.txt", "root scripts"]);
        for path in REQUIRED {
            assert_eq!(found(&[], path), [format!("root {path}")]);
        }
    }

    #[test]
    fn fixtures_of_upgrades_are_called_by_version_and_topic() {
        let good = "crates/a/tests/fixtures/upgrade/v2-modules.json";
        let bad = "crates/a/tests/fixtures/upgrade/modules.json";
        assert_eq!(
            found(&[good, "tests/fixtures/upgrade/README.md", "tests/fixtures/Any Name"], ""),
            [""; 0]
        );
        assert_eq!(found(&[good, bad], ""), [format!("fixture-name {bad}")]);
        for (name, expected) in [
            ("v1-a.tfstate", true),
            ("v4-two-words.tfstate.json", true),
            ("v10-a.json", false),
            ("v-a.json", false),
            ("2-a.json", false),
            ("v2_a.json", false),
            ("v2-.json", false),
            ("v2-A.json", false),
            ("v2-a", false),
            ("deep/v2-a.json", false),
        ] {
            assert_eq!(is_fixture_name(name), expected, "{name}");
        }
    }
}
