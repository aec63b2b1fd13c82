//! Entries to text.

use std::io;

use groundstate_pulumi_deployment::{EncodeError, Layout, Part, PartWriter, Secrets};

use super::decode::Framing;
use crate::entry::{ENTRY_VERSION, Entry, Target};

/// Writes an entry as compact JSON, as Pulumi does.
///
/// ```
/// use groundstate_pulumi_deployment::Secrets;
/// use groundstate_pulumi_journal::{Entry, EntryKind, Target, encode_entry};
///
/// let mut entry = Entry::new(EntryKind::Success, 5, 2);
/// entry.deleted = Some(Target::Old(1));
/// let text = r#"{"version":1,"kind":1,"sequenceID":5,"operationID":2,"removeOld":null,"removeNew":null,"deleteOld":1}"#;
/// assert_eq!(encode_entry(&entry, Secrets::Sealed)?, text.as_bytes());
/// # Ok::<(), groundstate_pulumi_deployment::EncodeError>(())
/// ```
///
/// # Errors
///
/// A property has no form: a secret that has not been encrypted, unless secrets are shown.
pub fn encode_entry(entry: &Entry, secrets: Secrets) -> Result<Vec<u8>, EncodeError> {
    let mut writer = PartWriter::new(Vec::new(), Layout::COMPACT, secrets);
    write_entry(&mut writer, entry)?;
    writer.end()
}

/// Writes entries in a framing. Lines end with a line break each.
///
/// # Errors
///
/// As [`encode_entry`].
pub fn encode_framed<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    framing: Framing,
    secrets: Secrets,
) -> Result<Vec<u8>, EncodeError> {
    let mut entries = entries.into_iter().peekable();
    if framing == Framing::Lines {
        let mut text = Vec::new();
        for entry in entries {
            text.extend(encode_entry(entry, secrets)?);
            text.push(b'\n');
        }
        return Ok(text);
    }
    let mut writer = PartWriter::new(Vec::new(), Layout::COMPACT, secrets);
    if framing == Framing::Batch {
        writer.json().open('{');
    }
    // An empty list is left out of a batch.
    if framing == Framing::List || entries.peek().is_some() {
        if framing == Framing::Batch {
            writer.json().name("entries");
        }
        writer.json().open('[');
        entries.try_for_each(|entry| write_entry(&mut writer, entry))?;
        writer.json().close(']')?;
    }
    if framing == Framing::Batch {
        writer.json().close('}')?;
    }
    writer.end()
}

fn write_entry<W: io::Write>(writer: &mut PartWriter<W>, entry: &Entry) -> Result<(), EncodeError> {
    writer.json().open('{');
    number(writer, "version", ENTRY_VERSION);
    number(writer, "kind", entry.kind.number());
    number(writer, "sequenceID", entry.sequence.get());
    number(writer, "operationID", entry.operation_id.get());
    target(writer, ["removeOld", "removeNew"], entry.removed, true);
    target(writer, ["pendingReplacementOld", "pendingReplacementNew"], entry.pending_replacement, false);
    target(writer, ["deleteOld", "deleteNew"], entry.deleted, false);
    if let Some(state) = &entry.state {
        part(writer, "state", Part::Resource(state))?;
    }
    if let Some(operation) = &entry.operation {
        part(writer, "operation", Part::Operation(operation))?;
    }
    flag(writer, "isRefresh", entry.is_refresh);
    if let Some(provider) = &entry.secrets_provider {
        part(writer, "secretsProvider", Part::SecretsProvider(provider))?;
    }
    if !entry.snippets.is_empty() {
        writer.json().name("snippets");
        writer.json().open('[');
        entry.snippets.iter().try_for_each(|snippet| writer.part(Part::Snippet(snippet)))?;
        writer.json().close(']')?;
    }
    if let Some(snapshot) = &entry.new_snapshot {
        part(writer, "newSnapshot", Part::Deployment(snapshot))?;
    }
    if let Some(reference) = &entry.extension_ref {
        writer.json().name("extensionRef");
        writer.json().string(reference.as_str());
    }
    if let Some(extension) = &entry.extension {
        part(writer, "extension", Part::Extension(extension))?;
    }
    flag(writer, "requiresByteString", entry.requires_byte_string);
    for (name, value) in entry.extra.iter() {
        writer.json().name(name);
        writer.json().raw(value.as_str())?;
    }
    Ok(writer.json().close('}')?)
}

fn number<W: io::Write>(writer: &mut PartWriter<W>, name: &str, value: u64) {
    writer.json().name(name);
    writer.json().scalar(&value.to_string());
}

fn flag<W: io::Write>(writer: &mut PartWriter<W>, name: &str, value: bool) {
    if value {
        writer.json().name(name);
        writer.json().scalar("true");
    }
}

fn part<W: io::Write>(writer: &mut PartWriter<W>, name: &str, part: Part<'_>) -> Result<(), EncodeError> {
    writer.json().name(name);
    writer.part(part)
}

/// A pair of members, of which one has the number. Both are written in any case if they are `always` there.
fn target<W: io::Write>(
    writer: &mut PartWriter<W>,
    [old, new]: [&str; 2],
    target: Option<Target>,
    always: bool,
) {
    let (at, operation) = match target {
        Some(Target::Old(index)) => (Some(index), None),
        Some(Target::New(operation)) => (None, Some(operation.get())),
        None => (None, None),
    };
    for (name, value) in [(old, at), (new, operation)] {
        match value {
            Some(value) => number(writer, name, value),
            None if always => {
                writer.json().name(name);
                writer.json().scalar("null");
            }
            None => {}
        }
    }
}
