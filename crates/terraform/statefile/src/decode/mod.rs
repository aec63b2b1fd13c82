//! Format 4 into the model.

mod names;
mod parts;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, InstanceKey, ModuleInstance, ProviderConfig, ProviderInstance};
use groundstate_states::{CheckResults, Lineage, OutputValue, Serial, State};

use crate::checks::{self, Element};
use crate::dialect::{Dialect, Traces};
use crate::file::{File, Layout, Style};
use crate::instance::{LEGACY_REFERENCES, ObjectKey, Objects, extra, object_key};
use crate::json::{Cursor, Stop, compact};
use crate::note::{Note, NoteKind};
use crate::output_value;
use crate::problem::{Code, ReadError};
use crate::sink::{Sink, syntax_error};
use crate::sniff;
use crate::upgrade;
use crate::walk::{Flow, Halt, Head, HeaderText, OutputWire, Section, Text, Visitor, Whole, walk_feed};
use crate::wire::v4::InstanceWire;
use crate::writer_version::WriterVersion;

pub use names::{READ_WITH, module_address, provider_address, resource_address};
pub(crate) use names::{duplicate, writer_version};

/// Options of the reader.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Reads by the rules of this product instead of the one found in the file.
    pub dialect: Option<Dialect>,
    /// Accepts bytes that are not UTF-8 as U+FFFD, as the originals do; what changes is noted as lost.
    pub replace_invalid_utf8: bool,
    /// Drops the tainted instances of format 1, as the originals do, instead of keeping them as deposed objects.
    pub drop_v1_tainted: bool,
    /// Threads that share a large document of format 4, the calling one among them; fewer than two start none. What is
    /// read is the same with any number.
    pub threads: usize,
}

impl DecodeOptions {
    /// Sets the dialect.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Accepts invalid UTF-8.
    #[must_use]
    pub fn replace_invalid_utf8(mut self, yes: bool) -> Self {
        self.replace_invalid_utf8 = yes;
        self
    }

    /// Drops tainted instances of format 1.
    #[must_use]
    pub fn drop_v1_tainted(mut self, yes: bool) -> Self {
        self.drop_v1_tainted = yes;
        self
    }

    /// Shares large documents between so many threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

/// Reads a state file of any known version.
///
/// # Errors
///
/// [`ReadError::NoState`] for an empty input, [`ReadError::NotState`] for anything that is not a state file, and
/// [`ReadError::Unusable`] with all problems found in one that is.
pub fn decode(text: &[u8], options: &DecodeOptions) -> Result<File, ReadError> {
    if options.replace_invalid_utf8
        && let Err(error) = str::from_utf8(text)
    {
        let repaired = String::from_utf8_lossy(text);
        let mut file = decode_utf8(repaired.as_bytes(), options)?;
        let message = "bytes that are not UTF-8 have become U+FFFD";
        let note = Note { kind: NoteKind::Lost, message: message.into(), offset: error.valid_up_to() };
        file.notes.insert(0, note);
        return Ok(file);
    }
    decode_utf8(text, options)
}

fn decode_utf8(text: &[u8], options: &DecodeOptions) -> Result<File, ReadError> {
    match sniff::version(text)? {
        4 => decode_v4(text, options),
        older => upgrade::read(older, text, options),
    }
}

fn decode_v4(text: &[u8], options: &DecodeOptions) -> Result<File, ReadError> {
    if let Some(file) = parts::decode(text, options) {
        return Ok(file);
    }
    let mut sink = Sink::default();
    let mut builder = Builder::new(options.dialect);
    match walk_feed(Whole::new(text), &mut builder, &mut sink) {
        Ok(()) => {}
        Err(Halt::Syntax(stop)) => return Err(syntax_error(text, stop)),
        Err(Halt::Version) => return Err(sniff::contradiction(text)),
        Err(Halt::Feed(never)) => match never {},
        Err(Halt::Enough | Halt::Reached(_)) => {}
    }
    let (file, notes) = (builder.finish(Layout::of(text), &mut sink), std::mem::take(&mut sink.notes));
    match sink.into_problems(text) {
        Some(problems) => Err(ReadError::Unusable(problems)),
        None => Ok(File { notes, ..file }),
    }
}

/// An object that waits for the rest of its resource.
struct Pending {
    key: ObjectKey,
    object: groundstate_states::ObjectSrc,
    /// The instance's own provider and where it stands (OpenTofu).
    provider: Option<(ProviderInstance, usize)>,
    offset: usize,
}

/// Builds the model while the document is walked.
struct Builder {
    state: State,
    serial: u64,
    lineage: String,
    writer: Option<WriterVersion>,
    outputs: BTreeMap<Arc<str>, OutputValue>,
    checks: Option<CheckResults>,
    extra: Vec<(String, Vec<u8>)>,
    pending: Vec<Pending>,
    objects: Objects,
    providers: HashMap<String, ProviderConfig>,
    module: (String, ModuleInstance),
    forced: Option<Dialect>,
    traces: Traces,
    /// The known members at the top that have ended.
    members: Vec<String>,
}

impl Builder {
    fn new(forced: Option<Dialect>) -> Self {
        Self {
            state: State::new(),
            serial: 0,
            lineage: String::new(),
            writer: None,
            outputs: BTreeMap::new(),
            checks: None,
            extra: Vec::new(),
            pending: Vec::new(),
            objects: Objects::default(),
            providers: HashMap::new(),
            module: (String::new(), ModuleInstance::root()),
            forced,
            traces: Traces::default(),
            members: Vec::new(),
        }
    }

    fn finish(mut self, layout: Layout, sink: &mut Sink) -> File {
        if self.legacy_references() {
            self.drop_legacy_references(sink);
        }
        let dialect = self.forced.unwrap_or_else(|| self.traces.dialect(self.writer.as_ref()));
        // Until the dialect is known, addresses without a registry are completed as Terraform's.
        self.state.complete_providers(dialect.default_registry());
        let root = self.state.root_mut();
        for (name, output) in self.outputs {
            root.outputs.insert(name, Arc::new(output));
        }
        self.state.check_results = self.checks;
        let style = Style::shown(dialect, self.writer.as_ref(), &self.traces);
        let style = Style {
            // Terraform would indent what neither product writes.
            indented: layout.indented || (dialect == Dialect::Terraform && !layout.compact),
            second_line_break: layout.second_line_break,
            ..style
        };
        File {
            terraform_version: self.writer,
            serial: Serial::new(self.serial),
            lineage: Lineage::new(&self.lineage),
            state: self.state,
            dialect,
            style,
            extra: extra(&self.extra),
            notes: Vec::new(),
        }
    }

    /// Whether `depends_on` in this document means what it meant in Terraform 0.12.
    fn legacy_references(&self) -> bool {
        self.writer.as_ref().is_some_and(|writer| !writer.at_least(0, 13))
    }

    /// Drops what looked like OpenTofu's `depends_on` until the release was found, behind the resources.
    fn drop_legacy_references(&mut self, sink: &mut Sink) {
        let Some(offset) = self.traces.depends_on else { return };
        sink.note_at(NoteKind::Dropped, offset, LEGACY_REFERENCES);
        let modules: Vec<_> = self.state.modules().map(|(address, _)| address.clone()).collect();
        for module in &modules {
            let resources = self.state.module_mut(module).into_iter().flat_map(|m| m.resources.values_mut());
            for instance in resources.flat_map(|resource| Arc::make_mut(resource).instances.values_mut()) {
                for object in instance.current.iter_mut().chain(instance.deposed.values_mut()) {
                    Arc::make_mut(object).depends_on.clear();
                }
            }
        }
    }

    fn module(&mut self, text: &Text, sink: &mut Sink) -> Option<ModuleInstance> {
        if self.module.0 == text.value {
            return Some(self.module.1.clone());
        }
        let module = module_address(text, sink)?;
        self.module = (text.value.clone(), module.clone());
        Some(module)
    }

    fn provider(&mut self, text: &Text, sink: &mut Sink) -> Option<ProviderConfig> {
        if let Some(known) = self.providers.get(&text.value) {
            return Some(known.clone());
        }
        let config = provider_address(text, sink)?;
        self.traces.provider(&config);
        self.providers.insert(text.value.clone(), config.clone());
        Some(config)
    }

    /// The resource's provider and, for OpenTofu's form, the key of each instance.
    fn resource_provider(
        &mut self,
        head: &Head,
        pending: &[Pending],
        sink: &mut Sink,
    ) -> Option<ProviderConfig> {
        let own = match head.provider.value.is_empty() {
            true => None,
            false => Some(self.provider(&head.provider, sink)?),
        };
        let mut agreed: Option<&ProviderConfig> = None;
        for item in pending {
            let Some((instance, offset)) = &item.provider else {
                if own.is_none() {
                    let why = "neither the resource nor this instance names a provider; add the member \"provider\"";
                    sink.problem_at(Code::ProviderMissing, item.offset, why);
                }
                continue;
            };
            if agreed.is_some_and(|first| *first != instance.config) {
                let first = agreed.map(ToString::to_string).unwrap_or_default();
                let why = format!(
                    "instances name different providers, {first} and {}; they have to agree",
                    instance.config
                );
                sink.problem_at(Code::ProviderConflict, *offset, why);
            }
            agreed.get_or_insert(&instance.config);
        }
        match (agreed, own) {
            (Some(config), own) => {
                if own.is_some_and(|own| own != *config) {
                    let message = "the instances' provider counts, not the different one of the resource";
                    sink.note_at(NoteKind::Lost, head.provider.offset, message);
                }
                Some(config.clone())
            }
            (None, Some(own)) => Some(own),
            (None, None) => {
                if pending.is_empty() {
                    let why = "the resource names no provider; add the member \"provider\"";
                    sink.problem_at(Code::ProviderMissing, head.offset, why);
                }
                None
            }
        }
    }

    fn insert(
        &mut self,
        address: AbsResource,
        provider: ProviderConfig,
        head: &Head,
        pending: Vec<Pending>,
        sink: &mut Sink,
    ) {
        let replaced = self.state.resource(&address).is_some_and(|known| known.provider != provider);
        if replaced {
            let message = format!(
                "{address} appears twice with different providers; the last one counts, as in Terraform"
            );
            sink.note_at(NoteKind::Lost, head.provider.offset, message);
        }
        let module = self.state.ensure_module(&address.module);
        let resource = module.resources.entry(address.resource.clone()).or_insert_with(|| {
            let (instances, extra) = Default::default();
            Arc::new(groundstate_states::Resource { provider: provider.clone(), instances, extra })
        });
        let resource = Arc::make_mut(resource);
        resource.provider = provider;
        if replaced {
            // They are keys of the other provider configuration.
            resource.instances.values_mut().for_each(|instance| instance.provider_key = InstanceKey::None);
        }
        for (name, raw) in &head.extra {
            if let Some(raw) = compact(raw.as_bytes()) {
                resource.extra.push(name.as_str(), raw);
            }
        }
        for item in pending {
            let (key, deposed) = item.key;
            let instance = resource.instances.entry(key.clone()).or_default();
            if let Some((provider, _)) = item.provider {
                instance.provider_key = provider.key;
            }
            let object = Arc::new(item.object);
            let taken = match deposed {
                Some(deposed) => instance.deposed.insert(deposed, object).is_some(),
                None => instance.current.replace(object).is_some(),
            };
            if taken {
                duplicate(&address, &(key, deposed), item.offset, sink);
            }
        }
    }
}

impl Visitor for Builder {
    fn serial(&mut self, serial: u64) {
        self.serial = serial;
    }

    fn text(&mut self, which: HeaderText, text: &str, offset: usize, sink: &mut Sink) {
        match which {
            HeaderText::Lineage => text.clone_into(&mut self.lineage),
            HeaderText::TerraformVersion => self.writer = writer_version(text, offset, sink),
        }
    }

    fn restart(&mut self, section: Section) {
        match section {
            Section::Outputs => self.outputs.clear(),
            Section::Resources => self.state = State::new(),
            Section::Instances => self.pending.clear(),
            Section::Checks => self.checks = None,
        }
    }

    fn output(&mut self, wire: &OutputWire<'_>, sink: &mut Sink) -> Flow {
        let name = wire.name.decode();
        self.traces.output(wire);
        if let Some(output) = output_value::decode(wire, sink) {
            match self.outputs.get(&*name) {
                None => {}
                Some(before) if *before == output => {
                    let message = format!("output {name:?} appears twice with the same value");
                    sink.note(NoteKind::Normalized, wire.name.offset, message);
                }
                Some(_) => {
                    let message =
                        format!("output {name:?} appears twice; the last one counts, as in Terraform");
                    sink.note(NoteKind::Lost, wire.name.offset, message);
                }
            }
            self.outputs.insert(Arc::from(&*name), output);
        }
        sink.name_from(sink.base + wire.name.offset, || format!("output.{name}"));
        Flow::On
    }

    fn instance(&mut self, wire: &InstanceWire<'_>, _: (usize, usize), sink: &mut Sink) {
        let key = object_key(wire, sink);
        let legacy = self.legacy_references();
        let object = self.objects.build(wire, legacy, sink);
        let precise = object.as_ref().is_some_and(|object| !object.depends_on.is_empty());
        self.traces.instance(wire, precise.then_some(sink.base + wire.offset));
        let provider = wire.provider.filter(|text| !text.raw.is_empty()).map(|text| {
            let at = sink.base + text.offset;
            match ProviderInstance::parse(&text.decode(), READ_WITH) {
                Ok(provider) => Some((provider, at)),
                Err(error) => {
                    sink.problem(
                        Code::ProviderAddress,
                        text.offset,
                        format!("provider of an instance: {error}"),
                    );
                    None
                }
            }
        });
        if let Some((key, _)) = &key {
            sink.key_from(sink.base + wire.offset, key);
        }
        if let (Some(key), Some(object)) = (key, object) {
            let offset = sink.base + wire.offset;
            self.pending.push(Pending { key, object, provider: provider.flatten(), offset });
        }
    }

    fn resource(&mut self, head: &Head, _: usize, sink: &mut Sink) -> Flow {
        let pending = std::mem::take(&mut self.pending);
        let module = self.module(&head.module, sink);
        let resource = resource_address(head, sink);
        let provider = self.resource_provider(head, &pending, sink);
        if !head.each.value.is_empty() {
            let message = "member \"each\" of Terraform 0.12 is left out; nothing reads it any more";
            sink.note_at(NoteKind::Dropped, head.each.offset, message);
        }
        if let (Some(module), Some(resource)) = (module, resource) {
            let address = AbsResource { module, resource };
            if let Some(provider) = provider {
                self.insert(address.clone(), provider, head, pending, sink);
            }
            sink.name_from(head.offset, || address.to_string());
        }
        Flow::On
    }

    fn check(&mut self, cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<(), Stop> {
        let checks = self.checks.get_or_insert_default();
        match checks::decode_element(cursor, sink)? {
            Some(Element::Known(aggregate)) => checks.aggregates.push(aggregate),
            Some(Element::Opaque(raw)) => checks.opaque.push(raw),
            None => {}
        }
        Ok(())
    }

    fn checks_present(&mut self) {
        self.checks.get_or_insert_default();
    }

    fn unknown(&mut self, name: &str, raw: &[u8]) {
        self.extra.push((name.to_owned(), raw.to_vec()));
    }

    fn member(&mut self, name: &str, _: (usize, usize)) -> Flow {
        self.traces.check_results |= name == "check_results";
        self.members.push(name.to_owned());
        Flow::On
    }
}
