//! Where everything stands in a document of format 4, without building the model.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use groundstate_states::DeposedKey;
use groundstate_states::addr::{AbsResource, InstanceKey, ModuleInstance, ProviderInstance};

use crate::checks;
use crate::decode::{READ_WITH, module_address, provider_address, resource_address, writer_version};
use crate::dialect::{Dialect, Traces};
use crate::instance::{self, ObjectKey, object_key};
use crate::json::{Cursor, Stop};
use crate::output_value;
use crate::problem::Code;
use crate::shared::{can_follow, read};
use crate::sink::Sink;
use crate::walk::{Flow, Head, HeaderText, OutputWire, Section, Text, Visitor};
use crate::wire::v4::InstanceWire;
use crate::writer_version::WriterVersion;

/// The ranges of a document's parts.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) serial: u64,
    pub(crate) lineage: String,
    pub(crate) writer: Option<WriterVersion>,
    pub(crate) traces: Traces,
    /// Names and values of the known members at the top, in their order.
    pub(crate) members: Vec<(String, Range<usize>)>,
    /// Members `outputs` in front of the last one, which readers add to it.
    pub(crate) earlier_outputs: Vec<Range<usize>>,
    /// Each output's name and value.
    pub(crate) outputs: Vec<(Arc<str>, Range<usize>)>,
    pub(crate) resources: Vec<ResourceEntry>,
    pub(crate) objects: Vec<ObjectEntry>,
}

/// The resources of an [`Index`] in the order of lists.
#[derive(Debug)]
pub(crate) struct Order {
    /// Their positions in [`Index::resources`].
    pub(crate) positions: Vec<usize>,
    /// Whether a resource stands in several entries.
    repeated: bool,
}

/// One element of `resources` in the text of a [`Document`](crate::Document).
#[derive(Debug)]
pub struct ResourceEntry {
    pub(crate) address: AbsResource,
    pub(crate) span: Range<usize>,
    /// Its objects, as positions in [`Index::objects`].
    pub(crate) objects: Range<usize>,
}

/// One element of `instances`.
pub(crate) struct ObjectEntry {
    pub(crate) key: InstanceKey,
    pub(crate) deposed: Option<DeposedKey>,
    pub(crate) span: Range<usize>,
    /// The `id` that lists filter by; only collected when asked for.
    pub(crate) id: Option<Box<str>>,
}

impl fmt::Debug for ObjectEntry {
    /// Leaves the id out: it is an attribute.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, deposed, span, id: _ } = self;
        f.debug_struct("ObjectEntry").field("key", key).field("deposed", deposed).field("span", span).finish()
    }
}

impl ResourceEntry {
    /// The address it has; a resource may stand in several entries.
    pub fn address(&self) -> &AbsResource {
        &self.address
    }

    /// The bytes of the document's text that it takes.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

impl Index {
    /// Whose rules the document follows.
    pub(crate) fn dialect(&self) -> Dialect {
        self.traces.dialect(self.writer.as_ref())
    }

    /// The resources in the order of lists.
    pub(crate) fn in_list_order(&self) -> Order {
        self.order((0..self.resources.len()).collect())
    }

    /// The same from positions that are partly in order, which takes less time.
    pub(crate) fn order(&self, mut positions: Vec<usize>) -> Order {
        let entries = &self.resources;
        positions.sort_by_key(|&at| entries.get(at).map(|entry| &entry.address));
        let address = |at: usize| entries.get(at).map(|entry| &entry.address);
        let repeated = positions.windows(2).any(|pair| matches!(pair, &[a, b] if address(a) == address(b)));
        Order { positions, repeated }
    }

    /// The objects of a resource.
    pub(crate) fn objects_of(&self, entry: &ResourceEntry) -> &[ObjectEntry] {
        self.objects.get(entry.objects.clone()).unwrap_or_default()
    }

    /// Every instance once, in the order of lists: its resource, its key and the id of its current object.
    pub(crate) fn instances(&self, order: &Order) -> Vec<(&AbsResource, &InstanceKey, Option<&str>)> {
        let mut out = Vec::with_capacity(self.objects.len());
        let mut sorted = !order.repeated;
        for entry in order.positions.iter().filter_map(|&at| self.resources.get(at)) {
            let objects = self.objects_of(entry);
            sorted = sorted && objects.is_sorted_by(|a, b| a.key <= b.key);
            out.extend(objects.iter().map(|object| {
                let id = object.id.as_deref().filter(|_| object.deposed.is_none());
                (&entry.address, &object.key, id)
            }));
        }
        // Only a resource with unsorted objects or in two entries needs this: then the current object comes first.
        if !sorted {
            out.sort_by(|a, b| (a.0, a.1, a.2.is_none()).cmp(&(b.0, b.1, b.2.is_none())));
        }
        out.dedup_by(|b, a| {
            let same = (std::ptr::eq(a.0, b.0) || order.repeated && a.0 == b.0) && a.1 == b.1;
            if same {
                a.2 = a.2.or(b.2);
            }
            same
        });
        out
    }
}

impl Index {
    /// Adds what a later part of the same document holds; `None` if a member at the top stands in both.
    pub(crate) fn append(mut self, later: Self) -> Option<Self> {
        if later.members.iter().any(|(name, _)| self.members.iter().any(|(known, _)| known == name)) {
            return None;
        }
        let shift = self.objects.len();
        self.objects.extend(later.objects);
        self.resources.extend(later.resources.into_iter().map(|mut entry| {
            entry.objects = entry.objects.start + shift..entry.objects.end + shift;
            entry
        }));
        self.members.extend(later.members);
        self.earlier_outputs.extend(later.earlier_outputs);
        self.outputs.extend(later.outputs);
        self.traces.append(&later.traces);
        Some(self)
    }

    /// Reads a flawless document with several threads, and gives its resources in the order of lists too; nothing if it is none, or
    /// is not worth them.
    pub(crate) fn shared(text: &[u8], threads: usize) -> Option<(Self, Order)> {
        let append = |whole: &mut Indexer, part: Indexer| {
            if !can_follow(part.index.names(), whole.index.names()) {
                return None;
            }
            whole.index = std::mem::take(&mut whole.index).append(part.index)?;
            Some(())
        };
        let (Indexer { mut index, .. }, _) = read(text, threads, || Indexer::new(false), append)?;
        // What its references mean, only the part with the header knew.
        if index.writer.as_ref().is_some_and(|writer| !writer.at_least(0, 13)) {
            return None;
        }
        let span = index.span_of_resources(text)?;
        // Members that follow begin behind it.
        let at = index.members.iter().take_while(|(_, before)| before.start < span.start).count();
        index.members.insert(at, ("resources".to_owned(), span));
        let (order, mut sink) = (index.in_list_order(), Sink::default());
        index.check_entries(&order, &mut sink);
        sink.is_clean().then_some((index, order))
    }

    /// The names of the known members at the top.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| &**name)
    }

    /// The member `resources`, from its name to the end of its list, around the resources that were found in it.
    fn span_of_resources(&self, text: &[u8]) -> Option<Range<usize>> {
        let (first, last) = (self.resources.first()?, self.resources.last()?);
        let before = text.get(..first.span.start)?.trim_ascii_end().strip_suffix(b"[")?.trim_ascii_end();
        let before = before.strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"resources\"")?;
        let behind = text.get(last.span.end..)?.trim_ascii_start().strip_prefix(b"]")?;
        Some(before.len()..text.len() - behind.len())
    }

    /// Reports objects that appear twice in different entries of one resource.
    pub(crate) fn check_entries(&self, order: &Order, sink: &mut Sink) {
        if !order.repeated {
            return;
        }
        let entries: Vec<_> = order.positions.iter().filter_map(|&at| self.resources.get(at)).collect();
        for same in entries.chunk_by(|a, b| a.address == b.address).filter(|same| same.len() > 1) {
            let objects = same.iter().flat_map(|entry| self.objects_of(entry)).collect();
            if let Some(entry) = same.first() {
                duplicates(&entry.address, objects, sink);
            }
        }
    }
}

/// Fills an [`Index`] and checks all that [`crate::decode`] checks.
#[derive(Debug)]
pub(crate) struct Indexer {
    pub(crate) index: Index,
    /// Collects the `id` of each object.
    with_ids: bool,
    /// Objects of the resource that is being read begin here.
    first: usize,
    module: (String, ModuleInstance),
    /// Provider texts that have been read, and whether they can be.
    providers: HashMap<String, bool>,
    /// The providers that instances of the current resource name, with their places.
    named: Vec<(ProviderInstance, usize)>,
    /// The first instance of the current resource that names none.
    unnamed: Option<usize>,
}

impl Indexer {
    pub(crate) fn new(with_ids: bool) -> Self {
        Self {
            index: Index::default(),
            with_ids,
            first: 0,
            module: (String::new(), ModuleInstance::root()),
            providers: HashMap::new(),
            named: Vec::new(),
            unnamed: None,
        }
    }

    fn module(&mut self, text: &Text, sink: &mut Sink) -> Option<ModuleInstance> {
        if self.module.0 != text.value {
            self.module = (text.value.clone(), module_address(text, sink)?);
        }
        Some(self.module.1.clone())
    }

    fn provider_is_fine(&mut self, head: &Head, sink: &mut Sink) {
        let own = !head.provider.value.is_empty();
        if own && self.providers.get(&head.provider.value) != Some(&true) {
            let provider = provider_address(&head.provider, sink);
            self.providers.insert(head.provider.value.clone(), provider.is_some());
            if let Some(provider) = provider {
                self.index.traces.provider(&provider);
            }
        }
        let unnamed = self.unnamed.take();
        if !own && (unnamed.is_some() || self.named.is_empty()) {
            let why = "there is no provider; add the member \"provider\"";
            sink.problem_at(Code::ProviderMissing, unnamed.unwrap_or(head.offset), why);
        }
        let mut named = self.named.drain(..);
        if let Some((first, _)) = named.next()
            && let Some((other, at)) = named.find(|(other, _)| other.config != first.config)
        {
            let why = format!("instances name different providers, {} and {}", first.config, other.config);
            sink.problem_at(Code::ProviderConflict, at, why);
        }
    }
}

impl Visitor for Indexer {
    fn serial(&mut self, serial: u64) {
        self.index.serial = serial;
    }

    fn text(&mut self, which: HeaderText, text: &str, offset: usize, sink: &mut Sink) {
        match which {
            HeaderText::Lineage => text.clone_into(&mut self.index.lineage),
            HeaderText::TerraformVersion => self.index.writer = writer_version(text, offset, sink),
        }
    }

    fn restart(&mut self, section: Section) {
        match section {
            Section::Outputs => self.index.outputs.clear(),
            Section::Resources => {
                self.index.resources.clear();
                self.index.objects.clear();
                self.first = 0;
            }
            Section::Instances => {
                self.index.objects.truncate(self.first);
                self.named.clear();
                self.unnamed = None;
            }
            Section::Checks => {}
        }
    }

    fn output(&mut self, wire: &OutputWire<'_>, sink: &mut Sink) -> Flow {
        let name = wire.name.decode();
        output_value::decode(wire, sink);
        self.index.traces.output(wire);
        sink.name_from(sink.base + wire.name.offset, || format!("output.{name}"));
        let span = sink.base + wire.span.0..sink.base + wire.span.1;
        self.index.outputs.push((Arc::from(&*name), span));
        Flow::On
    }

    fn instance(&mut self, wire: &InstanceWire<'_>, span: (usize, usize), sink: &mut Sink) {
        let legacy = self.index.writer.as_ref().is_some_and(|writer| !writer.at_least(0, 13));
        let precise = instance::check(wire, legacy, sink);
        self.index.traces.instance(wire, precise.then_some(sink.base + wire.offset));
        if let Some(text) = wire.provider.filter(|text| !text.raw.is_empty()) {
            let parsed = ProviderInstance::parse(&text.decode(), READ_WITH);
            match parsed {
                Ok(provider) => self.named.push((provider, sink.base + text.offset)),
                Err(error) => {
                    sink.problem(
                        Code::ProviderAddress,
                        text.offset,
                        format!("provider of an instance: {error}"),
                    );
                }
            }
        } else {
            self.unnamed.get_or_insert(sink.base + wire.offset);
        }
        if let Some((key, deposed)) = object_key(wire, sink) {
            sink.key_from(sink.base + wire.offset, &key);
            let id = if self.with_ids { instance::id(wire) } else { None };
            let span = sink.base + span.0..sink.base + span.1;
            self.index.objects.push(ObjectEntry { key, deposed, span, id });
        }
    }

    fn resource(&mut self, head: &Head, end: usize, sink: &mut Sink) -> Flow {
        self.provider_is_fine(head, sink);
        let objects = self.first..self.index.objects.len();
        self.first = objects.end;
        if let (Some(module), Some(resource)) =
            (self.module(&head.module, sink), resource_address(head, sink))
        {
            let address = AbsResource { module, resource };
            let entry = ResourceEntry { address, span: head.offset..end, objects };
            let list = self.index.objects_of(&entry);
            // Writers sort objects, and in a sorted run nothing appears twice.
            if !list.is_sorted_by(|a, b| (&a.key, a.deposed) < (&b.key, b.deposed)) {
                duplicates(&entry.address, list.iter().collect(), sink);
            }
            sink.name_from(head.offset, || entry.address.to_string());
            self.index.resources.push(entry);
        }
        Flow::On
    }

    fn check(&mut self, cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<(), Stop> {
        checks::decode_element(cursor, sink).map(drop)
    }

    fn member(&mut self, name: &str, span: (usize, usize)) -> Flow {
        let earlier = self.index.members.iter().position(|(known, _)| known == name);
        if let Some((_, span)) = earlier.map(|at| self.index.members.remove(at))
            && name == "outputs"
        {
            self.index.earlier_outputs.push(span);
        }
        self.index.members.push((name.to_owned(), span.0..span.1));
        Flow::On
    }
}

fn duplicates(address: &AbsResource, mut objects: Vec<&ObjectEntry>, sink: &mut Sink) {
    objects.sort_by(|a, b| (&a.key, a.deposed, a.span.start).cmp(&(&b.key, b.deposed, b.span.start)));
    for pair in objects.windows(2) {
        if let [a, b] = pair
            && (&a.key, a.deposed) == (&b.key, b.deposed)
        {
            let key: ObjectKey = (b.key.clone(), b.deposed);
            crate::decode::duplicate(address, &key, b.span.start, sink);
        }
    }
}
