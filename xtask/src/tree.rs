//! The files of the project, as git knows them.

use std::process::Command;

use crate::outcome::{Outcome, stdout};
use crate::workspace::root;

/// The files under version control, and new ones that are not ignored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// In the order of their paths.
    pub(crate) files: Vec<File>,
}

/// A file of the project.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// The path from the root of the workspace, with `/` between its parts.
    pub(crate) path: String,
    /// What it holds, when that is text.
    pub(crate) text: Option<String>,
}

impl Tree {
    /// Reads the files of this workspace.
    pub(crate) fn read() -> Outcome<Self> {
        let listed = git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let mut files: Vec<File> = listed
            .split_terminator('\0')
            .filter_map(|path| {
                // What was removed but is still in the index is no file any more.
                let bytes = std::fs::read(root().join(path)).ok()?;
                Some(File { path: path.to_owned(), text: String::from_utf8(bytes).ok() })
            })
            .collect();
        files.sort_by(|one, two| one.path.cmp(&two.path));
        files.dedup_by(|one, two| one.path == two.path);
        Ok(Self { files })
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path)?.text.as_deref()
    }

    /// The Rust files with their text.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter(|file| file.path.ends_with(".rs"))
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }
}

/// The files that insta left for review, ignored ones included.
pub(crate) fn pending_snapshots() -> Outcome<Vec<String>> {
    let listed = git(&["ls-files", "-z", "--others", "--", "*.snap.new", "*.pending-snap"])?;
    Ok(listed.split_terminator('\0').filter(|path| !path.starts_with("target/")).map(str::to_owned).collect())
}

fn git(args: &[&str]) -> Outcome<String> {
    stdout(Command::new("git").current_dir(root()).args(args))
}
