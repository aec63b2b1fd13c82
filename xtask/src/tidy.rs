//! `cargo xtask tidy`: what every crate has, what no source file contains, which words are not used, where files lie, and what
//! the folders of the command know of each other.

mod command;
mod crates;
mod layout;
mod sources;
mod words;

use crate::finding::{Finding, report};
use crate::outcome::{Outcome, no_arguments};
use crate::tree::Tree;
use crate::workspace::{Package, packages};

/// Checks the workspace and prints what was found.
pub(crate) fn run(args: &[String]) -> Outcome {
    no_arguments("tidy", args)?;
    report("tidy", check(&Tree::read()?, &packages()?))
}

fn check(tree: &Tree, packages: &[Package]) -> Vec<Finding> {
    let mut findings = crates::check(tree, packages);
    findings.extend(command::check(tree));
    findings.extend(layout::check(tree));
    findings.extend(sources::check(tree));
    findings.extend(words::check(tree));
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;
    use crate::workspace::packages;

    #[test]
    fn the_workspace_is_tidy() {
        let findings = check(&Tree::read().unwrap(), &packages().unwrap());
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }
}

/// Small trees for the tests of the rules.
#[cfg(test)]
mod example {
    use crate::finding::Finding;
    use crate::tree::{File, Tree};

    /// A tree of these files.
    pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
        let file = |&(path, text): &(&str, &str)| File { path: path.to_owned(), text: Some(text.to_owned()) };
        Tree { files: files.iter().map(file).collect() }
    }

    /// The rules and lines of the findings.
    pub(super) fn rules(findings: &[Finding]) -> Vec<(&'static str, usize)> {
        findings.iter().map(|finding| (finding.rule, finding.line)).collect()
    }
}
