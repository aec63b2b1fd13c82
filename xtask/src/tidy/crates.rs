//! What every package of the workspace has.

use crate::finding::Finding;
use crate::tree::Tree;
use crate::workspace::Package;

const README_LINES: usize = 30;
/// What the first sentence of a README begins with, by the folder of the family.
const FAMILIES: [(&str, &str); 6] = [
    ("crates/base/", "Base: "),
    ("crates/storage/", "Storage: "),
    ("crates/terraform/", "Terraform and OpenTofu: "),
    ("crates/pulumi/", "Pulumi: "),
    ("crates/programs/", "Program: "),
    ("crates/dev/", "Development: "),
];

pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tests = packages.iter().find(|package| package.dir == "tests");
    for package in packages {
        manifest(tree, package, &mut findings);
        if let Some(tests) = tests {
            tested_features(package, tests, &mut findings);
        }
        // Packages that no outside crate depends on are explained by the documents of the project.
        if package.published {
            readme(tree, package, &mut findings);
            crate_docs(tree, package, &mut findings);
        }
    }
    findings
}

/// The tests of the workspace turn every feature of a library on, so that plain `cargo test` covers it.
fn tested_features(package: &Package, tests: &Package, findings: &mut Vec<Finding>) {
    let is_on = |feature: &String| {
        tests.dependencies.iter().any(|other| other.name == package.name && other.features.contains(feature))
    };
    // Programs are tested with the features that they have by default.
    let is_library = package.dir.starts_with("crates/") && !package.dir.starts_with("crates/programs/");
    let is_public = |feature: &str| feature != "default" && !feature.starts_with('_');
    for feature in package.features.iter().filter(|feature| is_library && is_public(feature)) {
        if !is_on(feature) {
            let message =
                format!("no test of the workspace has the feature `{feature}` of {}, add it", package.name);
            findings.push(Finding::new("tests/Cargo.toml", "feature", message));
        }
    }
}

fn manifest(tree: &Tree, package: &Package, findings: &mut Vec<Finding>) {
    let path = format!("{}/Cargo.toml", package.dir);
    if package.description.is_empty() {
        findings.push(Finding::new(
            &path,
            "description",
            "the package has no description, say in one line what it is",
        ));
    }
    let text = tree.text(&path).unwrap_or_default();
    if !inherits_lints(text) {
        let message = "the lints of the workspace do not apply, add `[lints]` with `workspace = true`";
        findings.push(Finding::new(&path, "lints", message));
    }
}

/// Tells whether the manifest says `workspace = true` in its table `lints`, in one of the ways TOML has for it.
fn inherits_lints(manifest: &str) -> bool {
    let mut table = String::new();
    manifest.lines().any(|line| {
        let line: String = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = name.to_owned();
        }
        (table == "lints" && line == "workspace=true") || (table.is_empty() && line == "lints.workspace=true")
    })
}

fn readme(tree: &Tree, package: &Package, findings: &mut Vec<Finding>) {
    let path = format!("{}/README.md", package.dir);
    let Some(text) = tree.text(&path) else {
        let message = "the package has no README.md, write down its purpose, an example and where it sits";
        findings.push(Finding::new(&path, "readme", message));
        return;
    };
    let lines = text.lines().count();
    if lines < README_LINES {
        let message = format!(
            "{lines} lines are too few to say purpose, example, place and features: write {README_LINES}"
        );
        findings.push(Finding::new(&path, "readme", message));
    }
    if let Some((_, family)) = FAMILIES.iter().find(|(folder, _)| package.dir.starts_with(folder))
        && !text.lines().nth(2).is_some_and(|line| line.starts_with(family))
    {
        let message = format!("the first sentence does not name the family, begin it with `{family}`");
        findings.push(Finding::at(&path, 3, "readme", message));
    }
    if !text.contains("```") {
        findings.push(Finding::new(&path, "readme", "there is no example, add one in a code block"));
    }
}

fn crate_docs(tree: &Tree, package: &Package, findings: &mut Vec<Finding>) {
    let path = format!("{}/src/lib.rs", package.dir);
    let Some(text) = tree.text(&path) else { return };
    let has_example = text.lines().filter(|line| line.starts_with("//!")).any(|line| line.contains("```"));
    if !has_example {
        findings.push(Finding::new(&path, "crate-docs", "the crate docs have no example, add one that runs"));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{check, inherits_lints};
    use crate::tidy::example::{rules, tree};
    use crate::workspace::{Dependency, Package};

    const MANIFEST: &str = "[package]\n[lints]\nworkspace = true\n";
    const DOCS: &str = "//! Does a.\n//! ```\n//! ```\n";

    fn package(description: &str, published: bool) -> Package {
        Package {
            name: "a".to_owned(),
            description: description.to_owned(),
            dir: "crates/a".to_owned(),
            published,
            layer: None,
            rust_version: None,
            features: Vec::new(),
            dependencies: Vec::new(),
            built_with: BTreeSet::new(),
        }
    }

    fn found(description: &str, manifest: &str, readme: &str, docs: &str) -> Vec<&'static str> {
        let tree = tree(&[
            ("crates/a/Cargo.toml", manifest),
            ("crates/a/README.md", readme),
            ("crates/a/src/lib.rs", docs),
        ]);
        rules(&check(&tree, &[package(description, true)])).into_iter().map(|(rule, _)| rule).collect()
    }

    #[test]
    fn each_thing_that_a_package_lacks_is_found() {
        let readme = format!("```\n```\n{}", "x\n".repeat(28));
        assert_eq!(found("does a", MANIFEST, &readme, DOCS), [""; 0]);
        assert_eq!(found("", MANIFEST, &readme, DOCS), ["description"]);
        assert_eq!(found("does a", "[package]\n", &readme, DOCS), ["lints"]);
        assert_eq!(found("does a", MANIFEST, &readme[..readme.len() - 2], DOCS), ["readme"]);
        assert_eq!(found("does a", MANIFEST, &readme.replace('`', "'"), DOCS), ["readme"]);
        assert_eq!(found("does a", MANIFEST, &readme, "//! Does a.\n/// ```\n"), ["crate-docs"]);
    }

    #[test]
    fn a_readme_begins_with_the_family_of_its_crate() {
        let mut package = package("does a", true);
        package.dir = "crates/pulumi/a".to_owned();
        for (sentence, expected) in [("Pulumi: does a.", &[][..]), ("Does a.", &[("readme", 3)])] {
            let readme = format!("# a\n\n{sentence}\n```\n```\n{}", "x\n".repeat(28));
            let tree = tree(&[
                ("crates/pulumi/a/Cargo.toml", MANIFEST),
                ("crates/pulumi/a/README.md", &readme),
                ("crates/pulumi/a/src/lib.rs", DOCS),
            ]);
            assert_eq!(rules(&check(&tree, std::slice::from_ref(&package))), expected, "{sentence}");
        }
    }

    #[test]
    fn features_that_no_test_of_the_workspace_has_are_found() {
        let mut library = package("does a", false);
        library.dir = "crates/base/a".to_owned();
        library.features = vec!["default".to_owned(), "serde".to_owned()];
        let mut tests = package("tests", false);
        (tests.name, tests.dir) = ("tests".to_owned(), "tests".to_owned());
        let manifests = tree(&[("crates/base/a/Cargo.toml", MANIFEST), ("tests/Cargo.toml", MANIFEST)]);
        let found = |tests: &Package| rules(&check(&manifests, &[library.clone(), tests.clone()]));
        assert_eq!(found(&tests), [("feature", 0)]);
        let features = vec!["serde".to_owned()];
        tests.dependencies.push(Dependency { name: "a".to_owned(), dev: true, optional: false, features });
        assert_eq!(found(&tests), []);
    }

    #[test]
    fn packages_that_are_not_published_need_no_readme() {
        let tree = tree(&[("crates/a/Cargo.toml", MANIFEST)]);
        assert_eq!(rules(&check(&tree, &[package("does a", false)])), []);
        assert_eq!(rules(&check(&tree, &[package("does a", true)])), [("readme", 0)]);
    }

    #[test]
    fn lints_are_inherited_only_by_the_table_of_that_name() {
        for (manifest, expected) in [
            ("lints.workspace = true", true),
            ("[lints] # all of them\nworkspace=true", true),
            ("[lints]\n# workspace = true", false),
            ("[lints]\n[other]\nworkspace = true", false),
            ("[package]\nlints.workspace = true", false),
            ("[lints.rust]\nmissing_docs = \"allow\"", false),
        ] {
            assert_eq!(inherits_lints(manifest), expected, "{manifest}");
        }
    }
}
