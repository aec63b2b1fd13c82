//! `groundstate outputs`: the outputs of a stack.

use std::io::{self, Write};

use groundstate_common::one_line;
use groundstate_json::indented;
use groundstate_pulumi_deployment::stack_outputs;
use groundstate_pulumi_snapshot::{PropertyMap, PropertyValue};

use super::secrets;
use super::shown::{Secrets, hcl, json};
use super::unreadable::{settle, told};
use crate::args::OutputsArgs;
use crate::input::pulumi::{PulumiState, load, snapshot};
use crate::input::remote::command_on;
use crate::report::error::{Failure, Kind, Result};
use crate::report::messages::Messages;
use crate::report::output::Output;

/// Prints the outputs, or one of them.
pub(crate) fn outputs(args: &OutputsArgs, source: &PulumiState) -> Result {
    let mut loaded = load(source)?;
    let root = snapshot(&loaded.file).root_stack().map(|(index, _)| index);
    let mut unreadable = settle(&mut loaded.file);
    // Outputs are those of the root of the stack, and all are read before one of them is shown.
    unreadable.retain(|one| one.resource == root && root.is_some() && one.member == "outputs");
    if args.reveal {
        secrets::open_outputs(&mut loaded.file)?;
    }
    let secrets = Secrets::of(args.reveal);
    let outputs = stack_outputs(&snapshot(&loaded.file), None).map_err(secrets::failure)?.unwrap_or_default();
    let outcome = told(unreadable.iter(), &source.name);
    let mut out = Output::stdout();
    match args.name.as_deref() {
        Some(name) => {
            let Some(value) = outputs.get(name) else { return Err(unknown(name, source)) };
            one(name, value, args, secrets, &mut out)?;
        }
        None if args.json => out.json(&indented(&json(&PropertyValue::Object(outputs), secrets), 2))?,
        None => all(&outputs, source, secrets, &mut out)?,
    }
    out.finish()?;
    Ok(outcome)
}

fn all(outputs: &PropertyMap, source: &PulumiState, secrets: Secrets, out: &mut Output) -> io::Result<()> {
    if outputs.is_empty() {
        Messages::stderr().warning(&format!("{} has no outputs", source.name));
    }
    for (name, value) in outputs.iter() {
        let name = one_line(name);
        writeln!(out, "{name} = {}", hcl(value, secrets, 0))?;
    }
    Ok(())
}

fn one(
    name: &str,
    value: &PropertyValue,
    args: &OutputsArgs,
    secrets: Secrets,
    out: &mut Output,
) -> Result<()> {
    if args.raw {
        out.write_all(raw(name, value, secrets)?.as_bytes())?;
    } else if args.json {
        out.json(&json(value, secrets))?;
    } else {
        writeln!(out, "{}", hcl(value, secrets, 0))?;
    }
    Ok(())
}

/// The text of a value that has one.
fn raw(name: &str, value: &PropertyValue, secrets: Secrets) -> Result<String> {
    let failure = |what: &str, hint: &str| {
        Err(Failure::new(Kind::Usage, format!("the output {name:?} is {what}")).hint(hint))
    };
    match value {
        PropertyValue::String(text) => Ok(text.to_string()),
        PropertyValue::Number(number) => Ok(number.to_string()),
        PropertyValue::Bool(value) => Ok(value.to_string()),
        PropertyValue::Secret(secret) if secrets == Secrets::Shown => match secret.value() {
            Some(value) => raw(name, value, secrets),
            None => failure("encrypted", "use `--show-secrets`"),
        },
        PropertyValue::Secret(_) => failure("a secret", "print it with `--show-secrets`"),
        PropertyValue::Null => failure("null, which has no raw form", "use `--json` instead of `--raw`"),
        PropertyValue::Array(_) => {
            failure("a list, which has no raw form", "use `--json` instead of `--raw`")
        }
        _ => failure("an object, which has no raw form", "use `--json` instead of `--raw`"),
    }
}

fn unknown(name: &str, source: &PulumiState) -> Failure {
    Failure::new(Kind::NotFound, format!("{} has no output {name:?}", source.name))
        .hint(format!("`{}` shows what there is", command_on("groundstate outputs", &source.name)))
}
