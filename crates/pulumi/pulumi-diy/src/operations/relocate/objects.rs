//! What belongs to a stack beside its checkpoint, and what it is called after a move.

use groundstate_blobs::Key;

use super::{MovedObject, OP};
use crate::backend::folder;
use crate::stack::Variant;
use crate::{CopySource, Result, Stack};

/// The names that objects of a stack get.
pub(super) struct Naming<'a> {
    pub(super) source: &'a Stack,
    pub(super) target: &'a Stack,
    /// What goes into the names of copies that would collide.
    pub(super) stamp: u64,
    /// Whether the checkpoint gets other bytes: the one before becomes `.bak` then.
    pub(super) is_rewritten: bool,
    /// Variants of the checkpoint that do not count: they become copies.
    pub(super) outdated: &'a [Variant],
}

impl Naming<'_> {
    /// The tags, the history, the backups, and the copies beside the checkpoint, by lists and one look.
    pub(super) async fn objects(&self) -> Result<Vec<MovedObject>> {
        let (source, target) = (self.source, self.target);
        let (from, to) = (source.backend().layout(), target.backend().layout());
        let (old, new) = (source.checked(OP)?, target.checked(OP)?);
        let mut found = Vec::new();
        let tags = source.backend().key(OP, &from.tags(old))?;
        let head = source.backend().store().head(&tags).await;
        let head =
            head.map_err(|error| crate::Error::from_store(OP, source.backend().place(tags.as_str()), error))?;
        if let Some(head) = head {
            found.push(MovedObject { from: tags, to: self.key(&to.tags(new))?, size: head.size });
        }
        for (old_folder, new_folder, between) in
            [(from.history(old), to.history(new), '-'), (from.backups(old), to.backups(new), '.')]
        {
            for listed in folder(&**source.backend().store(), &old_folder).await?.objects {
                let file = listed.name.strip_prefix(&old_folder).unwrap_or(&listed.name);
                let to = format!("{new_folder}{}", self.file(file, between));
                let from = source.backend().key(OP, &listed.name)?;
                found.push(MovedObject { from, to: self.key(&to)?, size: listed.meta.size });
            }
        }
        found.extend(self.copies().await?);
        Ok(found)
    }

    /// The `.bak` copies and the retained checkpoints.
    async fn copies(&self) -> Result<Vec<MovedObject>> {
        let (old, new) = (self.source.checked(OP)?, self.target.checked(OP)?);
        let base = self.source.backend().layout().checkpoint(old);
        let new_base = self.target.backend().layout().checkpoint(new);
        let mut found = Vec::new();
        for variant in self.outdated {
            let behind = variant.key.as_str().strip_prefix(&base).unwrap_or_default();
            let to = self.key(&format!("{new_base}{}", aside(behind, self.stamp.saturating_add(1))))?;
            found.push(MovedObject { from: variant.key.clone(), to, size: variant.size });
        }
        for copy in self.source.copies().await? {
            let behind = copy.key.as_str().strip_prefix(&base).unwrap_or_default();
            let behind = match copy.source {
                CopySource::Previous if self.is_rewritten => aside(behind, self.stamp),
                CopySource::Previous | CopySource::Retained => behind.to_owned(),
                CopySource::Backup | CopySource::History | CopySource::Temporary => continue,
            };
            let to = self.key(&format!("{new_base}{behind}"))?;
            found.push(MovedObject { from: copy.key, to, size: copy.size });
        }
        Ok(found)
    }

    /// The name of a file that begins with the name of the stack, or of one it had before.
    fn file(&self, file: &str, between: char) -> String {
        let (old, new) = (self.source.reference().stack(), self.target.reference().stack());
        let rest = file.strip_prefix(old.as_str()).filter(|rest| rest.starts_with(between));
        // A longer name that begins so is another stack's: what follows has to be a time.
        match rest {
            Some(rest) if rest[between.len_utf8()..].starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{new}{rest}")
            }
            _ => file.to_owned(),
        }
    }

    fn key(&self, text: &str) -> Result<Key> {
        self.target.backend().key(OP, text)
    }
}

/// The name of a retained checkpoint in place of that of a `.bak`.
pub(super) fn aside(behind: &str, stamp: u64) -> String {
    format!("{}.{stamp}", behind.strip_suffix(".bak").unwrap_or(behind))
}
