//! Small snapshots in a short notation.

use std::collections::HashMap;

use groundstate_pulumi_snapshot::{ProviderRef, Resource, ResourceId, Snapshot, Urn};

/// The type of a resource of the tests: names with a capital P are providers.
fn token(name: &str) -> &'static str {
    if name.starts_with('P') { "pulumi:providers:t" } else { "t:t:T" }
}

/// The URN of a resource of the tests, by its name, or the text itself if it is a URN.
pub(crate) fn urn(name: &str) -> Urn {
    match name.strip_prefix("urn:") {
        Some(_) => Urn::from(name),
        None => Urn::build("s", "p", "", token(name), name),
    }
}

/// The URN of a resource below another one of type `t:t:T`.
pub(crate) fn below(depth: usize, name: &str) -> Urn {
    Urn::build("s", "p", &vec!["t:t:T"; depth].join("$"), token(name), name)
}

/// A resource as `name(marks…)` says: `^x` is the parent, `@P=id` the provider, `w:x` deleted with, `r:x` replaced with,
/// `v:x` a view of, `a:x` an alias, `k:x` a dependency of the property `k`, `!` a copy to be deleted, `?` one that waits for
/// its replacement, `*` protected, `#id` the identifier, `~` a component, `_` nothing, everything else a dependency.
pub(crate) fn resource(text: &str) -> Resource {
    let (name, marks) = text.split_once('(').unwrap_or((text, ")"));
    let mut resource = Resource::new(urn(name), token(name));
    resource.custom = true;
    for mark in marks.trim_end_matches(')').split_whitespace() {
        let (first, rest) = mark.split_at(1);
        match (first, mark.split_once(':').filter(|_| !mark.starts_with("urn:"))) {
            ("!", _) => resource.delete = true,
            ("?", _) => resource.pending_replacement = true,
            ("*", _) => resource.protect = true,
            ("~", _) => resource.custom = false,
            ("_", _) => resource.dependencies.push(Urn::default()),
            ("^", _) => resource.parent = Some(urn(rest)),
            ("#", _) => resource.id = Some(ResourceId::from(rest)),
            ("@", _) => {
                let (name, id) = rest.split_once('=').unwrap_or((rest, ""));
                resource.provider = Some(provider_ref(name, id));
            }
            (_, Some(("w", other))) => resource.deleted_with = Some(urn(other)),
            (_, Some(("r", other))) => resource.replace_with.push(urn(other)),
            (_, Some(("v", other))) => resource.view_of = Some(urn(other)),
            (_, Some(("a", other))) => resource.aliases.push(urn(other)),
            (_, Some((property, other))) => {
                let mut urns = resource.property_dependencies.get(property).unwrap_or_default().to_vec();
                urns.push(urn(other));
                resource.property_dependencies.insert(property, Some(urns));
            }
            _ => resource.dependencies.push(urn(mark)),
        }
    }
    resource
}

pub(crate) fn provider_ref(name: &str, id: &str) -> ProviderRef {
    ProviderRef::build(&urn(name), &ResourceId::from(id)).expect("the name is that of a provider")
}

/// A snapshot of resources in the notation of [`resource`].
pub(crate) fn snapshot(resources: &[&str]) -> Snapshot {
    Snapshot::new(resources.iter().map(|text| resource(text)))
}

/// A snapshot as a few words a resource, for messages of tests that fail.
pub(crate) fn sketch(snapshot: &Snapshot) -> String {
    let one = |(index, resource): (usize, &Resource)| {
        let mut text = format!("{index}:{}", resource.urn.name());
        for (mark, set) in [("!", resource.delete), ("?", resource.pending_replacement)] {
            text.push_str(if set { mark } else { "" });
        }
        let id = resource.id().map(|id| format!("#{id}"));
        let provider = resource.provider().map(|reference| format!("@{reference}"));
        let needs = resource.all_dependencies().map(|edge| format!("{:?}={}", edge.kind, edge.urn.name()));
        let all: Vec<String> = id.into_iter().chain(provider).chain(needs).collect();
        format!("{text}({})", all.join(" "))
    };
    snapshot.indexed().map(one).collect::<Vec<_>>().join(", ")
}

/// The names of the resources, numbered where a name repeats: `a`, `a'1`; `!` marks copies to be deleted.
pub(crate) fn names(snapshot: &Snapshot) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut all = Vec::new();
    for (_, resource) in snapshot.indexed() {
        let count = seen.entry(resource.urn.name()).or_default();
        let tick = if *count == 0 { String::new() } else { format!("'{count}") };
        let mark = if resource.delete { "!" } else { "" };
        all.push(format!("{}{tick}{mark}", resource.urn.name()));
        *count += 1;
    }
    all
}
