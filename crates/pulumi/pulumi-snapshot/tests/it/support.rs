//! Small snapshots in a short notation.

use std::collections::HashMap;

use groundstate_pulumi_snapshot::{ProviderRef, Resource, ResourceId, Snapshot, Urn};

/// The URN of a resource of the tests, by its name.
pub(crate) fn urn(name: &str) -> Urn {
    let token = if name.starts_with('P') { "pulumi:providers:t" } else { "t:t:T" };
    Urn::build("s", "p", "", token, name)
}

/// A resource as `name(needs…)` says: `^x` is the parent, `@P=id` the provider, `w:x` deleted with, `r:x` replaced with,
/// `k:x` a dependency of the property `k`, `!` the mark of a copy to be deleted, `#id` the identifier, `~` a component,
/// everything else a dependency.
pub(crate) fn resource(text: &str) -> Resource {
    let (name, needs) = text.split_once('(').unwrap_or((text, ")"));
    let token = if name.starts_with('P') { "pulumi:providers:t" } else { "t:t:T" };
    let mut resource = Resource::new(urn(name), token);
    resource.custom = true;
    for need in needs.trim_end_matches(')').split_whitespace() {
        let (mark, rest) = need.split_at(1);
        match (mark, need.split_once(':')) {
            ("!", _) => resource.delete = true,
            ("~", _) => resource.custom = false,
            ("^", _) => resource.parent = Some(urn(rest)),
            ("#", _) => resource.id = Some(ResourceId::from(rest)),
            ("@", _) => {
                let (name, id) = rest.split_once('=').unwrap_or((rest, ""));
                let reference = ProviderRef::build(&urn(name), &ResourceId::from(id));
                resource.provider = Some(reference.expect("the name is that of a provider"));
            }
            (_, Some(("w", other))) => resource.deleted_with = Some(urn(other)),
            (_, Some(("r", other))) => resource.replace_with.push(urn(other)),
            (_, Some((property, other))) => {
                resource.property_dependencies.insert(property, Some(vec![urn(other)]));
            }
            _ => resource.dependencies.push(urn(need)),
        }
    }
    resource
}

/// A snapshot of resources in the notation of [`resource`].
pub(crate) fn snapshot(resources: &[&str]) -> Snapshot {
    Snapshot::new(resources.iter().map(|text| resource(text)))
}

/// Names for indexes, numbered where a name repeats: `a`, `a'1`.
pub(crate) fn names(snapshot: &Snapshot, indexes: &[usize]) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut all = Vec::new();
    for (_, resource) in snapshot.indexed() {
        let count = seen.entry(resource.urn.name()).or_default();
        let tick = if *count == 0 { String::new() } else { format!("'{count}") };
        all.push(format!("{}{tick}", resource.urn.name()));
        *count += 1;
    }
    indexes.iter().map(|index| all[*index].clone()).collect()
}
