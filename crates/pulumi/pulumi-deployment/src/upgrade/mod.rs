//! Upgrades, step by step: each file takes a deployment of one version to the next.

use groundstate_pulumi_snapshot::{Extra, Properties};

use crate::note::NoteKind;
use crate::sink::Sink;

pub(crate) mod v1_to_v2;
pub(crate) mod v2_to_v3;

/// Leaves out unknown members whose names mean something in the next version: there they would be taken for
/// statements that were never made.
fn drop_newer(extra: Extra, newer: &[&str], version: u8, offset: usize, sink: &mut Sink) -> Extra {
    if extra.iter().all(|(name, _)| !newer.contains(&name)) {
        return extra;
    }
    let mut kept = Extra::new();
    for (name, value) in extra.iter() {
        if newer.contains(&name) {
            let message =
                format!("format {version} has no member {name:?}, which the original ignores as well");
            sink.note(NoteKind::Dropped, offset, message);
        } else {
            kept.push(name, value.clone());
        }
    }
    kept
}

/// A map that is not there becomes an empty one.
fn present(properties: Properties) -> Properties {
    match properties {
        Properties::Absent => Properties::Map(groundstate_pulumi_snapshot::PropertyMap::new()),
        other => other,
    }
}
