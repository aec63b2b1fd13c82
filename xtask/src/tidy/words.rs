//! Words that the project does not use, with those that it uses instead.

use crate::finding::Finding;
use crate::tree::Tree;

/// In pieces, so that this file does not contain them.
const WORDS: [(&str, &str); 7] = [
    (concat!("no", "body"), "name what is absent: no client, no process, no caller"),
    (concat!("some", "body"), "name it: another client, another process, a user"),
    (concat!("who", "ever"), "name it: the caller, the holder of the lock, the next client"),
    (concat!("all the", " same"), "write `still` or `nevertheless`"),
    (concat!("has no", " sense"), "write what is wrong with it"),
    (concat!("takes", " back"), "write `removes`, `restores`, `releases` or `undoes`"),
    (concat!("of ", "pulumi's"), "Pulumi is an adjective: write `Pulumi stacks`"),
];
/// An account of operating systems has such a name.
const EXEMPT: [&str; 2] = ["xtask/src/services/account.rs", "xtask/services/postgres.toml"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| is_prose(&file.path)) {
        for (number, line) in file.text.as_deref().unwrap_or_default().lines().enumerate() {
            let line = line.to_lowercase();
            for (word, instead) in WORDS.into_iter().filter(|(word, _)| contains(&line, word)) {
                findings.push(Finding::at(&file.path, number + 1, "word", format!("`{word}`: {instead}")));
            }
            if cites_a_number(&line) {
                let message = "a number of a document that is not here: write what is shown";
                findings.push(Finding::at(&file.path, number + 1, "word", message));
            }
        }
    }
    findings
}

/// Sources, documents and what is compared with the output of the command. What a fuzzer found is data.
fn is_prose(path: &str) -> bool {
    let ending = [".rs", ".md", ".snap", ".toml"].iter().any(|ending| path.ends_with(ending));
    ending && !path.contains("/corpus/") && !EXEMPT.contains(&path)
}

/// Whether the phrase is in the line, with no letter on either side.
fn contains(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + phrase.len()..]);
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

/// Whether a scenario, an appendix or a table is cited by its number.
fn cites_a_number(line: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|next: char| next.is_ascii_digit());
    let is_letter = |text: &str| {
        let mut all = text.chars();
        all.next().is_some_and(|first| first.is_ascii_alphabetic())
            && !all.next().is_some_and(char::is_alphanumeric)
    };
    let behind = |word: &'static str| line.split(word).skip(1);
    behind("scenario").any(|text| is_number(text.trim_start_matches('s').trim_start()))
        || behind("appendix ").any(is_letter)
        || behind("the table of ").any(is_number)
}

#[cfg(test)]
mod tests {
    use super::{WORDS, check};
    use crate::tidy::example::{rules, tree};

    #[test]
    fn words_of_the_list_are_found_in_sources_documents_and_snapshots() {
        for (word, _) in WORDS {
            for path in ["src/a.rs", "docs/a.md", "tests/it/snapshots/a.snap"] {
                let text = format!("first\n// {} x.\n", word.to_uppercase());
                assert_eq!(rules(&check(&tree(&[(path, &text)]))), [("word", 2)], "{word} in {path}");
            }
        }
    }

    #[test]
    fn scenarios_are_not_called_by_numbers() {
        let cases = [
            ("scenario of three", 0),
            (concat!("Scenario", " 12"), 1),
            (concat!("Scenarios", " 1 to 3"), 1),
            (concat!("appendix", " C, 10"), 1),
            (concat!("The table of", " 12.2"), 1),
            ("the table of locks, an appendix", 0),
        ];
        for (text, count) in cases {
            assert_eq!(check(&tree(&[("src/a.rs", &format!("/// {text}.\n"))])).len(), count, "{text}");
        }
    }

    #[test]
    fn parts_of_words_and_data_are_let_through() {
        let inside = format!("x{}y\n", WORDS[0].0);
        assert_eq!(rules(&check(&tree(&[("src/a.rs", &inside)]))), []);
        let (path, text) = ("crates/a/b/fuzz/corpus/c/d.toml", WORDS[0].0);
        assert_eq!(rules(&check(&tree(&[(path, text)]))), []);
    }
}
