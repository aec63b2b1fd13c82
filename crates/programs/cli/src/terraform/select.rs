//! Which instances the addresses on a command line stand for.

use groundstate_common::shell_command;
use groundstate_states::State;
use groundstate_states::addr::{AbsResourceInstance, ModuleInstance, Target};

use crate::report::error::{Failure, Kind, Result};

/// Reads the addresses of a command line.
pub(crate) fn parse(addresses: &[String]) -> Result<Vec<Target>> {
    addresses.iter().map(|text| parse_one(text)).collect()
}

/// Reads an address of a command line.
pub(crate) fn parse_one(text: &str) -> Result<Target> {
    Target::parse_argument(text).map_err(|error| {
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

/// Whether a module is this one or lies inside it.
pub(crate) fn in_module(module: &ModuleInstance, other: &ModuleInstance) -> bool {
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
        .hint(format!("`{}` shows what there is", shell_command("groundstate list", &[source])))
}

#[cfg(test)]
mod tests {
    use groundstate_states::addr::{AbsResource, AbsResourceInstance, InstanceKey, Target};

    use super::{matches, parse_one};

    fn instance(resource: &str, key: InstanceKey) -> AbsResourceInstance {
        AbsResourceInstance { resource: AbsResource::parse(resource).unwrap(), key }
    }

    #[test]
    fn addresses_stand_for_themselves_and_what_is_inside() {
        let keyed = instance("module.a[\"x\"].module.b.t.n", InstanceKey::Int(3));
        for (address, expected) in [
            ("module.a", true),
            ("module.a[\"x\"]", true),
            ("module.a[\"y\"]", false),
            ("module.a[\"x\"].module.b", true),
            // Only the last step of a module stands for all its keys, as in Terraform.
            ("module.a.module.b", false),
            ("module.b", false),
            ("module.a[\"x\"].module.b.t.n", true),
            ("module.a[\"x\"].module.b.t.n[3]", true),
            ("module.a[\"x\"].module.b.t.n[\"3\"]", false),
            ("module.a.module.b.t.n", false),
            ("t.n", false),
        ] {
            let target: Target = parse_one(address).unwrap();
            assert_eq!(matches(&target, &keyed), expected, "{address}");
        }
    }

    #[test]
    fn explains_keys_without_quotes_but_not_other_mistakes() {
        assert_eq!(parse_one("a.b[key]").unwrap_err().hints.len(), 1);
        assert!(parse_one("a.b[1").unwrap_err().hints.is_empty());
        assert!(parse_one("a").unwrap_err().hints.is_empty());
    }
}
