//! Inputs from plans, as `terraform show -json` and `tofu show -json` print them.
//!
//! Such a plan holds the configuration's references, the planned actions and what the refreshed state records. It does not
//! hold the references of local values, conditions and `replace_triggered_by`, for which the records of the objects stand
//! in, nor any create-before-destroy flag. Flags follow from the orders of replacements, and from the state if it is given;
//! where one that is unknown decides about the order, [`OperationGraph::undecided`](crate::OperationGraph::undecided) says so.

mod assemble;
mod json;
mod objects;
mod product;
mod read;
mod resolve;
mod unstated;

use std::collections::{BTreeMap, BTreeSet};

use groundstate_states::State;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource};

use crate::input::Input;
use crate::options::{Options, Profile};
use objects::Recorded;

pub use product::Product;
pub use unstated::FallbackSource;

/// What a plan says, ready for [`build`](crate::build).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Planned {
    /// Resources, objects and changes.
    pub input: Input,
    /// The defaults, in the mode of the plan.
    pub options: Options,
    /// Why instances are replaced or changed, where the plan says so.
    pub causes: BTreeMap<AbsResourceInstance, Cause>,
    /// What the plan does not tell.
    pub notes: Vec<PlanNote>,
    /// The program that made the plan.
    pub product: Product,
    /// Instances that are destroyed, of which nothing says whether they were to be created before they are destroyed.
    pub unknown_flags: BTreeSet<AbsResourceInstance>,
    /// What objects record that depend on something moved, at the addresses of before.
    before_moves: Vec<Recorded>,
}

/// References of a resource that a plan does not hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MissingReferences {
    /// Those of a value that the resource refers to by this reference.
    Behind(String),
    /// Those of a value that the configuration of its provider refers to by this reference.
    OfProvider(String),
    /// Those of its preconditions and postconditions.
    Conditions,
    /// Those of its `replace_triggered_by`.
    Triggers,
}

impl std::fmt::Display for MissingReferences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Behind(reference) => write!(f, "what {reference} refers to"),
            Self::OfProvider(reference) => write!(f, "what {reference} refers to, which its provider uses"),
            Self::Conditions => f.write_str("what its conditions refer to"),
            Self::Triggers => f.write_str("what its replace_triggered_by refers to"),
        }
    }
}

impl std::fmt::Display for FallbackSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OwnRecords => "the dependencies that its objects record are used",
            Self::UsersRecords => "the dependencies that all objects record that depend on it are used",
            Self::Nothing => "they are missing in the order, because nothing records them yet",
        })
    }
}

/// Why an instance is replaced or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// The reason as the plan names it, for example `replace_because_cannot_update`.
    pub reason: Option<String>,
    /// The attributes that cannot be changed in place, as paths such as `disk[0].size`.
    pub replace_paths: Vec<String>,
    /// The address the instance had before.
    pub previous_address: Option<AbsResourceInstance>,
}

/// What a plan does not tell, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum PlanNote {
    /// References that the plan does not hold.
    #[error("the plan does not say {what} ({resource}): {fallback}")]
    MissingReferences {
        /// The resource that refers.
        resource: ConfigResource,
        /// What refers.
        what: MissingReferences,
        /// What is used instead.
        fallback: FallbackSource,
    },
    /// A change of an object that the plan's prior state, or the given state, does not have.
    #[error(
        "the plan changes {addr}, of which the state has no object: it is taken to record no dependencies"
    )]
    MissingObject {
        /// The instance.
        addr: AbsResourceInstance,
    },
    /// Planning ended with an error.
    #[error("planning ended with an error, so changes may be missing in the order: plan again")]
    Errored,
    /// Changes that wait for another plan.
    #[error("changes put off to a later plan are missing in the order: {count}")]
    Deferred {
        /// The number of changes that are put off.
        count: usize,
    },
    /// Invocations of actions, which are no operations on instances.
    #[error("actions that the plan invokes are missing in the order: {count}{}", listed(actions))]
    Actions {
        /// The number of invocations.
        count: usize,
        /// The addresses of the actions, each once.
        actions: Vec<String>,
    },
}

/// Names in parentheses, of which a message shows a few.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| groundstate_common::one_line(name)).collect();
    match names.len() {
        0 => String::new(),
        count if count > SHOWN => format!(" ({} and {} others)", shown.join(", "), count - SHOWN),
        _ => format!(" ({})", shown.join(", ")),
    }
}

/// Why a text is not a plan that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The text is not JSON.
    #[error("byte {offset} of the plan is not JSON: {why}")]
    Syntax {
        /// Which byte.
        offset: usize,
        /// What is wrong there.
        why: String,
    },
    /// A member has another form than plans have.
    #[error("`{member}` of the plan is not {expected}")]
    Form {
        /// The member.
        member: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A format of the future.
    #[error("plans of format {version} are not known, only those of format 0 and 1: update this program")]
    Version {
        /// What the plan says.
        version: String,
    },
    /// JSON, but no plan.
    #[error("this is not a plan: print one with `terraform show -json PLANFILE`")]
    NotAPlan,
    /// What `plan -out` writes.
    #[error(
        "this is a plan file, which only the program that wrote it can read: print it with `terraform show -json PLANFILE`"
    )]
    PlanFile,
    /// An address that cannot be read.
    #[error("the plan names {text:?}, which is not an address: {why}")]
    Address {
        /// The address as the plan has it.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// Actions that no known release plans.
    #[error("the plan wants to do {actions:?} with {addr}, which is not known: update this program")]
    Actions {
        /// The instance.
        addr: String,
        /// The actions.
        actions: Vec<String>,
    },
    /// Modules in modules without end.
    #[error("modules of the plan lie more than {0} deep in each other")]
    TooDeep(usize),
}

impl Planned {
    /// Reads a plan. With the state it was made from, flags and providers are those that the state records.
    ///
    /// # Errors
    ///
    /// When the text is not a plan in the format of `terraform show -json`.
    ///
    /// # Examples
    ///
    /// ```
    /// use groundstate_ordering::{Planned, build};
    ///
    /// let text = br#"{"format_version": "1.2",
    ///   "configuration": {"root_module": {"resources": [
    ///     {"mode": "managed", "type": "net", "name": "a"},
    ///     {"mode": "managed", "type": "vm", "name": "b", "expressions": {"net": {"references": ["net.a.id", "net.a"]}}}
    ///   ]}},
    ///   "resource_changes": [
    ///     {"address": "vm.b", "change": {"actions": ["create"]}},
    ///     {"address": "net.a", "change": {"actions": ["create"]}}
    ///   ]}"#;
    /// let planned = Planned::read(text, None)?;
    /// let graph = build(&planned.input, &planned.options)?;
    /// assert_eq!(graph.to_listing()?, "0\tnet.a\tcreate\n1\tvm.b\tcreate\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(text: &[u8], state: Option<&State>) -> Result<Self, PlanError> {
        assemble::assemble(read::read(text)?, state)
    }

    /// Input and options for what a product will do: with the profile [`Classic`](Profile::Classic), in which recorded
    /// dependencies do not follow `moved` blocks.
    #[must_use]
    pub fn under(&self, product: Product) -> (Input, Options) {
        let (mut input, mut options) = (self.input.clone(), self.options.clone());
        let before: BTreeMap<_, _> =
            self.before_moves.iter().map(|it| ((&it.addr, it.deposed), it)).collect();
        for instance in &mut input.instances {
            let current = instance.current.iter_mut().map(|object| (None, object));
            let deposed = instance.deposed.iter_mut().map(|(key, object)| (Some(*key), object));
            for (key, object) in current.chain(deposed) {
                if let Some(recorded) = before.get(&(&instance.addr, key)) {
                    object.dependencies.clone_from(&recorded.dependencies);
                }
            }
        }
        options.profile = Profile::Classic;
        options.scope_config_edges = product == Product::OpenTofu;
        options.ordered_forgets = product == Product::Terraform;
        (input, options)
    }
}
