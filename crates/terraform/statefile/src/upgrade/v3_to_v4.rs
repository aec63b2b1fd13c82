//! Format 3 to 4: the document, its modules and outputs.

use std::borrow::Cow;
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, InstanceKey, ModuleInstance, ProviderConfig, is_identifier};
use groundstate_states::{DeposedKey, Extra, ObjectSrc, OutputValue};

use super::object::Objects;
use super::output;
use super::resources::ModuleResources;
use super::tally::Tally;
use crate::json::Str;
use crate::sink::Sink;
use crate::wire::legacy::{sort_keeping_last, upgrade_problem};
use crate::wire::{v2, v3};

/// Members of the document that format 4 gives a meaning.
const KNOWN: [&str; 7] =
    ["version", "terraform_version", "serial", "lineage", "outputs", "resources", "check_results"];

/// What a document of format 4 holds.
#[derive(Debug, Default)]
pub(super) struct V4Parts {
    pub(super) terraform_version: String,
    pub(super) terraform_version_offset: usize,
    pub(super) serial: u64,
    pub(super) lineage: String,
    pub(super) outputs: Vec<OutputParts>,
    /// In the order of the document; an address comes again if its module does.
    pub(super) resources: Vec<ResourceParts>,
    pub(super) extra: Extra,
}

/// An output of the root module.
#[derive(Debug)]
pub(super) struct OutputParts {
    pub(super) name: Arc<str>,
    pub(super) offset: usize,
    pub(super) output: OutputValue,
}

/// A resource of one module.
#[derive(Debug)]
pub(super) struct ResourceParts {
    pub(super) address: AbsResource,
    pub(super) offset: usize,
    /// Absent after a problem.
    pub(super) provider: Option<ProviderConfig>,
    pub(super) objects: Vec<ObjectParts>,
    pub(super) extra: Extra,
}

/// An object and what tells it from the others of its resource.
#[derive(Debug)]
pub(super) struct ObjectParts {
    pub(super) key: InstanceKey,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) object: ObjectSrc,
    pub(super) offset: usize,
}

/// What every part of the upgrade needs.
pub(super) struct Context<'s> {
    /// The registry of providers without a host.
    pub(super) host: &'s str,
    pub(super) sink: &'s mut Sink,
    pub(super) tally: Tally,
    pub(super) objects: Objects,
}

/// Turns a document of format 3 into the parts of one of format 4; providers belong to the registry at `host`.
pub(super) fn upgrade(v3::Document(old): v3::Document<'_>, host: &str, sink: &mut Sink) -> V4Parts {
    let writer = old.terraform_version.filter(|text| !text.raw.is_empty());
    let mut context = Context { host, sink, tally: Tally::default(), objects: Objects::default() };
    let mut parts = V4Parts {
        terraform_version: writer.map_or_else(|| "0.0.0".into(), |text| text.decode().into_owned()),
        terraform_version_offset: writer.map_or(0, |text| text.offset),
        serial: context.serial(old.serial, old.serial_offset),
        lineage: old.lineage.map(|text| text.decode().into_owned()).unwrap_or_default(),
        extra: context.tally.carry(&old.extra, &KNOWN, "the document"),
        ..V4Parts::default()
    };
    for (place, name) in [(old.remote, "the member \"remote\""), (old.backend, "the member \"backend\"")] {
        if let Some(offset) = place {
            context.tally.dropped(offset, name);
        }
    }
    for module in old.modules {
        context.module(module, &mut parts);
    }
    let Context { sink, tally, .. } = context;
    tally.tell(sink);
    parts
}

impl Context<'_> {
    /// Says why the upgrade fails.
    pub(super) fn problem(&mut self, offset: usize, why: impl std::fmt::Display) {
        upgrade_problem(self.sink, 3, offset, why);
    }

    pub(super) fn depends_on(&mut self, entries: &[Str<'_>]) {
        for entry in entries {
            self.tally.dropped(entry.offset, "entries of \"depends_on\"");
        }
    }

    fn serial(&mut self, old: i64, offset: usize) -> u64 {
        u64::try_from(old).unwrap_or_else(|_| {
            self.problem(offset, format!("the serial is {old}; it has to be at least 0"));
            0
        })
    }

    fn module(&mut self, old: v2::Module<'_>, parts: &mut V4Parts) {
        let Some(address) = self.module_address(&old) else { return };
        self.tally.lose(&old.extra, "modules");
        self.depends_on(&old.depends_on);
        if address.is_root() {
            self.outputs(old.outputs, &mut parts.outputs);
        } else {
            for (name, _) in &old.outputs {
                self.tally.dropped(name.offset, "outputs of child modules");
            }
        }
        parts.resources.append(&mut ModuleResources::new(self, &address).upgrade(old.resources));
    }

    fn module_address(&mut self, old: &v2::Module<'_>) -> Option<ModuleInstance> {
        let path: Vec<Cow<'_, str>> = old.path.iter().map(Str::decode).collect();
        let place = |at: usize| old.path.get(at).map_or(old.offset, |step| step.offset);
        if path.first().is_none_or(|root| root != "root") {
            self.problem(place(0), format!("the module path {path:?} has to begin with \"root\""));
            return None;
        }
        let mut address = ModuleInstance::root();
        for (at, name) in path.iter().enumerate().skip(1) {
            if !is_identifier(name) {
                let why = format!(
                    "{name:?} in the module path {path:?} is not a valid name; rename it with Terraform 0.11 first"
                );
                self.problem(place(at), why);
                return None;
            }
            address = address.child(name, InstanceKey::None);
        }
        Some(address)
    }

    fn outputs<'a>(&mut self, old: Vec<(Str<'a>, v2::Output<'a>)>, parts: &mut Vec<OutputParts>) {
        let mut named: Vec<_> = old.into_iter().map(|(name, output)| (name.decode(), name, output)).collect();
        if let Some(twice) = sort_keeping_last(&mut named, |item| &item.0) {
            self.stands_twice("output", &twice, named.iter().find(|item| item.0 == twice).map(|item| item.1));
        }
        for (text, name, output) in named {
            let mark = self.sink.len();
            if let Some(output) = output::upgrade(name, &output, &mut self.tally, self.sink) {
                parts.push(OutputParts { name: Arc::from(&*text), offset: name.offset, output });
            }
            self.sink.name_since(mark, || format!("output.{text}"));
        }
    }

    /// Notes that a name appears twice in one object; the last one has been kept.
    pub(super) fn stands_twice(&mut self, what: &str, name: &str, kept: Option<Str<'_>>) {
        let offset = kept.map_or(0, |name| name.offset);
        self.tally.lost(offset, &format!("{what} {name:?} at the first of several occurrences"));
    }
}
