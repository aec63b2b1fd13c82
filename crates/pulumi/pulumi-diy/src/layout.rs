//! Where what belongs to a stack lies in a bucket.

use crate::stack_ref::StackRef;

/// How a bucket is laid out: by project since Pulumi 3.61, or flat as before.
///
/// Keys are those of Pulumi 3.259 (`pkg/backend/diy`), relative to the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Version 0: stacks without projects, and no `meta.yaml`.
    Legacy,
    /// Version 1: stacks in projects.
    Projects,
}

impl Layout {
    /// The key of the file that says which layout a bucket has.
    pub const META: &str = ".pulumi/meta.yaml";

    /// The folder of all checkpoints, with the slash at its end.
    pub const STACKS: &str = ".pulumi/stacks/";

    /// The folder of all locks, with the slash at its end.
    pub const LOCKS: &str = ".pulumi/locks/";

    /// The folder of all histories, with the slash at its end.
    pub const HISTORY: &str = ".pulumi/history/";

    /// The folder of all backups, with the slash at its end.
    pub const BACKUPS: &str = ".pulumi/backups/";

    /// The folder of what is known of all journals of this library, with the slash at its end.
    pub const MARKS: &str = ".pulumi/groundstate/marks/";

    /// The folder of all leases of this library, with the slash at its end.
    pub const LEASES: &str = ".pulumi/groundstate/locks/";

    /// The folder of the records of moves that have begun, with the slash at its end.
    pub const MOVES: &str = ".pulumi/groundstate/moves/";

    /// The number in `meta.yaml`.
    pub fn version(self) -> i64 {
        match self {
            Self::Legacy => 0,
            Self::Projects => 1,
        }
    }

    /// The key of the plain checkpoint; compressed ones have `.gz` or `.zst` behind it.
    pub fn checkpoint(self, stack: &StackRef) -> String {
        format!("{}.json", self.stack(stack))
    }

    /// The key of the tags.
    pub fn tags(self, stack: &StackRef) -> String {
        format!("{}.pulumi-tags", self.stack(stack))
    }

    /// The folder of the history, with the slash at its end.
    pub fn history(self, stack: &StackRef) -> String {
        format!("{}{}/", Self::HISTORY, self.path(stack))
    }

    /// The folder of the backups, with the slash at its end.
    pub fn backups(self, stack: &StackRef) -> String {
        format!("{}{}/", Self::BACKUPS, self.path(stack))
    }

    /// The folder of the locks, with the slash at its end. It is the only one with the organisation in it.
    pub fn locks(self, stack: &StackRef) -> String {
        format!("{}{stack}/", Self::LOCKS)
    }

    /// The key of the lease by which writers of this library exclude each other. Pulumi neither lists nor counts it.
    pub fn lease(self, stack: &StackRef) -> String {
        format!("{}{stack}.json", Self::LEASES)
    }

    /// The key of what is known of the journal of this library. It is there as long as the journal is.
    pub fn marks(self, stack: &StackRef) -> String {
        format!("{}{stack}.json", Self::MARKS)
    }

    /// The key of the record of a move that has begun, by the name that the stack gets.
    pub(crate) fn moved(self, stack: &StackRef) -> String {
        format!("{}{stack}.json", Self::MOVES)
    }

    fn stack(self, stack: &StackRef) -> String {
        format!("{}{}", Self::STACKS, self.path(stack))
    }

    fn path(self, stack: &StackRef) -> String {
        match (self, stack.project()) {
            (Self::Projects, Some(project)) => format!("{project}/{}", stack.stack()),
            _ => stack.stack().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_pulumi() -> Result<(), Box<dyn std::error::Error>> {
        let stack = StackRef::parse("organization/p/s", None)?;
        let legacy = StackRef::legacy("s")?;
        for (layout, stack, expected) in [
            (
                Layout::Projects,
                &stack,
                [
                    ".pulumi/stacks/p/s.json",
                    ".pulumi/stacks/p/s.pulumi-tags",
                    ".pulumi/history/p/s/",
                    ".pulumi/backups/p/s/",
                    ".pulumi/locks/organization/p/s/",
                ],
            ),
            (
                Layout::Legacy,
                &legacy,
                [
                    ".pulumi/stacks/s.json",
                    ".pulumi/stacks/s.pulumi-tags",
                    ".pulumi/history/s/",
                    ".pulumi/backups/s/",
                    ".pulumi/locks/s/",
                ],
            ),
        ] {
            let keys = [
                layout.checkpoint(stack),
                layout.tags(stack),
                layout.history(stack),
                layout.backups(stack),
                layout.locks(stack),
            ];
            assert_eq!(keys, expected);
        }
        Ok(())
    }
}
