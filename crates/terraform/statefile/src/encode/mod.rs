//! The model into format 4, canonically: the same file gives the same bytes.

mod shared;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_states::addr::{AbsResource, InstanceKey, ProviderInstance, Resource, ResourceMode};
use groundstate_states::{
    Attributes, CheckResults, DeposedKey, Extra, Module, ObjectSrc, ObjectStatus, OutputValue, State,
};

use crate::checks;
use crate::dialect::Dialect;
use crate::file::File;
use crate::json::{Writer, layout, push_json_string};
use crate::loss::{self, Loss};
use crate::readable;
use crate::sensitive;
use crate::value::{encode_type, encode_value};

/// Options of the writer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// Writes although something would be lost.
    pub allow_loss: bool,
    /// Leaves the white space out, or in; the default is the layout the file was read in.
    pub indented: Option<bool>,
    /// Threads that share the resources of a large file, beside the one that writes; fewer than two start none. What is written
    /// is the same with any number.
    pub threads: usize,
}

impl EncodeOptions {
    /// Writes although something would be lost.
    #[must_use]
    pub fn allow_loss(mut self, yes: bool) -> Self {
        self.allow_loss = yes;
        self
    }

    /// Chooses the layout.
    #[must_use]
    pub fn indented(mut self, yes: bool) -> Self {
        self.indented = Some(yes);
        self
    }

    /// Shares the resources of a large file between so many threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Reading noted things that the file cannot hold, or the dialect has no place for.
    #[error("writing would lose {}; allow the loss to write it", loss::summary(.0))]
    Loss(Vec<Loss>),
    /// A placeholder of a running plan.
    #[error("{0} is only planned and cannot be stored; write the state after the plan has been applied")]
    Planned(String),
    /// An output's value does not conform to its type.
    #[error("output {name:?} cannot be stored: {wanted} is needed; set a value that conforms to its type")]
    Output {
        /// The output.
        name: String,
        /// What its type asks for.
        wanted: &'static str,
    },
    /// A key in a sensitive path does not conform to its type.
    #[error("a sensitive path of {0} cannot be stored: the key of a step does not conform to the key's type")]
    SensitivePath(String),
    /// An address in the state has no text that can be read again.
    #[error("{address} cannot be stored: {what} cannot be read again")]
    Unreadable {
        /// The resource.
        address: String,
        /// What has no such text.
        what: String,
    },
    /// Writing failed.
    #[error("cannot write the state")]
    Io(#[from] io::Error),
}

/// Writes a file as format 4.
///
/// # Errors
///
/// [`EncodeError::Loss`] unless losses are allowed, [`EncodeError::Planned`] for placeholders, and
/// [`EncodeError::Unreadable`] for what could not be decoded again. Nothing has been written then.
pub fn encode(file: &File, options: &EncodeOptions) -> Result<Vec<u8>, EncodeError> {
    encode_to(file, options, Vec::new())
}

/// Writes a file as format 4 to `out`, block by block; gives `out` back.
///
/// # Errors
///
/// As [`encode`], and [`EncodeError::Io`] when `out` fails.
pub fn encode_to<W: io::Write>(file: &File, options: &EncodeOptions, out: W) -> Result<W, EncodeError> {
    refuse(file, options.allow_loss)?;
    let writer = Writer::new(out, layout(options.indented.unwrap_or(file.style.indented)));
    let mut out = Encoder { file, writer, sort_paths: false }.document(options.threads)?;
    // A chosen layout gets the plain style.
    if file.style.second_line_break && options.indented.is_none() {
        out.write_all(b"\n")?;
    }
    Ok(out)
}

/// Whether two states would be stored as the same bytes: the notion of equality that decides about new serials.
///
/// Results of checks and sensitive paths count in sorted order, since some releases store them in random order.
pub fn encode_equally(a: &State, b: &State) -> bool {
    let bytes = |state: &State| {
        let mut file = File::new(Dialect::OpenTofu, groundstate_states::Lineage::default());
        file.state = state.clone();
        if let Some(results) = &mut file.state.check_results {
            *results = checks::sorted_checks(results);
        }
        refuse(&file, true).ok()?;
        let writer = Writer::new(Vec::new(), layout(false));
        Encoder { file: &file, writer, sort_paths: true }.document(1).ok()
    };
    bytes(a).is_some_and(|bytes_a| bytes(b) == Some(bytes_a))
}

/// A resource as an element of `resources`.
pub(crate) fn resource_fragment(
    file: &File,
    address: &AbsResource,
    resource: &groundstate_states::Resource,
) -> Result<Vec<u8>, EncodeError> {
    let mut one = file.clone();
    one.state
        .ensure_module(&address.module)
        .resources
        .insert(address.resource.clone(), Arc::new(resource.clone()));
    refuse(&one, false)?;
    let writer = Writer::fragment(Vec::new(), layout(file.style.indented), 2);
    let mut encoder = Encoder { file: &one, writer, sort_paths: false };
    let module = address.module.to_string();
    encoder.resource(&Item { module: &module, name: &address.resource, resource })?;
    Ok(encoder.writer.end()?)
}

/// An output as a member of `outputs`.
pub(crate) fn output_fragment(file: &File, name: &str, output: &OutputValue) -> Result<Vec<u8>, EncodeError> {
    let mut one = file.clone();
    one.state.root_mut().outputs.insert(name.into(), Arc::new(output.clone()));
    refuse(&one, false)?;
    let writer = Writer::fragment(Vec::new(), layout(file.style.indented), 2);
    let mut encoder = Encoder { file: &one, writer, sort_paths: false };
    encoder.output(name, output)?;
    Ok(encoder.writer.end()?)
}

/// A string literal in the spelling of state files.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::new();
    push_json_string(&mut out, text);
    out
}

/// The order of resources in a file: by the module's printed address, then mode, type and name.
pub(crate) fn file_order(a: &AbsResource, b: &AbsResource) -> Ordering {
    let key = |r: &AbsResource| {
        let resource = r.resource.clone();
        (r.module.to_string(), mode_text(resource.mode), resource.type_name, resource.name)
    };
    key(a).cmp(&key(b))
}

/// Refuses what cannot be stored.
fn refuse(file: &File, allow_loss: bool) -> Result<(), EncodeError> {
    let losses = loss::of(file);
    if !allow_loss && !losses.is_empty() {
        return Err(EncodeError::Loss(losses));
    }
    for (name, output) in &file.state.root().outputs {
        let mut text = String::new();
        if let Err(misfit) = encode_value(&mut text, &output.value, &output.value_type) {
            return Err(EncodeError::Output { name: name.to_string(), wanted: misfit.wanted });
        }
    }
    for (address, _, object) in file.state.objects() {
        if !sensitive::conform(&object.sensitive_paths) {
            return Err(EncodeError::SensitivePath(address.to_string()));
        }
    }
    readable::check(&file.state)?;
    planned(&file.state).map_or(Ok(()), |address| Err(EncodeError::Planned(address)))
}

fn planned(state: &State) -> Option<String> {
    state.modules().find_map(|(module, content)| {
        content.resources.iter().find_map(|(name, resource)| {
            let planned = resource.instances.iter().find(|(_, instance)| {
                let mut objects = instance.current.iter().chain(instance.deposed.values());
                objects.any(|object| object.status == ObjectStatus::Planned)
            });
            planned.map(|(key, _)| name.clone().absolute(module.clone()).instance(key.clone()).to_string())
        })
    })
}

struct Encoder<'f, W> {
    file: &'f File,
    writer: Writer<W>,
    /// Sensitive paths in an order of their own; otherwise in the order they were read.
    sort_paths: bool,
}

impl<W: io::Write> Encoder<'_, W> {
    fn document(mut self, threads: usize) -> io::Result<W> {
        let file = self.file;
        self.writer.open('{');
        self.number("version", 4);
        self.text(
            "terraform_version",
            file.terraform_version.as_ref().map_or("", |version| version.as_str()),
        );
        self.number("serial", file.serial.get());
        self.text("lineage", file.lineage.as_str());
        self.writer.name("outputs");
        self.writer.open('{');
        for (name, output) in &file.state.root().outputs {
            self.output(name, output)?;
        }
        self.writer.close('}')?;
        self.writer.name("resources");
        self.writer.open('[');
        let modules = in_file_order(&file.state);
        let items: Vec<_> = modules.iter().flat_map(|(module, content)| items(module, content)).collect();
        self.resources(&items, threads)?;
        self.writer.close(']')?;
        self.checks(file.state.check_results.as_ref())?;
        self.extra(&file.extra)?;
        self.writer.close('}')?;
        self.writer.finish()
    }

    fn output(&mut self, name: &str, output: &OutputValue) -> io::Result<()> {
        self.writer.name(name);
        self.writer.open('{');
        self.writer.name("value");
        let mut text = String::new();
        // A value that does not fit its type was refused before anything was written.
        if encode_value(&mut text, &output.value, &output.value_type).is_err() {
            return Err(io::Error::other("an output does not conform to its type"));
        }
        self.writer.raw(&text)?;
        self.writer.name("type");
        text.clear();
        encode_type(&mut text, &output.value_type);
        self.writer.raw(&text)?;
        self.flag("sensitive", output.sensitive);
        if let Some(message) = output.deprecated.as_deref().filter(|_| self.file.dialect == Dialect::OpenTofu)
        {
            self.text("deprecated", message);
        }
        self.extra(&output.extra)?;
        self.writer.close('}')
    }

    fn resource(&mut self, item: &Item<'_>) -> io::Result<()> {
        let Item { module, name, resource } = item;
        self.writer.open('{');
        if !module.is_empty() {
            self.text("module", module);
        }
        self.text("mode", mode_text(name.mode));
        self.text("type", &name.type_name);
        self.text("name", &name.name);
        // OpenTofu names the provider on each instance as soon as one of them has a key of its own.
        let keyed = self.file.dialect == Dialect::OpenTofu
            && resource.instances.values().any(|instance| instance.provider_key != InstanceKey::None);
        let provider = resource.provider.spelled();
        if !keyed {
            self.text("provider", &provider);
        }
        self.writer.name("instances");
        self.writer.open('[');
        for (key, instance) in &resource.instances {
            let own = keyed.then(|| {
                let (config, key) = (resource.provider.clone(), instance.provider_key.clone());
                ProviderInstance { config, key }.spelled()
            });
            if let Some(object) = &instance.current {
                self.object(key, None, own.as_deref(), object)?;
            }
            for (deposed, object) in &instance.deposed {
                self.object(key, Some(*deposed), own.as_deref(), object)?;
            }
        }
        self.writer.close(']')?;
        self.extra(&resource.extra)?;
        self.writer.close('}')
    }

    fn object(
        &mut self,
        key: &InstanceKey,
        deposed: Option<DeposedKey>,
        provider: Option<&str>,
        object: &ObjectSrc,
    ) -> io::Result<()> {
        self.writer.open('{');
        match key {
            InstanceKey::None => {}
            InstanceKey::Int(index) => self.number("index_key", *index),
            InstanceKey::String(text) => self.text("index_key", text),
        }
        if object.status == ObjectStatus::Tainted {
            self.text("status", "tainted");
        }
        if let Some(deposed) = deposed {
            self.text("deposed", &deposed.to_string());
        }
        if let Some(provider) = provider {
            self.text("provider", provider);
        }
        self.number("schema_version", object.schema_version);
        self.attributes(&object.attributes)?;
        if self.file.style.empty_sensitive || !object.sensitive_paths.is_empty() {
            self.writer.name("sensitive_attributes");
            let paths = &object.sensitive_paths;
            if self.sort_paths && !paths.is_sorted_by(|a, b| a < b) {
                let sorted: Vec<_> = BTreeSet::from_iter(paths).into_iter().cloned().collect();
                self.writer.raw(&sensitive::encode(&sorted))?;
            } else {
                self.writer.raw(&sensitive::encode(paths))?;
            }
        }
        match self.file.dialect {
            Dialect::Terraform => self.terraform_tail(object)?,
            Dialect::OpenTofu => self.opentofu_tail(object)?,
        }
        self.extra(&object.extra)?;
        self.writer.close('}')
    }

    fn attributes(&mut self, attributes: &Attributes) -> io::Result<()> {
        match attributes {
            Attributes::Json(raw) => {
                self.writer.name("attributes");
                self.writer.raw(raw.as_str())?;
            }
            Attributes::Flat(map) if !map.is_empty() => {
                self.writer.name("attributes_flat");
                self.writer.open('{');
                for (name, value) in map {
                    self.text(name, value);
                }
                self.writer.close('}')?;
            }
            Attributes::Flat(_) => {}
        }
        Ok(())
    }

    /// What follows the sensitive attributes, in Terraform's order.
    fn terraform_tail(&mut self, object: &ObjectSrc) -> io::Result<()> {
        if let Some(version) = object.identity_schema_version {
            self.number("identity_schema_version", version);
        }
        self.identity(object)?;
        self.private(object);
        self.dependencies(object)?;
        self.flag("create_before_destroy", object.create_before_destroy);
        Ok(())
    }

    /// What follows the sensitive attributes, in OpenTofu's order.
    fn opentofu_tail(&mut self, object: &ObjectSrc) -> io::Result<()> {
        self.private(object);
        self.dependencies(object)?;
        if !object.depends_on.is_empty() {
            self.list("depends_on", object.depends_on.iter().map(ToString::to_string))?;
        }
        self.flag("create_before_destroy", object.create_before_destroy);
        self.flag("skip_destroy", object.skip_destroy);
        self.identity(object)?;
        // OpenTofu drops a version without an identity when it writes; what it reads may keep it.
        if let Some(version) = object.identity_schema_version {
            self.number("identity_schema_version", version);
        }
        Ok(())
    }

    fn identity(&mut self, object: &ObjectSrc) -> io::Result<()> {
        let Some(identity) = &object.identity else { return Ok(()) };
        self.writer.name("identity");
        self.writer.raw(identity.as_str())
    }

    fn private(&mut self, object: &ObjectSrc) {
        if !object.private.is_empty() {
            self.text("private", &STANDARD.encode(&object.private));
        }
    }

    fn dependencies(&mut self, object: &ObjectSrc) -> io::Result<()> {
        if object.dependencies.is_empty() {
            return Ok(());
        }
        self.list("dependencies", object.dependencies.iter().map(ToString::to_string))
    }

    fn checks(&mut self, results: Option<&CheckResults>) -> io::Result<()> {
        match results.filter(|results| !results.aggregates.is_empty() || !results.opaque.is_empty()) {
            Some(results) => {
                self.writer.name("check_results");
                self.writer.raw(&checks::encode(results))
            }
            None => {
                if self.file.style.empty_checks || results.is_some() {
                    self.writer.name("check_results");
                    self.writer.scalar("null");
                }
                Ok(())
            }
        }
    }

    fn list(&mut self, name: &str, items: impl Iterator<Item = String>) -> io::Result<()> {
        self.writer.name(name);
        self.writer.open('[');
        for item in items {
            self.writer.string(&item);
        }
        self.writer.close(']')
    }

    fn extra(&mut self, extra: &Extra) -> io::Result<()> {
        for (name, raw) in extra.iter() {
            self.writer.name(name);
            self.writer.raw(raw.as_str())?;
        }
        Ok(())
    }

    fn text(&mut self, name: &str, text: &str) {
        self.writer.name(name);
        self.writer.string(text);
    }

    fn number(&mut self, name: &str, number: u64) {
        self.writer.name(name);
        self.writer.scalar(&number.to_string());
    }

    fn flag(&mut self, name: &str, yes: bool) {
        if yes {
            self.writer.name(name);
            self.writer.scalar("true");
        }
    }
}

/// An element of `resources`.
struct Item<'f> {
    /// The module's printed address.
    module: &'f str,
    name: &'f Resource,
    resource: &'f groundstate_states::Resource,
}

/// The resources of a module that are stored, in the order of files.
fn items<'f>(module: &'f str, content: &'f Module) -> impl Iterator<Item = Item<'f>> {
    let stored = content.resources.iter().filter(|(name, _)| name.mode != ResourceMode::Ephemeral);
    let mut items: Vec<_> = stored.map(|(name, resource)| Item { module, name, resource }).collect();
    items.sort_by_key(|item| (mode_text(item.name.mode), &item.name.type_name, &item.name.name));
    items.into_iter()
}

/// Modules by their printed address: the order of files, which is not the order of lists.
fn in_file_order(state: &State) -> Vec<(String, &Module)> {
    let mut modules: Vec<_> =
        state.modules().map(|(address, module)| (address.to_string(), module)).collect();
    modules.sort_by(|a, b| a.0.cmp(&b.0));
    modules
}

fn mode_text(mode: ResourceMode) -> &'static str {
    match mode {
        ResourceMode::Managed => "managed",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    }
}
