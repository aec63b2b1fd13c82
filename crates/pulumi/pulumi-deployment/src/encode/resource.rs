//! Resources and operations.

use std::io;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{
    Operation, Properties, PropertyDependencies, Resource, StackFrame, StoredValue, Timeouts,
};

use super::{EncodeError, Encoder};
use crate::property::{PropertyError, encode_map, encode_value};

/// Names of all members, in the order in which they are written.
pub(crate) const RESOURCE_MEMBERS: [&str; 36] = [
    "urn",
    "custom",
    "delete",
    "id",
    "type",
    "inputs",
    "outputs",
    "parent",
    "protect",
    "taint",
    "external",
    "dependencies",
    "initErrors",
    "provider",
    "propertyDependencies",
    "pendingReplacement",
    "additionalSecretOutputs",
    "aliases",
    "customTimeouts",
    "importID",
    "retainOnDelete",
    "deletedWith",
    "replaceWith",
    "created",
    "modified",
    "sourcePosition",
    "stackTrace",
    "ignoreChanges",
    "hideDiff",
    "replaceOnChanges",
    "replacementTrigger",
    "refreshBeforeUpdate",
    "viewOf",
    "resourceHooks",
    "extensionRef",
    "snippetID",
];

impl<W: io::Write> Encoder<W> {
    pub(crate) fn operation(&mut self, operation: &Operation) -> Result<(), EncodeError> {
        self.writer.open('{');
        self.writer.name("resource");
        self.resource(&operation.resource)?;
        self.writer.name("type");
        self.writer.string(operation.kind.as_str());
        self.extra(&operation.extra)?;
        Ok(self.writer.close('}')?)
    }

    pub(crate) fn resource(&mut self, resource: &Resource) -> Result<(), EncodeError> {
        self.writer.open('{');
        self.writer.name("urn");
        self.writer.string(resource.urn.as_str());
        self.writer.name("custom");
        self.writer.scalar(if resource.custom { "true" } else { "false" });
        self.flag("delete", resource.delete);
        self.text("id", resource.id.as_ref());
        self.writer.name("type");
        self.writer.string(resource.resource_type.as_str());
        self.properties("inputs", &resource.inputs, resource)?;
        self.properties("outputs", &resource.outputs, resource)?;
        self.text("parent", resource.parent.as_ref());
        self.flag("protect", resource.protect);
        self.flag("taint", resource.taint);
        self.flag("external", resource.external);
        self.list("dependencies", &resource.dependencies)?;
        self.list("initErrors", &resource.init_errors)?;
        self.text("provider", resource.provider.as_ref());
        self.property_dependencies(&resource.property_dependencies)?;
        self.flag("pendingReplacement", resource.pending_replacement);
        self.list("additionalSecretOutputs", &resource.additional_secret_outputs)?;
        self.list("aliases", &resource.aliases)?;
        if let Some(timeouts) = resource.custom_timeouts.get() {
            self.timeouts(timeouts)?;
        }
        self.text("importID", resource.import_id.as_ref());
        self.flag("retainOnDelete", resource.retain_on_delete);
        self.text("deletedWith", resource.deleted_with.as_ref());
        self.list("replaceWith", &resource.replace_with)?;
        self.text("created", resource.created.map(|time| time.to_string()).as_ref());
        self.text("modified", resource.modified.map(|time| time.to_string()).as_ref());
        self.tail(resource)?;
        self.extra(&resource.extra)?;
        Ok(self.writer.close('}')?)
    }

    /// Members 26 to 36.
    fn tail(&mut self, resource: &Resource) -> Result<(), EncodeError> {
        self.text("sourcePosition", resource.source_position.as_ref());
        self.stack_trace(&resource.stack_trace)?;
        self.list("ignoreChanges", &resource.ignore_changes)?;
        self.list("hideDiff", &resource.hide_diff)?;
        self.list("replaceOnChanges", &resource.replace_on_changes)?;
        self.trigger(resource)?;
        self.flag("refreshBeforeUpdate", resource.refresh_before_update);
        self.text("viewOf", resource.view_of.as_ref());
        if !resource.resource_hooks.is_empty() {
            self.writer.name("resourceHooks");
            self.writer.open('{');
            for (moment, names) in &resource.resource_hooks {
                self.writer.name(moment.as_str());
                self.array(names)?;
            }
            self.writer.close('}')?;
        }
        self.text("extensionRef", resource.extension_ref.as_ref());
        self.text("snippetID", resource.snippet_id.as_ref());
        Ok(())
    }

    fn flag(&mut self, name: &str, value: bool) {
        if value {
            self.writer.name(name);
            self.writer.scalar("true");
        }
    }

    /// A text, if there is one that is not empty.
    pub(super) fn text(&mut self, name: &str, value: Option<&impl AsRef<str>>) {
        if let Some(text) = value.map(AsRef::as_ref).filter(|text| !text.is_empty()) {
            self.writer.name(name);
            self.writer.string(text);
        }
    }

    fn list(&mut self, name: &str, values: &[impl AsRef<str>]) -> io::Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        self.writer.name(name);
        self.array(values)
    }

    fn array(&mut self, values: &[impl AsRef<str>]) -> io::Result<()> {
        self.writer.open('[');
        values.iter().for_each(|value| self.writer.string(value.as_ref()));
        self.writer.close(']')
    }

    fn properties(
        &mut self,
        name: &str,
        properties: &Properties,
        resource: &Resource,
    ) -> Result<(), EncodeError> {
        match properties {
            _ if properties.is_empty() => {}
            Properties::Absent => {}
            Properties::Raw(raw) => {
                self.writer.name(name);
                self.writer.raw(raw.as_str())?;
            }
            Properties::Map(map) => {
                let raw = encode_map(map, self.layout.escapes, self.secrets);
                let raw = raw.map_err(|source| property_error(resource, name, source))?;
                self.writer.name(name);
                self.writer.raw(raw.as_str())?;
            }
        }
        Ok(())
    }

    fn trigger(&mut self, resource: &Resource) -> Result<(), EncodeError> {
        const NAME: &str = "replacementTrigger";
        let raw = match &resource.replacement_trigger {
            None => return Ok(()),
            Some(trigger) if trigger.is_null() => return Ok(()),
            Some(StoredValue::Raw(raw)) => raw.clone(),
            Some(StoredValue::Value(value)) => encode_value(value, self.layout.escapes, self.secrets)
                .map_err(|source| property_error(resource, NAME, source))?,
        };
        self.writer.name(NAME);
        Ok(self.writer.raw(raw.as_str())?)
    }

    fn property_dependencies(&mut self, dependencies: &PropertyDependencies) -> io::Result<()> {
        if dependencies.is_empty() {
            return Ok(());
        }
        self.writer.name("propertyDependencies");
        self.writer.open('{');
        for (property, urns) in dependencies.iter() {
            self.writer.name(property);
            match urns {
                Some(urns) => self.array(urns)?,
                None => self.writer.scalar("null"),
            }
        }
        self.writer.close('}')
    }

    fn timeouts(&mut self, timeouts: &Timeouts) -> io::Result<()> {
        self.writer.name("customTimeouts");
        self.writer.open('{');
        let all = [
            ("create", &timeouts.create),
            ("update", &timeouts.update),
            ("delete", &timeouts.delete),
            ("read", &timeouts.read),
        ];
        for (name, seconds) in all {
            // Neither zero nor what JSON has no number for.
            let seconds = seconds.as_ref().filter(|number| number.value() != 0.0);
            if let Some(seconds) = seconds.filter(|n| n.value().is_finite() || n.literal().is_some()) {
                self.writer.name(name);
                self.writer.scalar(&seconds.to_string());
            }
        }
        self.extra(&timeouts.extra)?;
        self.writer.close('}')
    }

    fn stack_trace(&mut self, frames: &[StackFrame]) -> io::Result<()> {
        if frames.is_empty() {
            return Ok(());
        }
        self.writer.name("stackTrace");
        self.writer.open('[');
        for frame in frames {
            self.writer.open('{');
            self.text("sourcePosition", frame.source_position.as_ref());
            self.extra(&frame.extra)?;
            self.writer.close('}')?;
        }
        self.writer.close(']')
    }
}

fn property_error(resource: &Resource, member: &str, source: PropertyError) -> EncodeError {
    let source = source.inside(&Arc::from(member));
    EncodeError::Property { urn: resource.urn.to_string(), source }
}
