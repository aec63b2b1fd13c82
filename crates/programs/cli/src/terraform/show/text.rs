//! `show` for people: instances as blocks of configuration, and the outputs.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::AnsiColor;
use groundstate_common::one_line;
use groundstate_json::Tape;
use groundstate_statefile::{File, value_json};
use groundstate_states::addr::ResourceMode;
use groundstate_states::{Generation, ObjectStatus};

use super::view::{Shown, View, attributes, marks};
use crate::report::output::Output;
use crate::report::text::count;
use groundstate_values::{Hcl, Marks, quoted};

/// Prints what the view shows.
pub(super) fn print(view: &View<'_>, name: &str, out: &mut Output) -> io::Result<()> {
    let whole = view.target.is_none();
    if whole {
        summary(view.file, name, out)?;
    }
    for (index, shown) in view.objects().enumerate() {
        if whole || index > 0 {
            out.line("")?;
        }
        object(&shown, view.reveal, out)?;
    }
    if whole && !view.file.state.outputs().is_empty() {
        outputs(view, out)?;
    }
    Ok(())
}

/// Two lines about the state as a whole.
fn summary(file: &File, name: &str, out: &mut Output) -> io::Result<()> {
    let writer = match &file.terraform_version {
        Some(version) => format!("written by {} {version}", file.dialect),
        None => "its writer is unknown".to_owned(),
    };
    let paint = out.paint();
    let serial = file.serial;
    let lineage =
        if file.lineage.is_empty() { "no lineage".to_owned() } else { format!("lineage {}", file.lineage) };
    let version = file.style.source_version;
    let about = format!("# {name}: version {version}, {writer}, serial {serial}, {lineage}");
    let about = one_line(&about);
    writeln!(out, "{}", paint.dim(&about))?;
    let state = &file.state;
    let modules: BTreeSet<_> = state.all_resources().map(|(module, ..)| module).collect();
    let counts = [
        count(state.resource_instances().count(), "instance"),
        count(state.all_resources().count(), "resource"),
        count(modules.len(), "module"),
        count(state.outputs().len(), "output"),
    ];
    let [instances, resources, modules, outputs] = counts;
    writeln!(out, "{}", paint.dim(&format!("# {instances} of {resources} in {modules}, {outputs}")))
}

fn object(shown: &Shown<'_>, reveal: bool, out: &mut Output) -> io::Result<()> {
    let paint = out.paint();
    let address = format!("# {}", shown.address);
    let mut heading = format!("{}:", paint.bold(&one_line(&address)));
    if shown.object.status == ObjectStatus::Tainted {
        heading.push_str(&format!(" ({})", paint.colour(AnsiColor::Red, "tainted")));
    }
    if shown.object.skip_destroy {
        heading.push_str(&format!(" ({})", paint.colour(AnsiColor::Yellow, "skip_destroy")));
    }
    if let Generation::Deposed(key) = shown.generation {
        heading.push_str(&format!(
            " ({})",
            paint.colour(AnsiColor::Yellow, &one_line(&format!("deposed object {key}")))
        ));
    }
    writeln!(out, "{heading}")?;
    let name = &shown.address.resource.resource;
    let keyword = match name.mode {
        ResourceMode::Managed => "resource",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    };
    writeln!(out, "{keyword} {} {} {{", quoted(&name.type_name), quoted(&name.name))?;
    let text = attributes(shown.object);
    let tape = Tape::new(&text);
    let marks = if reveal { Marks::default() } else { marks(shown.object, &tape) };
    out.write_all(Hcl::block(&tape, &marks, 1).as_bytes())?;
    writeln!(out, "}}")
}

fn outputs(view: &View<'_>, out: &mut Output) -> io::Result<()> {
    let paint = out.paint();
    writeln!(out, "\n{}\n", paint.bold("Outputs:"))?;
    for (name, output) in view.file.state.outputs() {
        let text = value_json(output).unwrap_or_else(|| "null".to_owned());
        let tape = Tape::new(&text);
        let value = match output.sensitive && !view.reveal {
            true => "(sensitive value)".to_owned(),
            false => Hcl::value(&tape, &Marks::default(), 0),
        };
        let name = one_line(name);
        writeln!(out, "{name} = {value}")?;
    }
    Ok(())
}
