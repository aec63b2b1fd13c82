//! The members of a resource, in one table: what each is called in files, its field, and how it is read and written.

use std::io;

use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::Resource;

use crate::encode::{EncodeError, Encoder, resource as write};
use crate::reader::Reader;
use crate::wire::resource as read;

macro_rules! members {
    ($($name:literal: $form:ident $field:ident;)+) => {
        /// Names of all members, in the order in which they are written.
        pub(crate) const RESOURCE_MEMBERS: &[&str] = &[$($name),+];

        /// Reads the value of a member into its field; tells whether there is such a member.
        pub(crate) fn read_member(
            reader: &mut Reader,
            out: &mut Resource,
            name: &[u8],
            cursor: &mut Cursor<'_>,
        ) -> Result<bool, Stop> {
            match str::from_utf8(name).unwrap_or_default() {
                $($name => out.$field = read::$form(reader, cursor)?,)+
                _ => return Ok(false),
            }
            Ok(true)
        }

        /// Writes all members that are there.
        pub(crate) fn write_members<W: io::Write>(
            out: &mut Encoder<W>,
            resource: &Resource,
        ) -> Result<(), EncodeError> {
            // A field that the table lacks does not compile.
            let Resource { $($field,)+ extra: _ } = resource;
            $(write::$form(out, $name, $field, resource)?;)+
            Ok(())
        }
    };
}

members! {
    "urn": required urn;
    "custom": required_flag custom;
    "delete": flag delete;
    "id": id id;
    "type": required resource_type;
    "inputs": properties inputs;
    "outputs": properties outputs;
    "parent": text parent;
    "protect": flag protect;
    "taint": flag taint;
    "external": flag external;
    "dependencies": list dependencies;
    "initErrors": list init_errors;
    "provider": text provider;
    "propertyDependencies": property_dependencies property_dependencies;
    "pendingReplacement": flag pending_replacement;
    "additionalSecretOutputs": list additional_secret_outputs;
    "aliases": list aliases;
    "customTimeouts": timeouts custom_timeouts;
    "importID": id import_id;
    "retainOnDelete": flag retain_on_delete;
    "deletedWith": text deleted_with;
    "replaceWith": list replace_with;
    "created": time created;
    "modified": time modified;
    "sourcePosition": text source_position;
    "stackTrace": stack_trace stack_trace;
    "ignoreChanges": list ignore_changes;
    "hideDiff": list hide_diff;
    "replaceOnChanges": list replace_on_changes;
    "replacementTrigger": trigger replacement_trigger;
    "refreshBeforeUpdate": flag refresh_before_update;
    "viewOf": text view_of;
    "resourceHooks": hooks resource_hooks;
    "extensionRef": text extension_ref;
    "snippetID": text snippet_id;
}

#[cfg(test)]
mod tests {
    use super::RESOURCE_MEMBERS;
    use crate::{DecodeOptions, NoteKind, decode};

    /// A deployment of one resource that has a member twice, with different values.
    fn notes(name: &str) -> Vec<NoteKind> {
        let members = format!(
            r#""urn":"urn:pulumi:a::b::c:c:c::d","custom":true,"type":"c:c:c","{name}":null,"{name}":null"#
        );
        let text = format!(r#"{{"version":3,"deployment":{{"manifest":{{}},"resources":[{{{members}}}]}}}}"#);
        let file = decode(text.as_bytes(), &DecodeOptions::default());
        file.map(|file| file.notes.iter().map(|note| note.kind).collect()).unwrap_or_default()
    }

    #[test]
    fn every_member_that_stands_twice_is_noted_and_no_unknown_one() {
        for name in RESOURCE_MEMBERS {
            assert!(!notes(name).is_empty(), "{name}");
        }
        assert!(notes("later").is_empty());
    }
}
