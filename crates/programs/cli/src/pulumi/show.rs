//! `groundstate show`: resources with their inputs and outputs, what they need, and what is special about them.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::AnsiColor;
use groundstate_common::one_line;
use groundstate_json::Tape;
use groundstate_pulumi_deployment::{
    DeploymentFile, PropertyError, decode_map, decode_value, encode_resource, stack_outputs,
};
use groundstate_pulumi_snapshot::{
    Properties, PropertyMap, PropertyValue, RawJson, Resource, Snapshot, StoredValue,
};

use super::shown::{self, Secrets};
use super::unreadable::{settle, told};
use super::{secrets, select};
use crate::args::ShowArgs;
use crate::input::pulumi::{PulumiState, envelope, load, snapshot};
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::report::text::count;
use groundstate_values::{Hcl, quoted};

/// Shows the whole snapshot, or the resources that an argument stands for.
pub(crate) fn show(args: &ShowArgs, source: &PulumiState) -> Result {
    let mut loaded = load(source)?;
    let chosen = match args.address.as_deref() {
        Some(word) => Some(select::find(&snapshot(&loaded.file), word, &source.name)?),
        None => None,
    };
    let unreadable = settle(&mut loaded.file);
    if args.reveal {
        secrets::open(&mut loaded.file)?;
    }
    let shown = unreadable.iter().filter(|one| match (&chosen, one.resource) {
        (Some(chosen), Some(index)) => chosen.contains(&index),
        (chosen, _) => chosen.is_none(),
    });
    let outcome = told(shown, &source.name);
    let file = &loaded.file;
    let snapshot = snapshot(file);
    let view = View { file, snapshot, chosen, secrets: Secrets::of(args.reveal) };
    let mut out = Output::stdout();
    if args.json {
        out.json(&view.document()?)?;
    } else {
        view.print(&source.name, &mut out)?;
    }
    out.finish()?;
    Ok(outcome)
}

/// What is shown of a deployment.
struct View<'f> {
    file: &'f DeploymentFile,
    snapshot: Cow<'f, Snapshot>,
    /// Only these resources; everything if there is none.
    chosen: Option<Vec<usize>>,
    secrets: Secrets,
}

/// How the values of a resource are written.
type Writing = fn(&PropertyValue, Secrets) -> String;

impl View<'_> {
    fn resources(&self) -> Vec<&Resource> {
        match &self.chosen {
            Some(chosen) => chosen.iter().filter_map(|index| self.snapshot.resource(*index)).collect(),
            None => self.snapshot.resources.iter().map(|resource| &**resource).collect(),
        }
    }

    fn outputs(&self) -> Result<PropertyMap> {
        Ok(stack_outputs(&self.snapshot, None).map_err(secrets::failure)?.unwrap_or_default())
    }

    /// The document for programs.
    fn document(&self) -> Result<String> {
        let texts = |resources: Vec<&Resource>| -> Result<Vec<String>> {
            resources.into_iter().map(|resource| text_of(resource, self.secrets, shown::json)).collect()
        };
        let resources = texts(self.resources())?;
        let operations = self.snapshot.pending_operations.iter();
        let pending = texts(operations.clone().map(|operation| &*operation.resource).collect())?;
        let outputs = shown::json(&PropertyValue::Object(self.outputs()?), self.secrets);
        Ok(Json::document(|json| {
            json.raw("version", self.file.style.source_version);
            if let Some(stack) = self.file.stack() {
                json.text("stack", stack);
            }
            if self.chosen.is_none() {
                json.raw("outputs", outputs);
            }
            json.raw("resources", format_args!("[{}]", resources.join(",")));
            if self.chosen.is_none() && !pending.is_empty() {
                json.objects(
                    "pending_operations",
                    operations.zip(&pending),
                    |json, (operation, resource)| {
                        json.text("type", operation.kind.as_str());
                        json.raw("resource", resource);
                    },
                );
            }
        }))
    }

    /// The text for people.
    fn print(&self, name: &str, out: &mut Output) -> Result<()> {
        let whole = self.chosen.is_none();
        if whole {
            self.summary(name, out)?;
        }
        for (index, resource) in self.resources().into_iter().enumerate() {
            if whole || index > 0 {
                out.line("")?;
            }
            block(resource, "", self.secrets, out)?;
        }
        if !whole {
            return Ok(());
        }
        for operation in &self.snapshot.pending_operations {
            out.line("")?;
            block(&operation.resource, &format!("pending: {}", operation.kind), self.secrets, out)?;
        }
        let outputs = self.outputs()?;
        if !outputs.is_empty() {
            let heading = out.paint().bold("Outputs:");
            writeln!(out, "\n{heading}\n")?;
            for (name, value) in outputs.iter() {
                let name = one_line(name);
                writeln!(out, "{name} = {}", shown::hcl(value, self.secrets, 0))?;
            }
        }
        Ok(())
    }

    /// Two lines about the file as a whole.
    fn summary(&self, name: &str, out: &mut Output) -> io::Result<()> {
        let of = self.file.stack().map(|stack| format!(" of {stack}")).unwrap_or_default();
        let manifest = &self.snapshot.manifest;
        let writer = match (&self.file.snapshot, manifest.version.is_empty()) {
            (None, _) => "never updated".to_owned(),
            (Some(_), true) => format!("written at {}, its writer is unknown", manifest.time),
            (Some(_), false) => format!("written by Pulumi {} at {}", manifest.version, manifest.time),
        };
        let secrets = match &self.snapshot.secrets_provider {
            Some(provider) if !provider.kind.is_empty() => format!("secrets by {}", provider.kind),
            _ => "no secrets provider".to_owned(),
        };
        let version = self.file.style.source_version;
        let about = format!("# {name}: version {version}, {}{of}, {writer}, {secrets}", envelope(self.file));
        let counts = format!(
            "# {}, {}",
            count(self.snapshot.resources.len(), "resource"),
            count(self.snapshot.pending_operations.len(), "pending operation")
        );
        for line in [about, counts] {
            let line = out.paint().dim(&one_line(&line));
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// One resource as a block of its members.
fn block(resource: &Resource, remark: &str, secrets: Secrets, out: &mut Output) -> Result<()> {
    let paint = out.paint();
    let mut heading = format!("{}:", paint.bold(&one_line(&format!("# {}", resource.urn))));
    let words = [
        (remark, AnsiColor::Yellow),
        (if resource.delete { "waits for its deletion" } else { "" }, AnsiColor::Yellow),
        (if resource.pending_replacement { "waits for its replacement" } else { "" }, AnsiColor::Yellow),
        (if resource.taint { "tainted" } else { "" }, AnsiColor::Red),
        (if resource.protect { "protected" } else { "" }, AnsiColor::Green),
    ];
    for (word, colour) in words.iter().filter(|(word, _)| !word.is_empty()) {
        heading.push_str(&format!(" ({})", paint.colour(*colour, &one_line(word))));
    }
    let text = text_of(resource, secrets, shown::marked)?;
    let tape = Tape::new(&text);
    writeln!(out, "{heading}")?;
    writeln!(out, "resource {} {} {{", quoted(resource.resource_type.as_str()), quoted(resource.urn.name()))?;
    out.write_all(Hcl::block(&tape, &shown::marks(&tape), 1).as_bytes())?;
    writeln!(out, "}}")?;
    Ok(())
}

/// A resource as compact JSON with all its members, its values written by the function.
fn text_of(resource: &Resource, secrets: Secrets, write: Writing) -> Result<String> {
    let unusable = |error: &dyn std::error::Error| {
        let message = format!("the properties of {} cannot be read: {}", resource.urn, chain(error));
        Failure::new(Kind::Unusable, message)
    };
    let rewritten = |properties: &Properties| -> Result<Properties, PropertyError> {
        let map = match properties {
            Properties::Absent => return Ok(Properties::Absent),
            Properties::Raw(raw) => decode_map(raw)?,
            Properties::Map(map) => map.clone(),
        };
        Ok(Properties::Raw(RawJson::from_validated(&write(&PropertyValue::Object(map), secrets))))
    };
    let mut copy = resource.clone();
    copy.inputs = rewritten(&resource.inputs).map_err(|error| unusable(&error))?;
    copy.outputs = rewritten(&resource.outputs).map_err(|error| unusable(&error))?;
    copy.replacement_trigger = match &resource.replacement_trigger {
        None => None,
        Some(StoredValue::Raw(raw)) => Some(decode_value(raw).map_err(|error| unusable(&error))?),
        Some(StoredValue::Value(value)) => Some(value.clone()),
    }
    .map(|value| StoredValue::Raw(RawJson::from_validated(&write(&value, secrets))));
    let text = encode_resource(&copy, groundstate_pulumi_deployment::Secrets::Sealed);
    Ok(text.map_err(|error| unusable(&error))?.as_str().to_owned())
}
