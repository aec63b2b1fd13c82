//! Edits of snapshots. Each checks before it changes anything, and leaves a snapshot that was sound sound.

mod delete;
mod find;
mod flags;
mod moving;
mod rename;
mod stack;

pub use delete::{DeleteError, DeleteOptions, Deleted, delete, delete_all};
pub use find::{FindError, closest, find};
pub use flags::{Flag, NotFound, set_flag, set_flag_at, set_flag_everywhere};
pub use moving::{Broken, MoveError, MoveOptions, Moved as MovedResources, move_again, move_resources};
pub use rename::{RenameError, Renamed, rename};
pub use stack::{RenameStack, RenameStackError, StackRenamed, rename_stack};
