//! The folders of the command know those below them only: so nothing goes in a circle, and the families never meet.

use crate::finding::Finding;
use crate::source::{Token, tokens, without_tests};
use crate::tree::Tree;

/// Where the command is.
const FOLDER: &str = "crates/programs/cli/src/";

/// The roots of the library and of the program, which know all of them.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// The folders in layers, the lowest first. Those of one layer do not know each other.
const LAYERS: [&[&str]; 6] = [
    &["args", "hardening"],
    &["report"],
    &["input"],
    &["session"],
    &["terraform", "pulumi", "journal"],
    &["commands"],
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust_files() {
        let Some(inside) = path.strip_prefix(FOLDER).filter(|inside| !ROOTS.contains(inside)) else {
            continue;
        };
        let own = inside.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        let Some(layer) = layer_of(own) else {
            let message = format!("`{own}` is in no layer, name it in xtask/src/tidy/command.rs");
            findings.push(Finding::new(path, "command-layer", message));
            continue;
        };
        for name in named(&without_tests(&tokens(text))) {
            if name.text != own && layer_of(name.text).is_some_and(|other| other >= layer) {
                let message = format!("`{own}` must not know `{}`, which is not below it", name.text);
                findings.push(Finding::at(path, name.line, "command-layer", message));
            }
        }
    }
    findings
}

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

/// The modules of the crate that are named, as in `crate::name` and `crate::{name, other::thing}`.
fn named<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let mut found = Vec::new();
    for at in
        (0..tokens.len()).filter(|at| text(*at) == "crate" && text(at + 1) == ":" && text(at + 2) == ":")
    {
        let mut depth = 0_usize;
        for (offset, token) in tokens.iter().enumerate().skip(at + 3) {
            match token.text {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ if depth == 0 || (depth == 1 && matches!(text(offset - 1), "{" | ",")) => {
                    found.push(*token)
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::example::{rules, tree};

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let path = format!("crates/programs/cli/src/{path}");
        rules(&check(&tree(&[(&path, text)]))).into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn a_folder_knows_those_below_it_only() {
        assert_eq!(
            lines("input/a.rs", "use crate::report::x;\nuse crate::input::y;\nuse crate::args::A;"),
            [0; 0]
        );
        assert_eq!(lines("input/a.rs", "use crate::report::x;\nuse crate::session::y;"), [2]);
        assert_eq!(lines("report/a.rs", "fn f() {\n crate::input::x();\n}"), [2]);
        assert_eq!(lines("terraform/a/b.rs", "use crate::pulumi;"), [1]);
        assert_eq!(
            lines("pulumi/a.rs", "use crate::{input::a::{b, terraform},\nreport, terraform::c};"),
            [2]
        );
        assert_eq!(lines("session.rs", "#[cfg(test)]\nmod tests { use crate::commands; }"), [0; 0]);
        assert_eq!(lines("main.rs", "use crate::commands;"), [0; 0]);
        assert_eq!(lines("lib.rs", "use crate::commands;"), [0; 0]);
        assert_eq!(lines("other/a.rs", "use crate::report;"), [0]);
    }

    #[test]
    fn other_crates_are_left_alone() {
        let path = "crates/base/json/src/input/a.rs";
        assert_eq!(check(&tree(&[(path, "use crate::session::x;")])).len(), 0);
    }
}
