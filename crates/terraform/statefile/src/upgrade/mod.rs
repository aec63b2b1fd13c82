//! Upgrades of formats 1 to 3, one step a file, and the model of what comes out.

mod address;
mod object;
mod output;
mod resources;
mod tally;
mod tree;
mod v1_to_v2;
mod v2_to_v3;
mod v3_to_v4;

use std::sync::Arc;

use groundstate_states::{Lineage, Resource, Serial, State};

pub(crate) use address::resource as legacy_resource;

use crate::decode::{DecodeOptions, duplicate, writer_version};
use crate::dialect::Dialect;
use crate::file::{File, Style};
use crate::json::Stop;
use crate::note::NoteKind;
use crate::problem::ReadError;
use crate::sink::{Sink, syntax_error};
use crate::wire::{v1, v2, v3};
use v3_to_v4::{OutputParts, ResourceParts, V4Parts};

/// Reads a document whose version is known to be 1, 2 or 3.
pub(crate) fn read(version: u64, text: &[u8], options: &DecodeOptions) -> Result<File, ReadError> {
    let mut sink = Sink::default();
    let document = match to_v3(version, text, options, &mut sink) {
        Ok(document) => document,
        Err(stop) => return Err(syntax_error(text, stop)),
    };
    // After a problem parts are missing, and what an upgrade would say of the rest misleads.
    if let Some(problems) =
        (!sink.is_clean()).then(|| std::mem::take(&mut sink).into_problems(text)).flatten()
    {
        return Err(ReadError::Unusable(problems));
    }
    // Both products read these formats and neither writes them, so the file does not tell whose it is.
    let dialect = options.dialect.unwrap_or(Dialect::Terraform);
    let parts = v3_to_v4::upgrade(document, dialect.default_registry(), &mut sink);
    let file = build(parts, version, dialect, &mut sink);
    let mut notes = std::mem::take(&mut sink.notes);
    notes.sort_by_key(|note| note.offset);
    match sink.into_problems(text) {
        Some(problems) => Err(ReadError::Unusable(problems)),
        None => Ok(File { notes, ..file }),
    }
}

fn to_v3<'a>(
    version: u64,
    text: &'a [u8],
    options: &DecodeOptions,
    sink: &mut Sink,
) -> Result<v3::Document<'a>, Stop> {
    let v2 = match version {
        1 => v1_to_v2::upgrade(v1::Document::read(text, sink)?, options.drop_v1_tainted, sink),
        2 => v2::Document::read(text, 2, sink)?,
        _ => return v3::Document::read(text, sink),
    };
    Ok(v2_to_v3::upgrade(v2, sink))
}

fn build(parts: V4Parts, version: u64, dialect: Dialect, sink: &mut Sink) -> File {
    let mut state = State::new();
    for part in parts.resources {
        insert(&mut state, part, sink);
    }
    for OutputParts { name, offset, output } in parts.outputs {
        if let Some(_first) = state.root_mut().outputs.insert(Arc::clone(&name), Arc::new(output)) {
            let message = format!("output {name:?} is in two root modules; the last one counts");
            sink.note(NoteKind::Lost, offset, message);
        }
    }
    File {
        terraform_version: writer_version(&parts.terraform_version, parts.terraform_version_offset, sink),
        serial: Serial::new(parts.serial),
        lineage: Lineage::new(&parts.lineage),
        state,
        style: Style { source_version: version, ..Style::of(dialect, None) },
        extra: parts.extra,
        ..File::new(dialect, Lineage::default())
    }
}

/// Adds a resource. The same module can be listed twice; its resources merge, as they do in format 4.
fn insert(state: &mut State, part: ResourceParts, sink: &mut Sink) {
    let Some(provider) = part.provider else { return };
    let address = part.address;
    let module = state.ensure_module(&address.module);
    let resource = module
        .resources
        .entry(address.resource.clone())
        .or_insert_with(|| Arc::new(Resource::new(provider.clone())));
    let resource = Arc::make_mut(resource);
    if resource.provider != provider {
        let message =
            format!("{address} is in two modules of one path with different providers; the last one counts");
        sink.note(NoteKind::Dropped, part.offset, message);
        resource.provider = provider;
    }
    for (name, raw) in part.extra.iter() {
        resource.extra.push(name, raw.clone());
    }
    for item in part.objects {
        let instance = resource.instances.entry(item.key.clone()).or_default();
        let object = Arc::new(item.object);
        let taken = match item.deposed {
            Some(key) => instance.deposed.insert(key, object).is_some(),
            None => instance.current.replace(object).is_some(),
        };
        if taken {
            duplicate(&address, &(item.key, item.deposed), item.offset, sink);
        }
    }
}
