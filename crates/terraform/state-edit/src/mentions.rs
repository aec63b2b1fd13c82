//! Who depends on what: the dependencies of all objects, found without building the objects.

use std::collections::{BTreeSet, HashMap};

use groundstate_states::addr::{AbsResource, AbsResourceInstance, ConfigResource};
use groundstate_states::{Resource, State};

use groundstate_json::Str;
use groundstate_statefile::walk::{Flow, Head, InstanceWire, Section, Sink, Visitor, strings, walk};
use groundstate_statefile::{Document, ResourceEntry};

use super::word_search::{Words, search};

/// For each resource that is depended on, the resources that do.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentions(HashMap<ConfigResource, Vec<AbsResource>>);

impl Mentions {
    pub(super) fn of_state(state: &State) -> Self {
        let mut found: HashMap<_, Vec<_>> = HashMap::new();
        for (module, name, resource) in state.all_resources() {
            for config in in_resource(resource) {
                let by: &mut Vec<AbsResource> = found.entry(config).or_default();
                if by.last().is_none_or(|last| (&last.module, &last.resource) != (module, name)) {
                    by.push(name.clone().absolute(module.clone()));
                }
            }
        }
        Self(found)
    }

    pub(super) fn of_document(document: &Document) -> Self {
        let mut scan = Scan::default();
        // The document has been walked when it was opened, so it can be walked again.
        walk(document.text(), &mut scan, &mut Sink::default());
        let addresses: Vec<_> = document.entries().iter().map(ResourceEntry::address).collect();
        scan.mentions(&addresses)
    }

    /// All that is known of the addresses with these words, and some of others. Only entries that have the words in
    /// their text are walked.
    pub(super) fn of_words(document: &Document, words: &BTreeSet<Words<'_>>) -> Self {
        let entries = document.entries();
        let spans: Vec<_> = entries.iter().map(ResourceEntry::span).collect();
        let mut scan = Scan::default();
        let mut addresses = Vec::new();
        let mut text = Vec::new();
        for position in search(document.text(), &spans, words) {
            let (Some(entry), Some(span)) = (entries.get(position), spans.get(position)) else { continue };
            addresses.push(entry.address());
            // One entry at a time: nearly all may depend on a resource, and the file may be huge.
            text.clear();
            text.extend_from_slice(br#"{"version": 4, "resources": ["#);
            text.extend_from_slice(document.text().get(span.clone()).unwrap_or_default());
            text.extend_from_slice(b"]}");
            walk(&text, &mut scan, &mut Sink::default());
        }
        scan.mentions(&addresses)
    }

    /// The resources that depend on this one.
    pub(super) fn of(&self, config: &ConfigResource) -> impl Iterator<Item = &AbsResource> {
        self.0.get(config).into_iter().flatten()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&ConfigResource, &Vec<AbsResource>)> {
        self.0.iter()
    }
}

/// What the objects of a resource depend on, with repetitions.
pub(super) fn in_resource(resource: &Resource) -> impl Iterator<Item = ConfigResource> {
    resource.instances.values().flat_map(|instance| instance.objects()).flat_map(|(_, object)| {
        let precise = object.depends_on.iter().map(|instance| instance.resource.to_config());
        object.dependencies.iter().cloned().chain(precise)
    })
}

/// Collects the texts of dependencies while a document is walked.
#[derive(Debug, Default)]
struct Scan {
    /// The slot of each text that was read, none if it is not an address.
    texts: HashMap<Box<[u8]>, Option<usize>>,
    /// What the texts mean, and positions of the resources that hold them.
    slots: Vec<(ConfigResource, Vec<usize>)>,
    /// Position of the resource that is being read.
    at: usize,
}

impl Scan {
    /// What was read of resources with these addresses.
    fn mentions(self, addresses: &[&AbsResource]) -> Mentions {
        let mut found: HashMap<_, Vec<_>> = HashMap::new();
        for (config, by) in self.slots {
            let by = by.into_iter().filter_map(|at| addresses.get(at)).map(|address| (*address).clone());
            found.entry(config).or_default().extend(by);
        }
        Mentions(found)
    }

    fn mention(&mut self, text: &Str<'_>) {
        let slot = match self.texts.get(text.raw) {
            Some(known) => *known,
            None => {
                // Both lists are read as instances: a key at the end makes no difference here.
                let parsed = AbsResourceInstance::parse(&text.decode());
                let slot = parsed.ok().map(|instance| {
                    self.slots.push((instance.resource.to_config(), Vec::new()));
                    self.slots.len() - 1
                });
                self.texts.insert(text.raw.into(), slot);
                slot
            }
        };
        if let Some((_, by)) = slot.and_then(|slot| self.slots.get_mut(slot))
            && by.last() != Some(&self.at)
        {
            by.push(self.at);
        }
    }
}

impl Visitor for Scan {
    fn restart(&mut self, section: Section) {
        // Of a second list of instances only too much would be known, which costs nothing but a look.
        if section == Section::Resources {
            *self = Self::default();
        }
    }

    fn instance(&mut self, wire: &InstanceWire<'_>, _: (usize, usize), _: &mut Sink) {
        for text in strings(wire.dependencies).chain(strings(wire.depends_on)) {
            self.mention(&text);
        }
    }

    fn resource(&mut self, _: &Head, _: usize, _: &mut Sink) -> Flow {
        self.at += 1;
        Flow::On
    }
}

#[cfg(test)]
mod tests;
