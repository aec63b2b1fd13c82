//! Snapshots to begin with.

use groundstate_pulumi_snapshot::{
    Extension, Operation, OperationType, PropertyMap, PropertyValue, ProviderRef, RawJson, Resource,
    SecretsProvider, Snapshot, Snippet, Urn,
};

use crate::dice::Dice;

pub(crate) const PROVIDER: &str = "pulumi:providers:pk";
pub(crate) const COMPONENT: &str = "pk:m:Component";
pub(crate) const RESOURCE: &str = "pk:m:Resource";

/// A map that says which version it is.
pub(crate) fn version(number: usize) -> PropertyMap {
    PropertyMap::from_iter([("version", PropertyValue::from(number as f64))])
}

/// The name of a resource, below a parent if there is one.
pub(crate) fn urn(name: &str, resource_type: &str, parent: Option<&Urn>) -> Urn {
    Urn::build("dev", "shop", parent.map_or("", |parent| parent.qualified_type()), resource_type, name)
}

/// A snapshot that is sound: a provider, and resources that refer to what stands before them.
pub(crate) fn snapshot(dice: &Dice<'_>) -> Snapshot {
    let mut all = vec![provider("default", 0)];
    for number in 1..=1 + dice.roll(6) {
        let name = format!("r{number}");
        let resource = match dice.roll(20) {
            0..=11 => resource(dice, &all, &name, number),
            12..=14 => component(dice, &all, &name),
            15..=17 => deleted_copy(dice, &all, number),
            _ => provider(&name, number),
        };
        all.push(resource);
    }
    let mut snapshot = Snapshot::new(all);
    beside_resources(dice, &mut snapshot);
    snapshot
}

fn beside_resources(dice: &Dice<'_>, snapshot: &mut Snapshot) {
    if dice.chance(20) {
        for kind in [OperationType::Creating, OperationType::Updating, OperationType::Importing] {
            let ghost = Resource { custom: true, ..Resource::new(urn("ghost", RESOURCE, None), RESOURCE) };
            snapshot.pending_operations.push(Operation::new(ghost, kind));
        }
    }
    if dice.chance(20) {
        snapshot.snippets.push(Snippet { uuid: "first".into(), ..Snippet::default() });
    }
    if dice.chance(20) {
        snapshot.extensions.insert("used".into(), Extension::default());
        if let Some(resource) = snapshot.resource_mut(0) {
            resource.extension_ref = Some("used".into());
        }
    }
    if dice.chance(50) {
        snapshot.secrets_provider = Some(secrets_provider("old"));
    }
}

/// A secrets manager with something of its own.
pub(crate) fn secrets_provider(salt: &str) -> SecretsProvider {
    SecretsProvider {
        kind: "passphrase".into(),
        state: Some(RawJson::from_validated(&format!("{{\"salt\":\"{salt}\"}}"))),
        ..SecretsProvider::default()
    }
}

fn provider(name: &str, number: usize) -> Resource {
    let mut provider = Resource::new(urn(name, PROVIDER, None), PROVIDER);
    provider.custom = true;
    provider.id = Some(format!("id-{number}").into());
    provider
}

fn resource(dice: &Dice<'_>, before: &[Resource], name: &str, number: usize) -> Resource {
    let parent = parent(dice, before);
    let mut resource = Resource::new(urn(name, RESOURCE, parent.as_ref()), RESOURCE);
    resource.parent = parent;
    resource.custom = true;
    resource.id = Some(format!("id-{number}").into());
    resource.inputs = version(0).into();
    let providers: Vec<ProviderRef> = live(before)
        .filter(|resource| resource.is_provider())
        .filter_map(|resource| resource.provider_ref().ok())
        .collect();
    resource.provider = dice.pick(&providers).cloned();
    edges(dice, before, &mut resource);
    resource.protect = dice.chance(10);
    resource.retain_on_delete = dice.chance(10);
    match dice.roll(10) {
        8 => resource.pending_replacement = true,
        9 => resource.external = true,
        _ => {}
    }
    resource
}

fn component(dice: &Dice<'_>, before: &[Resource], name: &str) -> Resource {
    let parent = parent(dice, before);
    let mut component = Resource::new(urn(name, COMPONENT, parent.as_ref()), COMPONENT);
    component.parent = parent;
    edges(dice, before, &mut component);
    component
}

/// A copy of what comes before it that was replaced and not deleted yet.
fn deleted_copy(dice: &Dice<'_>, before: &[Resource], number: usize) -> Resource {
    let candidates: Vec<&Resource> = live(before).filter(|resource| resource.custom).collect();
    let mut copy = dice.pick(&candidates).map_or_else(Resource::default, |resource| (*resource).clone());
    copy.delete = true;
    copy.pending_replacement = false;
    copy.protect = false;
    copy.id = Some(format!("id-{number}").into());
    copy
}

/// Those that do not wait for their deletion.
fn live(resources: &[Resource]) -> impl Iterator<Item = &Resource> {
    resources.iter().filter(|resource| !resource.delete)
}

fn parent(dice: &Dice<'_>, before: &[Resource]) -> Option<Urn> {
    if !dice.chance(30) {
        return None;
    }
    let candidates: Vec<&Urn> =
        live(before).filter(|resource| !resource.is_provider()).map(|resource| &resource.urn).collect();
    dice.pick(&candidates).map(|urn| (*urn).clone())
}

fn edges(dice: &Dice<'_>, before: &[Resource], resource: &mut Resource) {
    let urns: Vec<Urn> = before.iter().map(|resource| resource.urn.clone()).collect();
    let pick = || dice.pick(&urns).cloned();
    for _ in 0..dice.roll(3) {
        resource.dependencies.extend(pick());
    }
    for key in 0..dice.roll(3) {
        resource.property_dependencies.insert(format!("p{key}"), Some(pick().into_iter().collect()));
    }
    if dice.chance(15) {
        resource.deleted_with = pick();
    }
    if dice.chance(15) {
        resource.replace_with.extend(pick());
    }
    if dice.chance(5) {
        resource.view_of = pick();
    }
}
