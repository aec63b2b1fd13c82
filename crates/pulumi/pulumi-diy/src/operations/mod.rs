//! Operations on whole stacks, each under the lock of the stack.

mod create;
mod prune;
mod relocate;
mod remove;
mod restore;
mod transfer;

pub use prune::{OldCopy, PrunePlan, PruneRules};
pub use relocate::{
    LegacyStack, MovedObject, RelocateOptions, Relocated, Relocation, Upgrade, UpgradeOptions, Upgraded,
    UpgradedStack,
};
pub use remove::{RemoveOptions, Removed};
pub use transfer::{ImportOptions, Importable, Imported};
