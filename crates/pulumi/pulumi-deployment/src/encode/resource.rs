//! Resources and operations.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{
    CustomTimeouts, HookType, Operation, Properties, PropertyDependencies, Resource, StackFrame, StoredValue,
    Time, Timeouts,
};

use super::{EncodeError, Encoder};
use crate::members::write_members;
use crate::property::{PropertyError, encode_map, encode_value};

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
        write_members(self, resource)?;
        self.extra(&resource.extra)?;
        Ok(self.writer.close('}')?)
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

    fn trigger(
        &mut self,
        name: &str,
        trigger: Option<&StoredValue>,
        resource: &Resource,
    ) -> Result<(), EncodeError> {
        let raw = match trigger {
            None => return Ok(()),
            Some(trigger) if trigger.is_null() => return Ok(()),
            Some(StoredValue::Raw(raw)) => raw.clone(),
            Some(StoredValue::Value(value)) => encode_value(value, self.layout.escapes, self.secrets)
                .map_err(|source| property_error(resource, name, source))?,
        };
        self.writer.name(name);
        Ok(self.writer.raw(raw.as_str())?)
    }

    fn property_dependencies(&mut self, name: &str, dependencies: &PropertyDependencies) -> io::Result<()> {
        if dependencies.is_empty() {
            return Ok(());
        }
        self.writer.name(name);
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

    fn timeouts(&mut self, name: &str, timeouts: &Timeouts) -> io::Result<()> {
        self.writer.name(name);
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

    fn stack_trace(&mut self, name: &str, frames: &[StackFrame]) -> io::Result<()> {
        if frames.is_empty() {
            return Ok(());
        }
        self.writer.name(name);
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

// How the table of members has each form written.

type Written = Result<(), EncodeError>;

pub(crate) fn required<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    value: &impl AsRef<str>,
    _: &Resource,
) -> Written {
    out.writer.name(name);
    out.writer.string(value.as_ref());
    Ok(())
}

pub(crate) fn required_flag<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    value: &bool,
    _: &Resource,
) -> Written {
    out.writer.name(name);
    out.writer.scalar(if *value { "true" } else { "false" });
    Ok(())
}

pub(crate) fn flag<W: io::Write>(out: &mut Encoder<W>, name: &str, value: &bool, _: &Resource) -> Written {
    out.flag(name, *value);
    Ok(())
}

pub(crate) fn text<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    value: &Option<impl AsRef<str>>,
    _: &Resource,
) -> Written {
    out.text(name, value.as_ref());
    Ok(())
}

pub(crate) use text as id;

pub(crate) fn list<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    values: &[impl AsRef<str>],
    _: &Resource,
) -> Written {
    Ok(out.list(name, values)?)
}

pub(crate) fn properties<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    properties: &Properties,
    resource: &Resource,
) -> Written {
    out.properties(name, properties, resource)
}

pub(crate) fn property_dependencies<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    dependencies: &PropertyDependencies,
    _: &Resource,
) -> Written {
    Ok(out.property_dependencies(name, dependencies)?)
}

pub(crate) fn timeouts<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    timeouts: &CustomTimeouts,
    _: &Resource,
) -> Written {
    Ok(timeouts.get().map_or(Ok(()), |timeouts| out.timeouts(name, timeouts))?)
}

pub(crate) fn time<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    time: &Option<Time>,
    _: &Resource,
) -> Written {
    out.text(name, time.map(|time| time.to_string()).as_ref());
    Ok(())
}

pub(crate) fn stack_trace<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    frames: &[StackFrame],
    _: &Resource,
) -> Written {
    Ok(out.stack_trace(name, frames)?)
}

pub(crate) fn trigger<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    trigger: &Option<StoredValue>,
    resource: &Resource,
) -> Written {
    out.trigger(name, trigger.as_ref(), resource)
}

pub(crate) fn hooks<W: io::Write>(
    out: &mut Encoder<W>,
    name: &str,
    hooks: &BTreeMap<HookType, Vec<Arc<str>>>,
    _: &Resource,
) -> Written {
    if hooks.is_empty() {
        return Ok(());
    }
    out.writer.name(name);
    out.writer.open('{');
    for (moment, names) in hooks {
        out.writer.name(moment.as_str());
        out.array(names)?;
    }
    Ok(out.writer.close('}')?)
}

fn property_error(resource: &Resource, member: &str, source: PropertyError) -> EncodeError {
    let source = source.inside(&Arc::from(member));
    EncodeError::Property { urn: resource.urn.to_string(), source }
}
