//! `cargo xtask layers`: dependencies point down, and the lower layers do no I/O.

mod edges;
mod purity;

use crate::finding::{Finding, report};
use crate::outcome::{Outcome, no_arguments};
use crate::tree::Tree;
use crate::workspace::{Package, packages};

/// The highest layer that holds only models, formats and pure logic.
const PURE: u64 = 2;

/// Checks the workspace and prints what was found.
pub(crate) fn run(args: &[String]) -> Outcome {
    no_arguments("layers", args)?;
    report("layers", check(&Tree::read()?, &packages()?))
}

fn check(tree: &Tree, packages: &[Package]) -> Vec<Finding> {
    let mut findings = edges::check(packages);
    findings.extend(purity::check(tree, packages));
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;
    use crate::workspace::packages;

    #[test]
    fn the_layers_of_the_workspace_hold() {
        let findings = check(&Tree::read().unwrap(), &packages().unwrap());
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }
}

/// Small packages for the tests of the rules.
#[cfg(test)]
mod example {
    use std::collections::BTreeSet;

    use crate::workspace::{Dependency, Layer, Package};

    /// A package `groundstate-NAME` in a layer, with dependencies in the words `NAME`, `dev NAME` or `optional NAME`.
    pub(super) fn package(name: &str, layer: Option<Layer>, dependencies: &[&str]) -> Package {
        let dependency = |words: &&str| {
            let name = words.rsplit(' ').next().unwrap_or_default();
            let (dev, optional) = (words.starts_with("dev "), words.starts_with("optional "));
            Dependency { name: name.to_owned(), dev, optional, features: Vec::new() }
        };
        Package {
            name: format!("groundstate-{name}"),
            description: String::new(),
            dir: format!("crates/{name}"),
            published: true,
            layer,
            rust_version: None,
            features: Vec::new(),
            dependencies: dependencies.iter().map(dependency).collect(),
            built_with: BTreeSet::new(),
        }
    }
}
