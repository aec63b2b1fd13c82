//! One visitor for every name in a snapshot: in members, in properties, in pending operations, in snippets.

use std::collections::HashSet;
use std::sync::Arc;

use groundstate_pulumi_deployment::{rewrite_references, sealed_values};
use groundstate_pulumi_snapshot::{
    ArchiveContent, Properties, PropertyMap, PropertyValue, ProviderRef, Resource, ResourceId, Snapshot,
    StoredValue, Urn, UrnField,
};

/// A change of names.
pub(crate) struct Renames<'f> {
    /// The new name, if there is another one.
    rename: &'f dyn Fn(&Urn) -> Option<Urn>,
    /// The names of providers, by which references to them are taken apart.
    providers: &'f HashSet<Urn>,
}

/// How many values of a snapshot are encrypted, so that names inside of them stay as they are.
pub(crate) fn sealed_in(snapshot: &Snapshot) -> usize {
    let pending = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    snapshot.resources.iter().chain(pending).map(|resource| sealed_values(resource)).sum()
}

/// The names of all providers of a snapshot.
pub(crate) fn provider_names(snapshot: &Snapshot) -> HashSet<Urn> {
    let providers = snapshot.resources.iter().filter(|resource| resource.is_provider());
    providers.map(|resource| resource.urn.clone()).collect()
}

impl<'f> Renames<'f> {
    pub(crate) fn new(rename: &'f dyn Fn(&Urn) -> Option<Urn>, providers: &'f HashSet<Urn>) -> Self {
        Self { rename, providers }
    }

    fn of(&self, urn: &Urn) -> Option<Urn> {
        (self.rename)(urn).filter(|new| new != urn && !urn.is_empty())
    }

    /// Changes every name in the snapshot, and tells how many resources changed.
    pub(crate) fn everywhere(&self, snapshot: &mut Snapshot) -> usize {
        let changed =
            snapshot.resources.iter_mut().filter_map(|resource| self.resource(resource).then_some(()));
        let changed = changed.count();
        self.beside_resources(snapshot);
        changed
    }

    /// Changes every name in pending operations and snippets.
    pub(crate) fn beside_resources(&self, snapshot: &mut Snapshot) {
        for operation in &mut snapshot.pending_operations {
            self.resource(&mut operation.resource);
        }
        for snippet in &mut snapshot.snippets {
            for urn in snippet.references.values_mut() {
                if let Some(new) = self.of(urn) {
                    *urn = new;
                }
            }
        }
    }

    /// Changes every name in a resource, its own included.
    pub(crate) fn resource(&self, resource: &mut Arc<Resource>) -> bool {
        let own = self.of(&resource.urn);
        let references = self.references(resource);
        if let Some(urn) = own {
            Arc::make_mut(resource).urn = urn;
            return true;
        }
        references
    }

    /// Changes every name in a resource but its own. What stays the same is not copied.
    pub(crate) fn references(&self, resource: &mut Arc<Resource>) -> bool {
        let provider = resource.provider().and_then(|reference| self.provider(reference));
        let inputs = self.properties(&resource.inputs);
        let outputs = self.properties(&resource.outputs);
        let trigger = resource.replacement_trigger.as_ref().and_then(|trigger| self.stored(trigger));
        let mut urns = resource.all_dependencies().map(|edge| edge.urn);
        let members = urns.any(|urn| self.of(urn).is_some())
            || resource.aliases.iter().chain(&resource.view_of).any(|urn| self.of(urn).is_some());
        drop(urns);
        let inside = inputs.is_some() || outputs.is_some() || trigger.is_some();
        if !(members || inside || provider.is_some()) {
            return false;
        }
        let resource = Arc::make_mut(resource);
        let kept = resource.provider.take();
        if members {
            // There is no provider at the moment, and nothing else can fail.
            let rewritten = resource.rewrite_urns(|field, urn| match field {
                UrnField::Own => None,
                _ => self.of(urn),
            });
            debug_assert!(rewritten.is_ok());
        }
        resource.provider = provider.or(kept);
        if let Some(inputs) = inputs {
            resource.inputs = inputs;
        }
        if let Some(outputs) = outputs {
            resource.outputs = outputs;
        }
        if trigger.is_some() {
            resource.replacement_trigger = trigger;
        }
        true
    }

    /// An identifier may hold the delimiter, so the longest name that is known counts, and an unknown name is split
    /// as Pulumi does.
    fn provider(&self, reference: &ProviderRef) -> Option<ProviderRef> {
        let known = reference.splits().map(|(urn, id)| (Urn::from(urn), ResourceId::from(id)));
        let known = known.into_iter().find(|(urn, _)| self.providers.contains(urn));
        let (urn, id) = known.or_else(|| reference.split().ok())?;
        ProviderRef::build(&self.of(&urn)?, &id).ok()
    }

    fn properties(&self, properties: &Properties) -> Option<Properties> {
        match properties {
            Properties::Absent => None,
            Properties::Raw(raw) => {
                // The text was read before, so it can be read again.
                let rewritten = rewrite_references(raw, &mut |urn| self.of(urn)).ok()?;
                rewritten.map(Properties::Raw)
            }
            Properties::Map(map) => {
                if !map.values().any(|value| self.concerns(value)) {
                    return None;
                }
                let mut map = map.clone();
                self.map(&mut map);
                Some(Properties::Map(map))
            }
        }
    }

    fn stored(&self, value: &StoredValue) -> Option<StoredValue> {
        match value {
            StoredValue::Raw(raw) => {
                rewrite_references(raw, &mut |urn| self.of(urn)).ok()?.map(StoredValue::Raw)
            }
            StoredValue::Value(value) if self.concerns(value) => {
                let mut value = value.clone();
                self.value(&mut value);
                Some(StoredValue::Value(value))
            }
            StoredValue::Value(_) => None,
        }
    }

    /// Whether a name in the value changes.
    fn concerns(&self, value: &PropertyValue) -> bool {
        let here = match value {
            PropertyValue::ResourceReference(reference) => self.of(&reference.urn).is_some(),
            PropertyValue::Output(output) => output.dependencies.iter().any(|urn| self.of(urn).is_some()),
            _ => false,
        };
        here || value.children().any(|child| self.concerns(child))
    }

    fn map(&self, map: &mut PropertyMap) {
        map.iter_mut().for_each(|(_, value)| self.value(value));
    }

    fn value(&self, value: &mut PropertyValue) {
        match value {
            PropertyValue::Array(elements) => elements.iter_mut().for_each(|element| self.value(element)),
            PropertyValue::Object(map) => self.map(map),
            PropertyValue::Computed(element) => self.value(element),
            PropertyValue::Output(output) => {
                self.value(&mut output.element);
                output.dependencies.iter_mut().for_each(|urn| self.name(urn));
            }
            PropertyValue::ResourceReference(reference) => self.name(&mut reference.urn),
            PropertyValue::Archive(archive) => {
                if let ArchiveContent::Assets(assets) = &mut archive.content {
                    assets.values_mut().for_each(|asset| self.value(asset));
                }
            }
            PropertyValue::Secret(secret) => {
                if let Some(mut inside) = secret.value().filter(|value| self.concerns(value)).cloned() {
                    self.value(&mut inside);
                    secret.set(inside);
                }
            }
            _ => {}
        }
    }

    fn name(&self, urn: &mut Urn) {
        if let Some(new) = self.of(urn) {
            *urn = new;
        }
    }
}
