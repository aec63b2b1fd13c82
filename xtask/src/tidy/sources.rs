//! What source files begin with, do not contain, and how long they are.

use crate::finding::Finding;
use crate::source::{Token, attributes, tokens, without_tests};
use crate::tree::Tree;

const MAX_LINES: usize = 600;
/// Macros that stand for work not done or a look inside.
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];
/// Attributes that switch a test or a lint off without a reason that is checked.
const ATTRIBUTES: [(&str, &str); 3] = [
    ("ignore", "a test that does not run proves nothing: mend it or delete it"),
    ("should_panic", "it passes on any panic: return the error and compare it"),
    ("allow", "it stays when its cause is gone: use `expect` with a reason"),
];
/// Folders of machines and people, in pieces so that this file does not contain them.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/", "home/"), concat!("/", "root/"), concat!("/", "work/"), concat!("/", "Users/")];

/// Documentation that says less than the name of what it stands on.
const BARE: [&str; 14] = [
    "why",
    "when",
    "where",
    "by whom",
    "which one",
    "how many",
    "it is",
    "the name",
    "its name",
    "the text",
    "its text",
    "the kind",
    "its kind",
    "its value",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust_files() {
        if !text.starts_with("//!") {
            findings.push(Finding::at(
                path,
                1,
                "file-docs",
                "the file does not begin with `//!` and a line on what it is",
            ));
        }
        let tokens = tokens(text);
        forbidden_macros(path, &tokens, &mut findings);
        forbidden_attributes(path, &tokens, &mut findings);
        length(path, text, &tokens, &mut findings);
        bare_docs(path, text, &mut findings);
    }
    for file in &tree.files {
        machine_paths(&file.path, file.text.as_deref().unwrap_or_default(), &mut findings);
    }
    findings
}

fn forbidden_macros(path: &str, tokens: &[Token<'_>], findings: &mut Vec<Finding>) {
    for call in tokens.windows(3) {
        let opens = matches!(call[2].text, "(" | "[" | "{");
        if MACROS.contains(&call[0].text) && call[1].text == "!" && opens {
            let message = format!("`{}!` does not belong into what lands", call[0].text);
            findings.push(Finding::at(path, call[0].line, "forbidden-macro", message));
        }
    }
}

fn forbidden_attributes(path: &str, tokens: &[Token<'_>], findings: &mut Vec<Finding>) {
    for attribute in attributes(tokens) {
        for (word, why) in ATTRIBUTES.into_iter().filter(|(word, _)| attribute.has(word)) {
            findings.push(Finding::at(
                path,
                attribute.line,
                "forbidden-attribute",
                format!("`{word}`: {why}"),
            ));
        }
        if attribute.has("missing_docs") && attribute.has("expect") {
            let message = "everything reachable is documented: write the docs";
            findings.push(Finding::at(path, attribute.line, "missing-docs", message));
        }
    }
}

fn bare_docs(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (number, line) in text.lines().enumerate() {
        let doc = line.trim().strip_prefix("/// ").and_then(|doc| doc.strip_suffix('.'));
        if doc.is_some_and(|doc| BARE.contains(&doc.to_lowercase().as_str())) {
            let message = "it says no more than the name: write the shape, the unit, or who decides it";
            findings.push(Finding::at(path, number + 1, "bare-docs", message));
        }
    }
}

fn length(path: &str, text: &str, tokens: &[Token<'_>], findings: &mut Vec<Finding>) {
    // Counted by the lines on which something stands that is not in a test module, then by those of comments.
    let all = text.lines().count();
    let in_tests = lines(tokens).saturating_sub(lines(&without_tests(tokens)));
    if all - in_tests.min(all) > MAX_LINES {
        let message = format!("more than {MAX_LINES} lines without tests: ask whether these are two things");
        findings.push(Finding::new(path, "file-length", message));
    }
}

/// The number of lines on which a token begins.
fn lines(tokens: &[Token<'_>]) -> usize {
    let mut lines: Vec<usize> = tokens.iter().map(|token| token.line).collect();
    lines.dedup();
    lines.len()
}

fn machine_paths(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (number, line) in text.lines().enumerate() {
        let names_one = MACHINE_PATHS.into_iter().any(|machine| {
            line.match_indices(machine).any(|(at, _)| {
                // `docs/home/` is a folder like any other; the path of a machine begins here.
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~/}".contains(c))
            })
        });
        if names_one {
            let message = "a folder of one machine stands here, name a place that every reader has";
            findings.push(Finding::at(path, number + 1, "machine-path", message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MACHINE_PATHS, check};
    use crate::tidy::example::{rules, tree};

    fn found(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        rules(&check(&tree(&[(path, text)])))
    }

    #[test]
    fn each_forbidden_thing_in_a_source_file_is_found() {
        for (text, rule, line) in [
            ("mod a;\n", "file-docs", 1),
            ("//! A.\nfn f() {\n    todo!()\n}\n", "forbidden-macro", 3),
            ("//! A.\nfn f() { unimplemented!(\"x\") }\n", "forbidden-macro", 2),
            ("//! A.\nfn f() { dbg! { 1 }; }\n", "forbidden-macro", 2),
            ("//! A.\n#[ignore]\nfn f() {}\n", "forbidden-attribute", 2),
            ("//! A.\n#[ignore = \"slow\"]\nfn f() {}\n", "forbidden-attribute", 2),
            ("//! A.\n\n#[should_panic(expected = \"x\")]\nfn f() {}\n", "forbidden-attribute", 3),
            ("//! A.\n#![allow(dead_code)]\n", "forbidden-attribute", 2),
            ("//! A.\n#[cfg_attr(test, allow(dead_code))]\nfn f() {}\n", "forbidden-attribute", 2),
            ("//! A.\n#![expect(missing_docs, reason = \"later\")]\n", "missing-docs", 2),
            ("//! A.\n/// Its name.\nname: String,\n", "bare-docs", 2),
        ] {
            assert_eq!(found("src/a.rs", text), [(rule, line)], "{text}");
        }
    }

    #[test]
    fn words_in_comments_literals_and_names_are_let_through() {
        let text = "//! A.\n// todo!() #[ignore]\nfn todo(allow: &str) { ignore!(\"dbg!(1)\"); a.allow[0] }\n\
            #[expect(dead_code, reason = \"allow\")]\n#[warn(missing_docs)]\nmod b {}\n";
        assert_eq!(found("src/a.rs", text), []);
        assert_eq!(found("docs/a.md", "todo!()"), []);
    }

    #[test]
    fn long_files_are_found_and_their_tests_do_not_count() {
        let code = "fn f() {}\n".repeat(599);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
        assert_eq!(found("src/a.rs", &format!("//! A.\n{code}{tests}")), []);
        assert_eq!(found("src/a.rs", &format!("//! A.\n// B.\n{code}{tests}")), [("file-length", 0)]);
    }

    #[test]
    fn paths_of_a_machine_are_found_in_any_file() {
        for machine in MACHINE_PATHS {
            for text in
                [format!("see\n{machine}me/x"), format!("x\na = \"{machine}x\""), format!("\n(`{machine}`)")]
            {
                assert_eq!(found("docs/a.md", &text), [("machine-path", 2)], "{text}");
            }
            assert_eq!(found("docs/a.md", &format!("docs{machine}x ~{machine} ${{HOME}}{machine}")), []);
        }
    }
}
