//! Which instances the addresses on a command line stand for.

use groundstate_states::State;
use groundstate_states::addr::{AbsResourceInstance, ModuleInstance, Target};

use crate::error::{Failure, Kind, Result};

/// Reads the addresses of a command line.
pub(crate) fn parse(addresses: &[String]) -> Result<Vec<Target>> {
    addresses.iter().map(|text| parse_one(text)).collect()
}

/// Reads an address of a command line.
pub(crate) fn parse_one(text: &str) -> Result<Target> {
    Target::parse(text).map_err(|error| {
        let failure = Failure::new(Kind::Usage, error.to_string());
        // Shells take the quotes of `x["key"]` away unless the whole address is quoted.
        let bare = text.split_once('[').is_some_and(|(_, key)| {
            !key.starts_with(['"', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        });
        if bare {
            failure.hint("quote the address for the shell, as in 'aws_instance.web[\"key\"]'")
        } else {
            failure
        }
    })
}

/// Whether an address stands for the instance. A module stands for everything inside it.
pub(crate) fn matches(target: &Target, instance: &AbsResourceInstance) -> bool {
    match target {
        Target::Module(module) => in_module(module, &instance.resource.module),
        Target::Resource(resource) => *resource == instance.resource,
        Target::Instance(wanted) => wanted == instance,
    }
}

fn in_module(module: &ModuleInstance, other: &ModuleInstance) -> bool {
    module.is_ancestor_of(other) || module.contains(other)
}

/// Whether the state knows the address, though perhaps with no instance: resources without instances count.
pub(crate) fn exists(state: &State, target: &Target) -> bool {
    match target {
        Target::Module(module) => {
            state.modules().any(|(known, _)| !known.is_root() && in_module(module, known))
        }
        Target::Resource(resource) => state.resource(resource).is_some(),
        Target::Instance(instance) => state.resource_instance(instance).is_some(),
    }
}

/// An address that the state does not know.
pub(crate) fn unknown(target: &Target, source: &str) -> Failure {
    let (kind, address) = match target {
        Target::Module(module) => ("module", module.to_string()),
        Target::Resource(resource) => ("resource", resource.to_string()),
        Target::Instance(instance) => ("resource instance", instance.to_string()),
    };
    Failure::new(Kind::NotFound, format!("{source} has no {kind} {address}"))
        .hint(format!("`groundstate list {source}` shows what there is"))
}
