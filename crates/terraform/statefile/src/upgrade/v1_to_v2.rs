//! Format 1 to 2: outputs get a type, metadata may be any JSON, and tainted instances lose their list.

use crate::json::Str;
use crate::note::NoteKind;
use crate::sink::Sink;
use crate::wire::{v1, v2};

/// Turns a document of format 1 into one of format 2.
///
/// Format 2 keeps one flag for each object where format 1 had a list of tainted ones. Terraform drops that list, and
/// with it all knowledge of those objects; here they become deposed objects unless `drop_tainted` is set.
pub(super) fn upgrade<'a>(old: v1::Document<'a>, drop_tainted: bool, sink: &mut Sink) -> v2::Document<'a> {
    v2::Document {
        serial: old.serial,
        serial_offset: old.serial_offset,
        remote: old.remote,
        modules: old.modules.into_iter().map(|old| module(old, drop_tainted, sink)).collect(),
        extra: old.extra,
        ..v2::Document::default()
    }
}

fn module<'a>(old: v1::Module<'a>, drop_tainted: bool, sink: &mut Sink) -> v2::Module<'a> {
    let root = Str { raw: b"root", escaped: false, offset: old.offset };
    v2::Module {
        offset: old.offset,
        path: if old.path.is_empty() { vec![root] } else { old.path },
        outputs: old.outputs.into_iter().map(|(name, value)| (name, output(value, name.offset))).collect(),
        resources: old
            .resources
            .into_iter()
            .map(|(address, old)| (address, resource(old, &address, drop_tainted, sink)))
            .collect(),
        depends_on: old.depends_on,
        extra: old.extra,
    }
}

fn output(value: &[u8], value_offset: usize) -> v2::Output<'_> {
    v2::Output { value: Some(value), value_offset, ..v2::Output::default() }
}

fn resource<'a>(
    old: v1::Resource<'a>,
    address: &Str<'a>,
    drop_tainted: bool,
    sink: &mut Sink,
) -> v2::Resource<'a> {
    let mut deposed: Vec<_> = old.deposed.into_iter().map(instance).collect();
    if let count @ 1.. = old.tainted.len() {
        let address_text = address.decode();
        if drop_tainted {
            let message =
                format!("{address_text}: tainted objects are left out as Terraform does it ({count})");
            sink.note(NoteKind::Lost, address.offset, message);
        } else {
            let message = format!(
                "{address_text}: tainted objects have become deposed ones; Terraform would forget them ({count})"
            );
            sink.note(NoteKind::Normalized, address.offset, message);
            let tainted = |old| v2::Instance { tainted: true, ..instance(old) };
            deposed.extend(old.tainted.into_iter().map(tainted));
        }
    }
    v2::Resource {
        type_name: old.type_name,
        depends_on: old.depends_on,
        primary: old.primary.map(instance),
        deposed,
        provider: old.provider,
        extra: old.extra,
    }
}

fn instance(old: v1::Instance<'_>) -> v2::Instance<'_> {
    v2::Instance {
        offset: old.offset,
        id: old.id,
        attributes: old.attributes,
        meta: old.meta,
        tainted: false,
        extra: old.extra,
    }
}
