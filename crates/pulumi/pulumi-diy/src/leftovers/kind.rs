//! What is left in a bucket: stable codes, how much each matters, and what to do.

use std::fmt;

use groundstate_common::Severity;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:literal, $severity:ident, $title:literal, $help:literal;)+) => {
        /// What was left. The printed code never changes its meaning, and is never given to another kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum LeftoverKind {
            $($(#[doc = $doc])+ $name = $number,)+
        }

        impl LeftoverKind {
            /// All kinds in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// How much it matters. An error keeps `pulumi` or this library from working on the stack.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)+
                }
            }

            /// A few words that name it.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)+
                }
            }

            /// What to do about it, with the command.
            pub fn help(self) -> &'static str {
                match self {
                    $(Self::$name => $help,)+
                }
            }
        }
    };
}

kinds! {
    /// A checkpoint, a copy or an entry of the history was being written by a process that was killed.
    TemporaryFile = 801, Info, "temporary file of a killed write",
        "neither pulumi nor groundstate reads it; `groundstate stacks prune` removes it";
    /// A lock was being written by a process that was killed. Pulumi counts the file as a lock.
    TemporaryLock = 802, Error, "temporary file among the locks",
        "free the stack with `groundstate unlock STACK --force`, or with `pulumi cancel`";
    /// A lock or a lease that cannot be understood. It locks the stack.
    UnreadableLock = 803, Error, "unreadable lock",
        "free the stack with `groundstate unlock STACK --force`";
    /// A lock of this library whose lease ended: its holder was killed.
    ExpiredLock = 804, Warning, "lock whose lease has ended",
        "free the stack with `groundstate unlock STACK --force`";
    /// A lock that is older than a day, of a stack that does not exist: `pulumi stack init` was killed.
    LockWithoutStack = 805, Warning, "lock of a stack that does not exist",
        "free the name with `groundstate unlock STACK --force`; `pulumi cancel` cannot";
    /// An object that a console made for a folder of locks. Pulumi counts it as a lock that it cannot read.
    LockFolderMarker = 806, Warning, "folder marker among the locks",
        "remove it with the console or the tool that made it";
    /// The journal of an update that was killed. Nothing else is saved before it is recovered.
    UnrecoveredUpdate = 807, Error, "killed update that waits for recovery",
        "save what it did with `groundstate recover STACK`";
    /// A checkpoint in more than one compression. The newest counts.
    SecondVariant = 808, Warning, "checkpoint in more than one compression",
        "look whether it says something else; the next write keeps it as `.bak` and removes it";
    /// The record of a rename, a migration or an upgrade that was killed, under the name that the stack gets.
    UnfinishedMove = 809, Warning, "move of a stack that was killed",
        "repeat the `groundstate stacks rename`, `migrate` or `upgrade` that was killed; it goes on where it ended";
    /// Copies of the checkpoint of a stack that does not exist. A removal leaves them unless it is told otherwise.
    CopiesWithoutStack = 820, Info, "copies of a stack that does not exist",
        "remove them with `groundstate stacks remove STACK --backups`, or keep them to restore the stack";
    /// The history of a stack that does not exist: a rename or a removal was killed.
    HistoryWithoutStack = 821, Info, "history of a stack that does not exist",
        "repeat the rename or the removal that was killed";
    /// The tags of a stack that does not exist: a rename by pulumi, or a removal that was killed.
    TagsWithoutStack = 822, Info, "tags of a stack that does not exist",
        "remove them with `groundstate stacks remove STACK`";
    /// A state in the history that has no entry: an update was killed while it was recorded.
    StateWithoutEntry = 823, Info, "state in the history without an entry",
        "nothing has to be done; it can be restored, and `groundstate stacks prune` removes it when it is old";
    /// An object that a console made for a folder of stacks or copies.
    FolderMarker = 824, Info, "folder marker",
        "nothing has to be done; the console or the tool that made it removes it";
    /// An object in the folder of stacks or locks that belongs to no stack.
    ForeignObject = 825, Info, "object that belongs to no stack",
        "move it to another place if a person or a program put it there";
}

impl LeftoverKind {
    /// The code, such as `GS0801`.
    pub fn id(self) -> String {
        self.to_string()
    }
}

impl fmt::Display for LeftoverKind {
    /// The code.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GS{:04}", *self as u16)
    }
}
