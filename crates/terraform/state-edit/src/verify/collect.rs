//! Collects facts and judges single parts while the document is walked.

use groundstate_states::addr::{AbsResource, InstanceKey, ModuleInstance, ProviderConfig, ProviderInstance};

use super::facts::{Facts, ObjectFact, ProviderFact, ResourceFact};
use super::finding::Draft;
use super::members::{self, Level, offset_in};
use super::rule::Rule;
use super::{objects, outputs};
use groundstate_statefile::Dialect;
use groundstate_statefile::WriterVersion;
use groundstate_statefile::walk::{
    Flow, Head, HeaderText, InstanceWire, OutputWire, READ_WITH, Section, Sink, Visitor, module_address,
    object_key, provider_address, resource_address, strings, walk,
};

/// What was collected.
pub(super) struct Collected {
    pub(super) facts: Facts,
    pub(super) drafts: Vec<Draft>,
    /// Problems and notes on the parts that were walked.
    pub(super) sink: Sink,
}

/// Walks a document of format 4 as far as it goes.
pub(super) fn collect(text: &[u8], dialect: Option<Dialect>) -> Collected {
    let mut sink = Sink::default();
    let mut collector = Collector::new(text, dialect);
    let complete = walk(text, &mut collector, &mut sink);
    let Collector { mut facts, mut out, of_outputs, of_resources, unreadable, .. } = collector;
    out.extend(of_outputs);
    out.extend(of_resources);
    // `version` may appear twice, which is a problem, but hides nothing of the document.
    facts.complete = complete && !unreadable;
    Collected { facts, drafts: out, sink }
}

struct Collector<'t> {
    text: &'t [u8],
    dialect: Option<Dialect>,
    facts: Facts,
    out: Vec<Draft>,
    of_outputs: Vec<Draft>,
    of_resources: Vec<Draft>,
    /// Findings on objects of the resource at hand, whose address may follow later.
    pending: Vec<(Draft, Option<InstanceKey>)>,
    /// Providers that its instances name themselves: the first one, where it stands, and how many there are.
    own_provider: Option<(String, usize, usize)>,
    /// Where its objects and dependencies begin in the facts.
    first: (usize, usize),
    module: (String, ModuleInstance),
    providers: std::collections::HashMap<String, Option<usize>>,
    legacy: bool,
    /// A resource has no address that can be read.
    unreadable: bool,
    /// The resource at hand has instances.
    has_instances: bool,
}

impl<'t> Collector<'t> {
    fn new(text: &'t [u8], dialect: Option<Dialect>) -> Self {
        Self {
            text,
            dialect,
            facts: Facts::default(),
            out: Vec::new(),
            of_outputs: Vec::new(),
            of_resources: Vec::new(),
            pending: Vec::new(),
            own_provider: None,
            first: (0, 0),
            module: (String::new(), ModuleInstance::root()),
            providers: std::collections::HashMap::new(),
            legacy: false,
            unreadable: false,
            has_instances: false,
        }
    }

    /// Keeps each target of the resource once.
    fn dependencies(&mut self, wire: &InstanceWire<'_>) {
        for text in strings(wire.dependencies) {
            let target = self.facts.targets.intern(&text.decode());
            self.facts.dependencies.push((target, text.offset));
        }
    }

    fn settle_dependencies(&mut self) {
        let known = self.facts.dependencies.split_off(self.first.1);
        let mut mine = known;
        mine.sort_unstable();
        mine.dedup_by_key(|(target, _)| *target);
        self.facts.dependencies.append(&mut mine);
    }

    fn module(&mut self, head: &Head) -> Option<ModuleInstance> {
        if self.module.0 != head.module.value {
            let module = module_address(&head.module, &mut Sink::default())?;
            self.module = (head.module.value.clone(), module);
        }
        Some(self.module.1.clone())
    }

    /// The position of the resource's provider.
    fn provider(&mut self, head: &Head) -> Option<usize> {
        let (text, offset) = match &self.own_provider {
            Some((text, offset, _)) => (text.clone(), *offset),
            None => (head.provider.value.clone(), head.provider.offset),
        };
        if text.is_empty() {
            return None;
        }
        if let Some(&known) = self.providers.get(&text) {
            return known;
        }
        let config: Option<ProviderConfig> = match self.own_provider {
            Some(_) => ProviderInstance::parse(&text, READ_WITH).ok().map(|provider| provider.config),
            None => provider_address(&head.provider, &mut Sink::default()),
        };
        let host = self.dialect.unwrap_or(Dialect::Terraform).default_registry();
        let position = config.map(|config| {
            let config = ProviderConfig { source: config.source.read_with(host), ..config };
            self.facts.providers.push(ProviderFact { text: text.clone(), config, offset, resources: 0 });
            self.facts.providers.len() - 1
        });
        self.providers.insert(text, position);
        position
    }

    /// The rule on instances that name their provider themselves.
    fn own_provider(&mut self, head: &Head, address: Option<&str>) {
        let Some((_, offset, count)) = &self.own_provider else { return };
        if !head.provider.value.is_empty() {
            // Then Terraform has an address it can read, and only drops those of the instances.
            let message = "Terraform drops the \"provider\" of instances, and uses that of the resource";
            let draft = Draft::new(Rule::OpenTofuMember, *offset, message);
            self.of_resources.push(Draft { address: address.map(str::to_owned), ..draft });
            return;
        }
        let instances =
            if *count == 1 { "its instance names".to_owned() } else { format!("its {count} instances name") };
        let shown = address.unwrap_or("this resource");
        let message =
            format!("Terraform cannot read {shown} and deletes it, because {instances} the provider");
        let draft = Draft::new(Rule::InstanceProvider, *offset, message);
        self.of_resources.push(Draft { address: address.map(str::to_owned), ..draft });
    }
}

impl Visitor for Collector<'_> {
    fn serial(&mut self, serial: u64) {
        self.facts.serial = serial;
    }

    fn text(&mut self, which: HeaderText, text: &str, _: usize, _: &mut Sink) {
        match which {
            HeaderText::Lineage => text.clone_into(&mut self.facts.lineage),
            HeaderText::TerraformVersion => {
                text.clone_into(&mut self.facts.writer);
                self.legacy = WriterVersion::parse(text).is_ok_and(|writer| !writer.at_least(0, 13));
            }
        }
    }

    fn restart(&mut self, section: Section) {
        match section {
            Section::Outputs => {
                self.facts.outputs = 0;
                self.of_outputs.clear();
            }
            Section::Resources => {
                self.facts.resources.clear();
                self.facts.objects.clear();
                self.facts.dependencies.clear();
                self.facts.providers.clear();
                self.providers.clear();
                self.of_resources.clear();
                self.first = (0, 0);
                self.unreadable = false;
            }
            Section::Instances => {
                self.facts.objects.truncate(self.first.0);
                self.facts.dependencies.truncate(self.first.1);
                self.pending.clear();
                self.own_provider = None;
                self.has_instances = false;
            }
            Section::Checks => {}
        }
    }

    fn output(&mut self, wire: &OutputWire<'_>, _: &mut Sink) -> Flow {
        let text = self.text;
        self.facts.outputs += 1;
        outputs::check(wire, text, &mut self.of_outputs);
        if !wire.extra.is_empty() {
            let address = format!("output.{}", wire.name.decode());
            let value = wire.name.offset + wire.name.raw.len() + 2;
            let start = text.iter().skip(value).position(|b| *b == b'{').map_or(value, |at| value + at);
            let out = &mut self.of_outputs;
            members::unknown_in(text, start, Level::Output, |name, offset| {
                out.push(members::unknown(Level::Output, name, offset).of(&address));
            });
        }
        Flow::On
    }

    fn instance(&mut self, wire: &InstanceWire<'_>, _: (usize, usize), sink: &mut Sink) {
        let text = self.text;
        let mut drafts = Vec::new();
        self.has_instances = true;
        objects::check(wire, self.legacy, text, &mut drafts);
        if !wire.extra.is_empty() {
            members::unknown_in(text, wire.offset, Level::Instance, |name, offset| {
                drafts.push(members::unknown(Level::Instance, name, offset));
            });
        }
        if let Some(provider) = wire.provider.filter(|provider| !provider.raw.is_empty()) {
            let decoded = || (provider.decode().into_owned(), provider.offset, 0);
            self.own_provider.get_or_insert_with(decoded).2 += 1;
        }
        self.dependencies(wire);
        let key = object_key(wire, sink).map(|(key, _)| key);
        if let Some(key) = &key {
            self.facts.objects.push(ObjectFact { key: key.clone(), offset: wire.offset });
        }
        self.pending.extend(drafts.into_iter().map(|draft| (draft, key.clone())));
    }

    fn resource(&mut self, head: &Head, _: usize, _: &mut Sink) -> Flow {
        self.settle_dependencies();
        let module = self.module(head);
        let resource = resource_address(head, &mut Sink::default());
        let address = module.zip(resource).map(|(module, resource)| AbsResource { module, resource });
        let shown = address.as_ref().map(ToString::to_string);
        for (draft, key) in self.pending.drain(..) {
            let address = shown.as_ref().map(|shown| format!("{shown}{}", key.unwrap_or_default()));
            self.of_resources.push(Draft { address, ..draft });
        }
        if !head.extra.is_empty() {
            let out = &mut self.of_resources;
            members::unknown_in(self.text, head.offset, Level::Resource, |name, offset| {
                let draft = members::unknown(Level::Resource, name, offset);
                out.push(Draft { address: shown.clone(), ..draft });
            });
        }
        self.own_provider(head, shown.as_deref());
        let provider = self.provider(head);
        if let Some(provider) = provider.and_then(|at| self.facts.providers.get_mut(at)) {
            provider.resources += 1;
        }
        let (objects, dependencies) = (self.facts.objects.len(), self.facts.dependencies.len());
        match address {
            Some(address) => self.facts.resources.push(ResourceFact {
                address,
                offset: head.offset,
                provider,
                has_instances: self.has_instances,
                objects: self.first.0..objects,
                dependencies: self.first.1..dependencies,
            }),
            None => self.unreadable = true,
        }
        self.first = (objects, dependencies);
        self.own_provider = None;
        self.has_instances = false;
        Flow::On
    }

    fn unknown(&mut self, name: &str, raw: &[u8]) {
        let offset = offset_in(self.text, raw);
        self.out.push(members::unknown(Level::Document, name, offset));
    }

    fn member(&mut self, name: &str, (start, _): (usize, usize)) -> Flow {
        self.facts.members.push((name.to_owned(), start));
        Flow::On
    }
}
