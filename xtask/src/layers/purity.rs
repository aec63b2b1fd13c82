//! What the sources of the pure layers do not reach for.

use super::edges::is_pure;
use crate::finding::Finding;
use crate::source::{Token, tokens, without_tests};
use crate::tree::Tree;
use crate::workspace::Package;

/// Modules of the standard library that reach outside the program.
const STD_MODULES: [&str; 4] = ["env", "fs", "net", "process"];
/// Streams of `std::io`; its traits and errors are welcome.
const STREAMS: [&str; 3] = ["stderr", "stdin", "stdout"];
/// Types whose value is another at each run.
const CLOCKS: [&str; 2] = ["Instant", "SystemTime"];
const CRATES: [&str; 4] = ["getrandom", "rand", "tokio", "tracing"];
const MACROS: [&str; 4] = ["eprint", "eprintln", "print", "println"];
/// Files behind a feature whose purpose is to ask the operating system.
const EXEMPT: [&str; 2] = ["crates/base/common/src/os.rs", "crates/pulumi/pulumi-secrets/src/os.rs"];

pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| is_pure(package)) {
        let sources = format!("{}/src/", package.dir);
        for (path, text) in tree.rust_files().filter(|(path, _)| path.starts_with(&sources)) {
            if !EXEMPT.contains(&path) {
                check_file(path, text, &mut findings);
            }
        }
    }
    findings
}

fn check_file(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let tokens = without_tests(&tokens(text));
    for (at, token) in tokens.iter().enumerate() {
        if let Some(what) = impurity(&tokens, at) {
            let message =
                format!("{what} is out of reach in a pure layer: let the caller pass in what it gives");
            findings.push(Finding::at(path, token.line, "purity", message));
        }
    }
}

/// What the token at this place reaches for, in words.
fn impurity(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let word = text(at);
    let before = at.checked_sub(1).map_or("", text);
    let starts_a_path = before != ":" && before != ".";
    if word == "async" {
        return Some("`async`".to_owned());
    }
    if CLOCKS.contains(&word) {
        return Some(format!("`{word}`"));
    }
    if MACROS.contains(&word) && text(at + 1) == "!" {
        return Some(format!("`{word}!`"));
    }
    if CRATES.contains(&word)
        && starts_a_path
        && (before == "use" || (text(at + 1) == ":" && text(at + 2) == ":"))
    {
        return Some(format!("the crate `{word}`"));
    }
    let found = match word {
        "std" => segment_after(tokens, at, &STD_MODULES)?,
        "io" => segment_after(tokens, at, &STREAMS)?,
        _ => return None,
    };
    Some(format!("`{word}::{found}`"))
}

/// The first of `names` that follows the path segment at this place, directly or as a branch of a group.
fn segment_after<'a>(tokens: &[Token<'a>], at: usize, names: &[&str]) -> Option<&'a str> {
    let [colon, other, next, rest @ ..] = tokens.get(at + 1..)? else { return None };
    if colon.text != ":" || other.text != ":" {
        return None;
    }
    if next.text != "{" {
        return names.contains(&next.text).then_some(next.text);
    }
    let mut depth = 1_usize;
    let mut begins = true;
    for token in rest {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            name if depth == 1 && begins && names.contains(&name) => return Some(name),
            _ => {}
        }
        if depth == 0 {
            return None;
        }
        begins = token.text == ",";
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{EXEMPT, check};
    use crate::layers::example::package;
    use crate::tree::{File, Tree};
    use crate::workspace::Layer;

    fn found(path: &str, text: &str, layer: u64) -> Vec<(usize, String)> {
        let tree = Tree { files: vec![File { path: path.to_owned(), text: Some(text.to_owned()) }] };
        let mut package = package("a", Some(Layer::In(layer)), &[]);
        package.dir = path.split("/src/").next().unwrap_or_default().to_owned();
        check(&tree, &[package]).into_iter().map(|finding| (finding.line, finding.message)).collect()
    }

    #[test]
    fn each_way_out_of_a_pure_layer_is_found() {
        for (text, what) in [
            ("use std::fs;", "`std::fs`"),
            ("use std::{fmt, fs::{self, File}};", "`std::fs`"),
            ("use std::{fmt::{self, Write}, net};", "`std::net`"),
            ("fn f() { std::env::var(\"X\"); }", "`std::env`"),
            ("fn f() { ::std::process::exit(1) }", "`std::process`"),
            ("use std::io::{self, stdin};", "`io::stdin`"),
            ("fn f() { io::stdout().flush(); }", "`io::stdout`"),
            ("use std::time::SystemTime;", "`SystemTime`"),
            ("fn f() { std::time::Instant::now(); }", "`Instant`"),
            ("fn f() { println!(\"x\"); }", "`println!`"),
            ("use rand;", "the crate `rand`"),
            ("fn f() { getrandom::fill(&mut x); }", "the crate `getrandom`"),
            ("fn f() { tracing::debug!(\"x\"); }", "the crate `tracing`"),
            ("async fn f() {}", "`async`"),
        ] {
            let found = found("crates/a/src/b.rs", &format!("//! A.\n{text}\n"), 2);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].0, 2, "{text}");
            assert!(found[0].1.starts_with(&format!("{what} is out of reach")), "{text}: {}", found[0].1);
        }
    }

    #[test]
    fn what_only_looks_like_a_way_out_is_let_through() {
        let text = "use std::{fmt, sync::atomic, collections::{env}};\nuse std::io::{self, Read};\n\
            fn process(fs: Rand) { self.rand(); a::rand::b; x.print(); env!(\"A\"); /* std::fs */ \"std::net\"; }\n\
            #[cfg(test)]\nmod tests { use std::fs; fn f() { println!(); } }\n";
        assert_eq!(found("crates/a/src/b.rs", text, 0), []);
    }

    #[test]
    fn only_sources_of_pure_layers_are_held_to_it() {
        let text = "use std::fs;";
        assert_eq!(found("crates/a/src/b.rs", text, 2).len(), 1);
        assert_eq!(found("crates/a/src/b.rs", text, 3), []);
        assert_eq!(found(EXEMPT[0], text, 0), []);
    }
}
