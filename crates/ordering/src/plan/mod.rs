//! Inputs from plans, as `terraform show -json` and `tofu show -json` print them.
//!
//! Such a plan holds the configuration's references, the planned actions and most of what the state records. It does not
//! hold the references of local values, nor any create-before-destroy flag. What is hidden behind a local value is taken
//! from the records of the state; flags follow from the orders of replacements, and from the state if it is given.

mod assemble;
mod json;
mod read;
mod resolve;

use std::collections::BTreeMap;

use groundstate_states::State;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource};

use crate::input::Input;
use crate::options::Options;

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
    /// A reference that leads to a value whose own references the plan does not hold.
    #[error("{resource} refers to {reference}, whose own references a plan does not hold: {}", if *.from_state { "what the state records of the resource is used" } else { "they are missing in the order" })]
    Hidden {
        /// The resource that refers.
        resource: ConfigResource,
        /// The reference.
        reference: String,
        /// Whether the state records what the resource depends on.
        from_state: bool,
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
        /// How many.
        count: usize,
    },
    /// Removed resources, whose flags only a state holds.
    #[error(
        "{count} objects of removed resources are destroyed, and a plan does not say which were to be created before destroy: give the state too"
    )]
    UnknownFlags {
        /// How many.
        count: usize,
    },
}

/// Why a text is no plan that can be read.
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
    #[error("this is no plan: print one with `terraform show -json PLANFILE`")]
    NotAPlan,
    /// What `plan -out` writes.
    #[error(
        "this is a plan file, which only the program that wrote it can read: print it with `terraform show -json PLANFILE`"
    )]
    PlanFile,
    /// An address that cannot be read.
    #[error("the plan names {text:?}, which is no address: {why}")]
    Address {
        /// The text.
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
    /// When the text is no plan in the format of `terraform show -json`.
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
}
