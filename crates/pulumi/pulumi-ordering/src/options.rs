//! How a stack is planned.

use std::collections::BTreeSet;

use groundstate_pulumi_snapshot::Urn;

/// How a stack is planned.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StackOptions {
    /// What deletions at the end wait for.
    pub deletes: Deletes,
    /// What becomes of entries whose deletion comes with another one.
    pub deleted_with: DeletedWith,
    /// Only these are changed or deleted; empty means all.
    pub targets: BTreeSet<Urn>,
    /// Also what depends on a target.
    pub target_dependents: bool,
    /// These, and what they depend on, are neither changed nor deleted. Not together with targets.
    pub excludes: BTreeSet<Urn>,
    /// Nor what depends on them.
    pub exclude_dependents: bool,
    /// These are replaced, however little differs.
    pub replace_targets: BTreeSet<Urn>,
    /// Protection keeps nothing from being deleted.
    pub ignore_protect: bool,
    /// What does not depend on a failure goes on.
    pub continue_on_error: bool,
    /// There is no program, so everything is deleted.
    pub destroy: bool,
    /// How many steps run at once; 0 means the usual number.
    pub parallelism: usize,
}

/// What deletions at the end wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deletes {
    /// For what depends on them, and for nothing else.
    #[default]
    Precise,
    /// For the batch before, as the original does it. Independent entries go as late as the roots.
    Batches,
}

/// What becomes of entries that say `deleted_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeletedWith {
    /// They leave the list together with the one whose deletion takes them along, when that has succeeded.
    #[default]
    Atomic,
    /// They leave the list first, as the original does it. If the other deletion fails, their objects are lost.
    Compat,
}
