//! Which instances the addresses on a command line stand for.

use groundstate_common::{is_hidden, shell_command, shell_word};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, ModuleInstance, Target};
use groundstate_states::{DeposedObject, State};

use crate::input::remote::command_on;
use crate::report::error::{Failure, Kind, Result};
use crate::report::text::{did_you_mean, similar};

/// Instances that are named, at most.
const MOST_INSTANCES: usize = 10;

/// Reads the addresses of a command line.
pub(crate) fn parse(addresses: &[String]) -> Result<Vec<Target>> {
    addresses.iter().map(|text| parse_one(text)).collect()
}

/// Object that an address of a command line names.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Target(Target),
    /// One deposed object, `ADDR (deposed KEY)`.
    Deposed(DeposedObject),
}

/// Reads an address of a command line, which may be that of a deposed object.
pub(crate) fn parse_object(text: &str) -> Result<Wanted> {
    match DeposedObject::parse(text) {
        Some(Ok(object)) => Ok(Wanted::Deposed(object)),
        Some(Err(error)) => Err(Failure::new(Kind::Usage, error.to_string())),
        None => parse_one(text).map(Wanted::Target),
    }
}

/// A deposed object that a state does not have.
pub(crate) fn no_deposed(object: &DeposedObject, source: &str) -> Failure {
    Failure::new(Kind::NotFound, format!("{source} has no deposed object {object}"))
        .hint(format!("`{}` shows what there is", shell_command("groundstate list --deposed", &[source])))
}

/// Reads an address of a command line.
pub(crate) fn parse_one(text: &str) -> Result<Target> {
    if let Some(Ok(DeposedObject { instance, .. })) = DeposedObject::parse(text) {
        let message = format!("{text} is a deposed object, and this is for whole instances");
        let whole = shell_word(&instance.to_string()).into_owned();
        return Err(Failure::new(Kind::Usage, message)
            .hint(format!("name the instance, {whole}; `list`, `show` and `rm` take a deposed object")));
    }
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

/// The addresses of a state of the kind of this one; for an instance those of resources too.
fn addresses(state: &State, target: &Target) -> Vec<String> {
    let mut all = Vec::new();
    for (path, module) in state.modules() {
        if let Target::Module(_) = target {
            all.extend((!path.is_root()).then(|| path.to_string()));
            continue;
        }
        for (resource, content) in &module.resources {
            let resource = AbsResource { module: path.clone(), resource: resource.clone() };
            if let Target::Instance(_) = target {
                all.extend(
                    content.instances.keys().map(|key| resource.clone().instance(key.clone()).to_string()),
                );
            }
            all.push(resource.to_string());
        }
    }
    all
}

/// What may have been meant by an address that a state does not know: the instances of its resource, or similar addresses.
pub(crate) fn meant(state: &State, target: &Target) -> Option<String> {
    let wanted = match target {
        Target::Module(module) => module.to_string(),
        Target::Resource(resource) => resource.to_string(),
        Target::Instance(instance) => instance.to_string(),
    };
    let of = match target {
        Target::Module(_) => None,
        Target::Resource(resource) => Some(resource),
        Target::Instance(instance) => Some(&instance.resource),
    };
    let keys = of.and_then(|of| Some((of, state.resource(of)?.instances.keys())));
    if let Some((of, keys)) = keys.filter(|(_, keys)| keys.len() > 0) {
        let number = keys.len();
        let names = keys.map(|key| of.clone().instance(key.clone()).to_string());
        let names: Vec<String> =
            names.filter(|name| !name.chars().any(is_hidden)).take(MOST_INSTANCES).collect();
        let names: Vec<_> = names.iter().map(|name| shell_word(name)).collect();
        let more = if number > names.len() { ", …" } else { "" };
        return Some(format!("its instances are {}{more}", names.join(", ")));
    }
    did_you_mean(&similar(&wanted, addresses(state, target)))
}

/// An address that the state does not know.
pub(crate) fn unknown(target: &Target, source: &str, state: Option<&State>) -> Failure {
    let (kind, address) = match target {
        Target::Module(module) => ("module", module.to_string()),
        Target::Resource(resource) => ("resource", resource.to_string()),
        Target::Instance(instance) => ("resource instance", instance.to_string()),
    };
    let failure = Failure::new(Kind::NotFound, format!("{source} has no {kind} {address}"));
    let meant = state.and_then(|state| meant(state, target));
    meant
        .into_iter()
        .fold(failure, Failure::hint)
        .hint(format!("`{}` shows what there is", command_on("groundstate list", source)))
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
