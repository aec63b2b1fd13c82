//! What the rules need to know of a document: addresses, keys, providers, dependencies, and where each stands.

use std::collections::HashMap;
use std::ops::Range;

use groundstate_states::addr::{AbsResource, InstanceKey, ProviderConfig};

/// The parts of a document that rules compare with each other.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The known members at the top, and where their names stand.
    pub(super) members: Vec<(String, usize)>,
    pub(super) serial: u64,
    pub(super) lineage: String,
    pub(super) writer: String,
    pub(super) outputs: usize,
    /// Entries of `resources` with an address.
    pub(super) resources: Vec<ResourceFact>,
    pub(super) objects: Vec<ObjectFact>,
    pub(super) providers: Vec<ProviderFact>,
    /// Dependencies of each resource, every target once, with the place of the first mention.
    pub(super) dependencies: Vec<(usize, usize)>,
    /// Texts of dependencies.
    pub(super) targets: Names,
    /// Whether the document was read to its end, and every resource in it has an address.
    pub(super) complete: bool,
}

/// One entry of `resources`.
#[derive(Debug)]
pub(super) struct ResourceFact {
    pub(super) address: AbsResource,
    pub(super) offset: usize,
    /// Its provider, as a position in [`Facts::providers`].
    pub(super) provider: Option<usize>,
    /// Whether it has instances, readable or not.
    pub(super) has_instances: bool,
    /// Its objects, as positions in [`Facts::objects`].
    pub(super) objects: Range<usize>,
    /// Its dependencies, as positions in [`Facts::dependencies`].
    pub(super) dependencies: Range<usize>,
}

/// One element of `instances`.
#[derive(Debug)]
pub(super) struct ObjectFact {
    pub(super) key: InstanceKey,
    pub(super) offset: usize,
}

/// One provider address, in the spelling of the document.
#[derive(Debug)]
pub(super) struct ProviderFact {
    pub(super) text: String,
    /// What it means.
    pub(super) config: ProviderConfig,
    /// Where it stands first.
    pub(super) offset: usize,
    /// Resources that use it.
    pub(super) resources: usize,
}

/// Distinct texts in the order they came.
#[derive(Debug, Default)]
pub(super) struct Names {
    positions: HashMap<Box<str>, usize>,
    texts: Vec<Box<str>>,
}

impl Names {
    /// The position of the text, which is added if it is new.
    pub(super) fn intern(&mut self, text: &str) -> usize {
        if let Some(&known) = self.positions.get(text) {
            return known;
        }
        let position = self.texts.len();
        self.positions.insert(text.into(), position);
        self.texts.push(text.into());
        position
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}

impl Facts {
    /// Where a member at the top stands; the beginning of the document if it is missing.
    pub(super) fn member(&self, name: &str) -> usize {
        self.members.iter().find(|(known, _)| known == name).map_or(0, |(_, offset)| *offset)
    }

    /// Whether there is such a member at the top.
    pub(super) fn has_member(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| known == name)
    }

    pub(super) fn objects_of(&self, resource: &ResourceFact) -> &[ObjectFact] {
        self.objects.get(resource.objects.clone()).unwrap_or_default()
    }

    pub(super) fn dependencies_of(&self, resource: &ResourceFact) -> &[(usize, usize)] {
        self.dependencies.get(resource.dependencies.clone()).unwrap_or_default()
    }

    /// The entries of each address together, in the order of the first entry of each.
    pub(super) fn by_address(&self) -> Vec<Vec<&ResourceFact>> {
        let mut groups: Vec<Vec<&ResourceFact>> = Vec::with_capacity(self.resources.len());
        let mut positions = HashMap::with_capacity(self.resources.len());
        for resource in &self.resources {
            let position = *positions.entry(&resource.address).or_insert(groups.len());
            match groups.get_mut(position) {
                Some(group) => group.push(resource),
                None => groups.push(vec![resource]),
            }
        }
        groups
    }
}
