//! Format 3 to 4: entries of one module become resources with instances.

use std::borrow::Cow;
use std::collections::HashMap;

use groundstate_states::addr::{AbsResource, InstanceKey, Module, ModuleInstance, ProviderConfig, Resource};
use groundstate_states::{DeposedKey, Extra};

use super::address;
use super::v3_to_v4::{Context, ObjectParts, ResourceParts};
use crate::json::Str;
use crate::wire::legacy::{Member, sort_keeping_last};
use crate::wire::v2;

/// Members of a resource of format 4.
const KNOWN: [&str; 7] = ["module", "mode", "type", "name", "each", "provider", "instances"];

/// The resources of one module while their entries come in.
pub(super) struct ModuleResources<'c, 's, 'a> {
    context: &'c mut Context<'s>,
    address: &'c ModuleInstance,
    module: Module,
    /// Configurations by the text that names them.
    providers: HashMap<String, ProviderConfig>,
    groups: HashMap<Resource, Group<'a>>,
    resources: Vec<ResourceParts>,
}

/// The entries of one resource.
struct Group<'a> {
    /// Index of the resource.
    index: usize,
    /// What names the provider of the first entry.
    provider: Cow<'a, str>,
}

impl<'c, 's, 'a> ModuleResources<'c, 's, 'a> {
    pub(super) fn new(context: &'c mut Context<'s>, address: &'c ModuleInstance) -> Self {
        let module = address.to_config();
        let (providers, groups) = (HashMap::new(), HashMap::new());
        Self { context, address, module, providers, groups, resources: Vec::new() }
    }

    /// Goes through the entries in the order of their legacy addresses, so that the first of a resource is always
    /// the same one. Terraform takes them in random order.
    pub(super) fn upgrade(mut self, old: Vec<(Str<'a>, v2::Resource<'a>)>) -> Vec<ResourceParts> {
        let mut named: Vec<_> = old.into_iter().map(|(name, entry)| (name.decode(), name, entry)).collect();
        if let Some(twice) = sort_keeping_last(&mut named, |item| &item.0) {
            let kept = named.iter().find(|item| item.0 == twice).map(|item| item.1);
            self.context.stands_twice("resource", &twice, kept);
        }
        for (text, name, entry) in named {
            let mark = self.context.sink.len();
            match address::resource(&text) {
                Ok((resource, key)) => self.entry(&resource, &key, name.offset, entry),
                Err(why) => self.context.problem(name.offset, why),
            }
            let address = self.address;
            self.context.sink.name_since(mark, || match address.is_root() {
                true => text.to_string(),
                false => format!("{address}.{text}"),
            });
        }
        self.resources
    }

    fn entry(&mut self, resource: &Resource, key: &InstanceKey, offset: usize, entry: v2::Resource<'a>) {
        self.context.depends_on(&entry.depends_on);
        if entry.type_name.is_some_and(|text| !text.raw.is_empty() && *text.decode() != *resource.type_name) {
            self.context.tally.dropped(offset, "types of resources whose address says otherwise");
        }
        let own = entry.provider.filter(|text| !text.raw.is_empty());
        let provider = match own {
            Some(text) => text.decode(),
            None => Cow::Owned(address::implied_provider(&resource.type_name).to_owned()),
        };
        let provider_offset = own.map_or(offset, |text| text.offset);
        let index = match self.groups.get(resource) {
            Some(group) => {
                let index = group.index;
                if group.provider != provider {
                    self.compare_provider(index, &provider, provider_offset);
                }
                index
            }
            None => {
                let index = self.resources.len();
                let address = AbsResource { module: self.address.clone(), resource: resource.clone() };
                let config = self.provider(&provider, provider_offset);
                let (objects, extra) = (Vec::new(), Extra::default());
                self.resources.push(ResourceParts { address, offset, provider: config, objects, extra });
                self.groups.insert(resource.clone(), Group { index, provider });
                index
            }
        };
        self.objects(index, key, entry);
    }

    /// A resource of format 4 has one provider: that of its first entry.
    fn compare_provider(&mut self, index: usize, text: &str, offset: usize) {
        let Some(other) = self.provider(text, offset) else { return };
        if let Some(first) = self.resources.get(index)
            && first.provider.as_ref().is_some_and(|provider| *provider != other)
        {
            let what =
                format!("providers of {} that differ from the one of its first instance", first.address);
            self.context.tally.dropped(offset, &what);
        }
    }

    fn provider(&mut self, text: &str, offset: usize) -> Option<ProviderConfig> {
        if let Some(known) = self.providers.get(text) {
            return Some(known.clone());
        }
        match address::provider(text, &self.module, self.context.host) {
            Ok(config) => {
                self.providers.insert(text.to_owned(), config.clone());
                Some(config)
            }
            Err(why) => {
                self.context.problem(offset, why);
                None
            }
        }
    }

    fn objects(&mut self, index: usize, key: &InstanceKey, entry: v2::Resource<'_>) {
        let Some(target) = self.resources.get_mut(index) else { return };
        let Context { sink, tally, objects, .. } = &mut *self.context;
        // Unknown members of the entry go with its first object; without one they stay with the resource.
        let mut extra: &[Member<'_>] = &entry.extra;
        if entry.primary.is_none() && entry.deposed.is_empty() {
            for (name, raw) in tally.carry(extra, &KNOWN, "resources").iter() {
                target.extra.push(name, raw.clone());
            }
        }
        let primary = entry.primary.into_iter().map(|old| (old, None));
        let deposed = entry.deposed.into_iter().zip(1..).map(|(old, number)| (old, Some(number)));
        for (old, number) in primary.chain(deposed) {
            let offset = old.offset;
            let object = objects.build(old, std::mem::take(&mut extra), tally, sink);
            let deposed = number.map(DeposedKey::from_number);
            target.objects.push(ObjectParts { key: key.clone(), deposed, object, offset });
        }
    }
}
