//! The parts of a state that an operation works on: loaded when they are asked for, kept when they change.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use groundstate_states::addr::{self, AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, Target};
use groundstate_states::{Resource, ResourceInstance, State};

use super::lookup::Lookup;
use super::mentions::{self, Mentions};
use super::word_search::Words;
use groundstate_statefile::Document;
use groundstate_statefile::File;
use groundstate_statefile::ReadError;
use groundstate_statefile::ResourceEntry;

/// Where the parts come from.
#[derive(Debug)]
pub(super) enum Source<'d> {
    /// A document.
    Document(&'d Document),
    /// A model.
    File(&'d File),
}

/// Resources that were changed; nothing for those that are gone.
pub(super) type Changed = BTreeMap<AbsResource, Option<Arc<Resource>>>;

/// So many searches for words take less time together than reading the dependencies of all instances once.
const SEARCHES: usize = 4;

/// A state seen through the changes made so far.
#[derive(Debug)]
pub(super) struct WorkingSet<'d> {
    pub(super) source: Source<'d>,
    pub(super) changed: Changed,
    /// The addresses that changed, some of them not any more, by what they are called inside their module.
    changed_by_name: HashMap<addr::Resource, BTreeSet<AbsResource>>,
    mentions: OnceLock<Mentions>,
    /// How many pairs of words the document has been searched for.
    searched: usize,
    /// Who depends on what by the changed parts, now or before they changed again.
    new_mentions: HashMap<ConfigResource, BTreeSet<AbsResource>>,
    /// Changed parts that are not in there as they are now.
    unread: BTreeSet<AbsResource>,
    /// The addresses of the source by what they are called inside their module.
    by_name: OnceLock<HashMap<addr::Resource, Vec<AbsResource>>>,
    /// All resources there are now, for patterns.
    lookup: OnceLock<Lookup>,
}

impl<'d> WorkingSet<'d> {
    pub(super) fn new(source: Source<'d>) -> Self {
        Self {
            source,
            changed: Changed::new(),
            changed_by_name: HashMap::new(),
            mentions: OnceLock::new(),
            searched: 0,
            new_mentions: HashMap::new(),
            unread: BTreeSet::new(),
            by_name: OnceLock::new(),
            lookup: OnceLock::new(),
        }
    }

    /// The entries of a resource in the document.
    fn entries(document: &'d Document, address: &AbsResource) -> Vec<&'d ResourceEntry> {
        let all = document.entries();
        let before = |at: &usize| all.get(*at).is_some_and(|entry| entry.address() < address);
        let order = document.entries_in_list_order();
        let first = order.partition_point(before);
        let rest = order.iter().skip(first).filter_map(|at| all.get(*at));
        rest.take_while(|entry| entry.address() == address).collect()
    }

    /// The resource before any change.
    pub(super) fn original(&self, address: &AbsResource) -> Result<Option<Arc<Resource>>, ReadError> {
        match &self.source {
            Source::File(file) => Ok(shared(&file.state, address)),
            Source::Document(document) => {
                let entries = Self::entries(document, address);
                Ok(document.decode_entries(address, &entries)?.map(Arc::new))
            }
        }
    }

    /// The resource as it is now.
    pub(super) fn resource(&self, address: &AbsResource) -> Result<Option<Arc<Resource>>, ReadError> {
        match self.changed.get(address) {
            Some(changed) => Ok(changed.clone()),
            None => self.original(address),
        }
    }

    /// The resource for changes.
    pub(super) fn edit(&mut self, address: &AbsResource) -> Result<Option<&mut Resource>, ReadError> {
        self.unread.insert(address.clone());
        if !self.changed.contains_key(address) {
            let Some(original) = self.original(address)? else { return Ok(None) };
            self.change(address.clone(), Some(original));
        }
        Ok(self.changed.get_mut(address).and_then(Option::as_mut).map(Arc::make_mut))
    }

    /// Puts a resource at an address, or removes it.
    pub(super) fn put(&mut self, address: AbsResource, resource: Option<Arc<Resource>>) {
        self.unread.insert(address.clone());
        if let Some(lookup) = self.lookup.get_mut() {
            match &resource {
                Some(_) => lookup.insert(address.clone()),
                None => lookup.remove(&address),
            }
        }
        self.change(address, resource);
    }

    fn change(&mut self, address: AbsResource, resource: Option<Arc<Resource>>) {
        self.changed_by_name.entry(address.resource.clone()).or_default().insert(address.clone());
        self.changed.insert(address, resource);
    }

    /// Goes back to earlier changes.
    pub(super) fn restore(&mut self, changed: Changed) {
        self.unread.extend(changed.keys().cloned());
        self.changed = changed;
        self.lookup = OnceLock::new();
    }

    /// The keys of a resource's instances, sorted; nothing if there is no such resource. Decodes nothing.
    pub(super) fn keys(&self, address: &AbsResource) -> Option<Vec<InstanceKey>> {
        let model = |resource: &Resource| resource.instances.keys().cloned().collect();
        if let Some(changed) = self.changed.get(address) {
            return changed.as_deref().map(model);
        }
        match &self.source {
            Source::File(file) => file.state.resource(address).map(model),
            Source::Document(document) => {
                let entries = Self::entries(document, address);
                let mut keys: Vec<_> =
                    entries.iter().flat_map(|entry| document.keys_of(entry)).cloned().collect();
                keys.sort();
                keys.dedup();
                (!entries.is_empty()).then_some(keys)
            }
        }
    }

    pub(super) fn has(&self, address: &AbsResource) -> bool {
        match self.changed.get(address) {
            Some(changed) => changed.is_some(),
            None => self.source_has(address),
        }
    }

    fn source_has(&self, address: &AbsResource) -> bool {
        match &self.source {
            Source::File(file) => file.state.resource(address).is_some(),
            Source::Document(document) => !Self::entries(document, address).is_empty(),
        }
    }

    pub(super) fn has_instance(&self, address: &AbsResourceInstance) -> bool {
        self.keys(&address.resource).is_some_and(|keys| keys.binary_search(&address.key).is_ok())
    }

    /// Returns `true` if the state has the instance, the resource, or anything in the module.
    pub(super) fn has_target(&self, target: &Target) -> bool {
        match target {
            Target::Module(module) => {
                let mut inside = self.lookup().inside(module).into_iter();
                inside
                    .any(|address| module.contains(&address.module) || module.is_ancestor_of(&address.module))
            }
            Target::Resource(resource) => self.has(resource),
            Target::Instance(instance) => self.has_instance(instance),
        }
    }

    /// The instance as it is now.
    pub(super) fn instance(
        &self,
        address: &AbsResourceInstance,
    ) -> Result<Option<ResourceInstance>, ReadError> {
        Ok(self
            .resource(&address.resource)?
            .and_then(|resource| resource.instances.get(&address.key).cloned()))
    }

    /// The resources there are now, by names and modules.
    pub(super) fn lookup(&self) -> &Lookup {
        self.lookup.get_or_init(|| Lookup::of(self.addresses()))
    }

    /// Every resource there is now, in the order of lists.
    pub(super) fn addresses(&self) -> Vec<AbsResource> {
        let mut found = self.source_addresses();
        if !self.changed.is_empty() {
            found.retain(|address| !self.changed.contains_key(address));
            let changed = self.changed.iter().filter(|(_, resource)| resource.is_some());
            found.extend(changed.map(|(address, _)| address.clone()));
            found.sort();
        }
        found
    }

    fn source_addresses(&self) -> Vec<AbsResource> {
        match &self.source {
            Source::File(file) => {
                let all = file.state.all_resources();
                all.map(|(module, name, _)| name.clone().absolute(module.clone())).collect()
            }
            Source::Document(document) => {
                let order = document.entries_in_list_order().iter();
                let all = order.filter_map(|at| document.entries().get(*at));
                let mut found: Vec<_> = all.map(|entry| entry.address().clone()).collect();
                found.dedup();
                found
            }
        }
    }

    /// The resources of the configuration's resource that are there now, without order.
    pub(super) fn expansions(&self, config: &ConfigResource) -> Vec<AbsResource> {
        let by_name = self.by_name.get_or_init(|| {
            let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
            for address in self.source_addresses() {
                by_name.entry(address.resource.clone()).or_default().push(address);
            }
            by_name
        });
        let of_source = by_name.get(&config.resource).into_iter().flatten();
        let unchanged = of_source.filter(|address| !self.changed.contains_key(*address));
        let changed = self.changed_by_name.get(&config.resource).into_iter().flatten();
        let is_there = |address: &&AbsResource| self.changed.get(*address).is_some_and(Option::is_some);
        let all = unchanged.chain(changed.filter(is_there));
        all.filter(|address| config.module.is_module_of(&address.module)).cloned().collect()
    }

    fn mentions(&self) -> &Mentions {
        self.mentions.get_or_init(|| match &self.source {
            Source::File(file) => Mentions::of_state(&file.state),
            Source::Document(document) => Mentions::of_document(document),
        })
    }

    /// The mentions of all addresses that have one of these pairs of words: those that are known, or those that a search
    /// finds while that is quicker.
    fn mentions_with(&mut self, words: &BTreeSet<Words<'_>>) -> Cow<'_, Mentions> {
        let left = SEARCHES.saturating_sub(self.searched);
        match &self.source {
            Source::Document(document) if self.mentions.get().is_none() && words.len() <= left => {
                self.searched += words.len();
                Cow::Owned(Mentions::of_words(document, words))
            }
            _ => Cow::Borrowed(self.mentions()),
        }
    }

    /// Resources of which an object may depend on one of these. Some may have done so before they changed.
    pub(super) fn mentioning<'c>(
        &mut self,
        wanted: impl IntoIterator<Item = &'c ConfigResource>,
    ) -> BTreeSet<AbsResource> {
        self.read_changes();
        let wanted: Vec<&ConfigResource> = wanted.into_iter().collect();
        let mut found = BTreeSet::new();
        for config in &wanted {
            found.extend(self.new_mentions.get(*config).into_iter().flatten().cloned());
        }
        let mentions = self.mentions_with(&words(&wanted));
        found.extend(wanted.into_iter().flat_map(|config| mentions.of(config)).cloned());
        found
    }

    /// The same for all that the predicate picks, of which each has one of these pairs of words.
    pub(super) fn mentioning_any(
        &mut self,
        words: &BTreeSet<Words<'_>>,
        pick: &dyn Fn(&ConfigResource) -> bool,
    ) -> BTreeSet<AbsResource> {
        self.read_changes();
        let changed = self.new_mentions.iter().filter(|(config, _)| pick(config)).flat_map(|(_, by)| by);
        let mut found: BTreeSet<AbsResource> = changed.cloned().collect();
        let mentions = self.mentions_with(words);
        found.extend(mentions.all().filter(|(config, _)| pick(config)).flat_map(|(_, by)| by).cloned());
        found
    }

    /// Takes up what the parts depend on that changed since the last time.
    fn read_changes(&mut self) {
        for address in std::mem::take(&mut self.unread) {
            if let Some(Some(resource)) = self.changed.get(&address) {
                for config in mentions::in_resource(resource) {
                    self.new_mentions.entry(config).or_default().insert(address.clone());
                }
            }
        }
    }
}

/// Words that all of these have: of the resources themselves, or of the modules they are in where there are too many
/// resources to search for.
fn words<'c>(wanted: &[&'c ConfigResource]) -> BTreeSet<Words<'c>> {
    let of_resources: BTreeSet<_> = wanted.iter().map(|config| Words::of_resource(config)).collect();
    let calls: Option<BTreeSet<_>> =
        wanted.iter().map(|config| config.module.steps().last().map(|name| Words::of_call(name))).collect();
    match calls {
        Some(calls) if of_resources.len() > SEARCHES => calls,
        _ => of_resources,
    }
}

fn shared(state: &State, address: &AbsResource) -> Option<Arc<Resource>> {
    state.module(&address.module)?.resources.get(&address.resource).map(Arc::clone)
}
