//! `groundstate order`: in which order things go, and why.

mod answer;
mod text;

use std::path::Path;

use groundstate_ordering::{BuildError, BuildErrors, DotStyle, Input, OperationGraph, Options, build};
use groundstate_states::State;
use groundstate_states::addr::{AbsResourceInstance, Target};

use crate::args::{GraphFormat, OrderArgs, OrderGraphArgs, OrderQuestion, PictureArgs, RulesArgs};
use crate::error::{Failure, Kind, Outcome, Result};
use crate::load::load;
use crate::output::{Messages, Output};
use crate::save;
use crate::select;
use crate::source::{Source, is_standard};

/// Errors and warnings that are printed one by one; the rest is counted.
const MOST: usize = 50;

pub(super) fn run(args: &OrderArgs) -> Result {
    match &args.question {
        OrderQuestion::Destroy(args) => destroy(args, text::listing),
        OrderQuestion::Waves(args) => destroy(args, text::waves),
        OrderQuestion::Why(args) => answer::why(args),
        OrderQuestion::Blast(args) => answer::blast(args),
    }
}

/// How a graph without cycles is printed for people.
type Text = fn(&OperationGraph) -> Option<String>;

fn destroy(args: &OrderGraphArgs, text: Text) -> Result {
    let source = Source::find(&args.state.state)?;
    let state = load(&source)?.file.state;
    let mut options = options(Options::destroy(), &args.rules, &state, &source.name)?;
    options.reduce = !args.picture.all_edges;
    print(build(&Input::destroy(&state), &options), &args.picture, text, &source.name)
}

/// The options that arguments ask for.
fn options(mut options: Options, rules: &RulesArgs, state: &State, name: &str) -> Result<Options> {
    options.profile = rules.profile.into();
    options.targets = select::parse(&rules.targets)?;
    options.excludes = select::parse(&rules.excludes)?;
    for target in options.targets.iter().chain(&options.excludes) {
        if !select::exists(state, target) {
            return Err(select::unknown(target, name));
        }
    }
    Ok(options)
}

/// Prints the graph; one with cycles can still be drawn, and is an error all the same.
fn print(built: Result<OperationGraph, BuildErrors>, args: &PictureArgs, text: Text, name: &str) -> Result {
    let (graph, failure) = match built {
        Ok(graph) => (graph, None),
        Err(errors) => {
            let failure = refused(&errors.errors, name);
            match errors.cyclic {
                Some(graph) if args.format != GraphFormat::Text => (*graph, Some(failure)),
                _ => return Err(failure),
            }
        }
    };
    warn(&graph);
    let drawn = match args.format {
        GraphFormat::Text => text(&graph).unwrap_or_default(),
        GraphFormat::Json => graph.to_json() + "\n",
        GraphFormat::Dot => graph.to_dot(DotStyle::Picture),
        GraphFormat::Mermaid => graph.to_mermaid(),
    };
    write(&drawn, args.output.as_deref())?;
    failure.map_or(Ok(Outcome::Clean), Err)
}

fn write(text: &str, path: Option<&Path>) -> Result<()> {
    let Some(path) = path.filter(|path| !is_standard(path)) else {
        let mut out = Output::stdout();
        let shown = text.lines().try_for_each(|line| out.line(line));
        return Ok(shown.and_then(|()| out.finish())?);
    };
    save::replace(path, None, |out| out.write_all(text.as_bytes()))
}

fn warn(graph: &OperationGraph) {
    let mut messages = Messages::stderr();
    for warning in graph.warnings().iter().take(MOST) {
        messages.warning(&warning.to_string());
    }
    if graph.warnings().len() > MOST {
        messages.warning(&format!("and {} more", graph.warnings().len() - MOST));
    }
}

/// Says everything that stands against an order.
fn refused(errors: &[BuildError], name: &str) -> Failure {
    let mut message = format!("{name} has no order");
    for error in errors.iter().take(MOST) {
        message.push_str("\n  ");
        message.push_str(&error.to_string().replace('\n', "\n  "));
    }
    if errors.len() > MOST {
        message.push_str(&format!("\n  and {} more", errors.len() - MOST));
    }
    Failure::new(Kind::Unusable, message)
}

/// The graph of destroying everything in a state, for questions about it.
fn graph_of(state: &State, name: &str, options: &Options) -> Result<OperationGraph> {
    build(&Input::destroy(state), options).map_err(|errors| refused(&errors.errors, name))
}

/// The instances that an address stands for.
fn instances(state: &State, address: &str, name: &str) -> Result<(Target, Vec<AbsResourceInstance>)> {
    let target = select::parse_one(address)?;
    if !select::exists(state, &target) {
        return Err(select::unknown(&target, name));
    }
    let known = state.resource_instances().map(|(known, _)| known);
    let found = known.filter(|known| select::matches(&target, known)).collect();
    Ok((target, found))
}
