//! `groundstate outputs`: the outputs of the root module.

use std::io::{self, Write};

use groundstate_common::one_line;
use groundstate_json::{Tape, indented};
use groundstate_statefile::{Document, type_json, value_json};
use groundstate_states::{OutputValue, Value};

use crate::args::OutputsArgs;
use crate::input::backend::refused;
use crate::input::remote::Located;
use crate::input::remote::command_on;
use crate::input::runtime::runtime;
use crate::input::source::ScanFailure;
use crate::input::terraform::{TerraformState, load_if_any};
use crate::input::threads::shared;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::{did_you_mean, similar};
use groundstate_values::{Hcl, Marks, concrete};

type Named = (String, OutputValue);

/// Prints the outputs, or one of them.
pub(crate) fn outputs(args: &OutputsArgs, source: &TerraformState) -> Result {
    let mut out = Output::stdout();
    if let Some(name) = args.name.as_deref() {
        let Some(output) = read_one(source, name)? else { return Err(unknown(name, source)) };
        one(name, &output, args, &mut out)?;
    } else {
        all(&read_all(source)?, args, source, &mut out)?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn all(outputs: &[Named], args: &OutputsArgs, source: &TerraformState, out: &mut Output) -> io::Result<()> {
    if args.json {
        return out.json(&indented(&all_json(outputs), 2));
    }
    if outputs.is_empty() {
        Messages::stderr().warning(&format!("{} has no outputs", source.name));
    }
    all_text(outputs, args.reveal, out)
}

/// Prints one output that a backend can tell without the rest of the state; nothing, if only the whole of it can tell.
pub(crate) fn one_from_afar(args: &OutputsArgs, located: &Located) -> Result<Option<Outcome>> {
    let Some(output) = read_from_afar(args, located)? else { return Ok(None) };
    let mut out = Output::stdout();
    one(args.name.as_deref().unwrap_or_default(), &output, args, &mut out)?;
    out.finish()?;
    Ok(Some(Outcome::Clean))
}

fn read_from_afar(args: &OutputsArgs, located: &Located) -> Result<Option<OutputValue>> {
    let (Some(name), Located::Remote(remote)) = (args.name.as_deref(), located) else { return Ok(None) };
    let Some(outputs) = &remote.place.opened.outputs else { return Ok(None) };
    let found = runtime()?.block_on(outputs.outputs(&remote.place.workspace, Some(name)));
    let found = found.map_err(|error| refused(&error))?;
    Ok(found.and_then(|mut found| found.pop()).map(|(_, output)| output))
}

/// Reads one output, and no more of the file than that takes.
fn read_one(source: &TerraformState, name: &str) -> Result<Option<OutputValue>> {
    match source.outputs(Some(name)) {
        Ok(mut found) if !found.is_empty() => Ok(found.pop().map(|(_, output)| output)),
        Err(ScanFailure::Failed(failure)) => Err(failure),
        // Whether it is missing, or the file is damaged, only the whole file can tell.
        _ => Ok(read_all(source)?.into_iter().find(|(known, _)| known == name).map(|(_, output)| output)),
    }
}

/// Reads all outputs of a state that has been checked as a whole.
fn read_all(source: &TerraformState) -> Result<Vec<Named>> {
    if let Ok(document) = Document::open_with(source.text()?.into_owned(), &shared()) {
        // One after the other: a document finds each by name, which takes long if there are very many.
        if let Ok(outputs) = groundstate_statefile::outputs(document.text(), None) {
            return Ok(outputs);
        }
    }
    let Some(loaded) = load_if_any(source)? else { return Ok(Vec::new()) };
    let outputs = loaded.file.state.outputs().iter();
    Ok(outputs.map(|(name, output)| (name.to_string(), OutputValue::clone(output))).collect())
}

fn unknown(name: &str, source: &TerraformState) -> Failure {
    let names = read_all(source).unwrap_or_default().into_iter().map(|(name, _)| name);
    let failure = Failure::new(Kind::NotFound, format!("{} has no output {name:?}", source.name));
    did_you_mean(&similar(name, names))
        .into_iter()
        .fold(failure, Failure::hint)
        .hint(format!("`{}` shows what there is", command_on("groundstate outputs", &source.name)))
}

fn one(name: &str, output: &OutputValue, args: &OutputsArgs, out: &mut Output) -> Result<()> {
    if args.raw {
        out.write_all(raw(name, &output.value)?.as_bytes())?;
    } else if args.json {
        out.json(&json_of(output))?;
    } else {
        out.write_all(pretty(output).as_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The text of a value that has one.
fn raw(name: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        Value::Number(number) => Ok(number.as_str().to_owned()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Dynamic(typed) => raw(name, &typed.1),
        other => {
            let kind = match other {
                Value::Null => "null",
                Value::Sequence(_) => "a list",
                _ => "an object or map",
            };
            let message = format!("the output {name:?} is {kind}, which has no raw form");
            Err(Failure::new(Kind::Usage, message).hint("use `--json` instead of `--raw`"))
        }
    }
}

/// The value without wrappers, as JSON.
fn json_of(output: &OutputValue) -> String {
    // The reader has checked that the value conforms to its type.
    let text = value_json(output).unwrap_or_else(|| "null".to_owned());
    groundstate_values::values(&Tape::new(&text), &Marks::default())
}

fn pretty(output: &OutputValue) -> String {
    let json = json_of(output);
    let tape = Tape::new(&json);
    Hcl::value(&tape, &Marks::default(), 0)
}

fn all_text(outputs: &[Named], reveal: bool, out: &mut Output) -> io::Result<()> {
    for (name, output) in outputs {
        let value = if output.sensitive && !reveal { "<sensitive>".to_owned() } else { pretty(output) };
        let name = one_line(name);
        writeln!(out, "{name} = {value}")?;
    }
    Ok(())
}

fn all_json(outputs: &[Named]) -> String {
    Json::object(|json| {
        for (name, output) in outputs {
            json.inner(name, |json| {
                if let Some(message) = &output.deprecated {
                    json.text("deprecated", message);
                }
                json.raw("sensitive", output.sensitive);
                json.raw("type", type_json(&concrete(&output.value_type, &output.value)));
                json.raw("value", json_of(output));
            });
        }
    })
}
