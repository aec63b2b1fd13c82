//! Lists of files.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_blobs::{ListOptions, Listed, Op, Page, PageToken, Result};

use crate::bucket::escape;
use crate::tree::{Naming, Tree, is_absence};

/// As many as most services give.
const PAGE: usize = 1000;

/// Something in a directory that is a blob or has some below it.
struct Found {
    /// The name of the blob, or how the names below the folder begin.
    name: String,
    /// Where it is below the directory.
    below: String,
    path: PathBuf,
    is_folder: bool,
}

impl Tree {
    pub(crate) fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        const OP: Op = Op::List;
        self.absent::<()>(OP)?;
        let limit = options.limit.unwrap_or(PAGE).clamp(1, PAGE);
        let after = options.page.as_ref().map(PageToken::as_str);
        let mut found = self.find(prefix, options.delimiter)?;
        found.retain(|found| after.is_none_or(|after| found.name.as_str() > after));
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        found.dedup_by(|a, b| a.is_folder && b.is_folder && a.name == b.name);
        let mut page = Page::default();
        let is_last = found.len() <= limit;
        found.truncate(limit);
        if !is_last {
            page.next = found.last().map(|found| PageToken::new(&found.name));
        }
        for Found { name, path, is_folder, .. } in found {
            if is_folder {
                page.prefixes.push(name);
                continue;
            }
            match fs::metadata(&path).and_then(|meta| self.describe(&meta)) {
                Ok(meta) => page.blobs.push(Listed::new(name, meta)),
                // It was deleted meanwhile.
                Err(error) if is_absence(&error) => {}
                Err(error) => return Err(self.failed_at(OP, format!("{self}/{name}"), error)),
            }
        }
        Ok(page)
    }

    /// Everything whose name begins with the prefix, on one level or on all.
    fn find(&self, prefix: &str, one_level: bool) -> Result<Vec<Found>> {
        let below = match self.naming {
            Naming::Plain => prefix.to_owned(),
            Naming::Bucket => escape::escape_inside(prefix),
        };
        let folder = below.rfind('/').and_then(|slash| below.get(..=slash)).unwrap_or_default();
        // A prefix that leads out of the directory, or in a circle, is that of no blob.
        if folder.split_terminator('/').any(|part| matches!(part, "" | "." | "..")) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for mut entry in self.entries(&folder)? {
                let begins =
                    entry.name.starts_with(prefix) || (entry.is_folder && prefix.starts_with(&entry.name));
                match (entry.is_folder, one_level) {
                    _ if !begins => {}
                    (true, false) => folders.push(entry.below),
                    // Folders that hold no blobs are no names.
                    (true, true) if !self.holds_blobs(&entry.below)? => {}
                    (_, true) => {
                        // An escaped slash ends a name of this level as well.
                        let rest = entry.name.get(prefix.len()..).unwrap_or_default();
                        if let Some(slash) = rest.find('/') {
                            entry.name.truncate(prefix.len() + slash + 1);
                            entry.is_folder = true;
                        }
                        found.push(entry);
                    }
                    (false, false) => found.push(entry),
                }
            }
        }
        Ok(found)
    }

    /// The name of the blob at this path; that of a folder ends with a slash.
    fn name_of(&self, below: &str) -> String {
        match (self.naming, below.strip_suffix('/')) {
            (Naming::Plain, _) => below.to_owned(),
            (Naming::Bucket, None) => escape::listed_key(below),
            (Naming::Bucket, Some(folder)) => escape::listed_key(folder) + "/",
        }
    }

    fn holds_blobs(&self, folder: &str) -> Result<bool> {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in self.entries(&folder)? {
                if !entry.is_folder {
                    return Ok(true);
                }
                folders.push(entry.below);
            }
        }
        Ok(false)
    }

    /// The files and folders right below a folder, whose name is empty or ends with a slash, and so do theirs.
    fn entries(&self, folder: &str) -> Result<Vec<Found>> {
        let failed = |error| self.failed_at(Op::List, format!("{self}/{folder}"), error);
        let read = match fs::read_dir(self.root.join(Path::new(folder))) {
            Ok(read) => read,
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut entries = Vec::new();
        for entry in read {
            let entry = entry.map_err(failed)?;
            let file_name = entry.file_name();
            // What is not Unicode is no key.
            let Some(name) = file_name.to_str().filter(|name| !self.hides(name)) else { continue };
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                // It was deleted meanwhile.
                Err(error) if is_absence(&error) => continue,
                Err(error) => return Err(failed(error)),
            };
            // Links to folders may lead in circles; those to files are files.
            let is_file = kind.is_file() || (kind.is_symlink() && entry.path().is_file());
            let is_folder = kind.is_dir();
            if is_folder || is_file {
                let end = if is_folder { "/" } else { "" };
                let below = format!("{folder}{name}{end}");
                let name = self.name_of(&below);
                entries.push(Found { name, below, path: entry.path(), is_folder });
            }
        }
        Ok(entries)
    }
}
