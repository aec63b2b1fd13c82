//! Why a stack cannot be planned, or a part of it.

use groundstate_pulumi_integrity::Finding;
use groundstate_pulumi_snapshot::Urn;

/// Why a stack, or one goal of it, cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum StackError {
    /// The list is damaged.
    #[error("the list of the stack is damaged, repair it first: {0}")]
    Integrity(Box<Finding>),
    /// Targets and excludes were both given.
    #[error("targets and excludes were both given, choose one")]
    TargetsAndExcludes,
    /// A target or exclude names nothing.
    #[error("{urn} was selected, but neither the stack nor the program has it")]
    UnknownTarget {
        /// What was selected.
        urn: Urn,
    },
    /// A program ran although there is to be none.
    #[error("{urn} was registered while the stack is destroyed, run without the program")]
    GoalWhileDestroying {
        /// What was registered.
        urn: Urn,
    },
    /// Two goals have one name.
    #[error("{urn} was registered twice, give one of them another name")]
    DuplicateGoal {
        /// The URN that the error is about.
        urn: Urn,
    },
    /// A goal refers to something that was not registered before it.
    #[error("{urn} refers to {reference}, which was not registered before it")]
    UnknownReference {
        /// Who refers.
        urn: Urn,
        /// To what.
        reference: Urn,
    },
    /// A replacement of something protected.
    #[error("cannot replace {urn}: it is protected; remove the protection in the program")]
    ProtectedReplace {
        /// What was to be replaced.
        urn: Urn,
    },
    /// A replacement that would delete something protected first.
    #[error("cannot replace {urn}: dependent {dependent} is protected; remove its protection first")]
    ProtectedDependent {
        /// What was to be replaced.
        urn: Urn,
        /// What would be deleted with it.
        dependent: Urn,
    },
    /// Something selected needs something new that is not.
    #[error(
        "untargeted create: {urn} refers to {reference}, which does not exist yet and is not targeted; target it too"
    )]
    UntargetedCreate {
        /// What is selected.
        urn: Urn,
        /// What would have to be created.
        reference: Urn,
    },
    /// Something that is not selected depends on what is to be deleted.
    #[error(
        "{urn} depends on {target}, which is to be deleted, but is not targeted; target it too, or all dependents"
    )]
    UntargetedDependent {
        /// What depends.
        urn: Urn,
        /// On what.
        target: Urn,
    },
    /// Something that is not selected cannot stay as it is, since what it refers to would come after it.
    #[error(
        "{urn} is not targeted and refers to {reference}, which the program registers only later; target both"
    )]
    UntargetedOrder {
        /// What is not selected.
        urn: Urn,
        /// What it refers to.
        reference: Urn,
    },
    /// A deletion of something protected.
    #[error("{urn} is protected and cannot be deleted; remove its protection first")]
    ProtectedDelete {
        /// What was to be deleted.
        urn: Urn,
    },
}
