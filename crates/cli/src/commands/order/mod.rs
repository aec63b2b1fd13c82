//! `groundstate order`: in which order things go, and why.

mod answer;
mod subject;
mod text;

use std::path::Path;

use groundstate_ordering::{BuildError, DotStyle, OperationGraph};

use crate::args::{GraphFormat, OrderArgs, OrderQuestion, PictureArgs, RulesArgs};
use crate::error::{Failure, Kind, Outcome, Result};
use crate::output::{Messages, Output};
use crate::save;
use crate::source::is_standard;
use crate::svg;
use subject::Subject;

/// Errors and warnings that are printed one by one; the rest is counted.
const MOST: usize = 50;

pub(super) fn run(args: &OrderArgs) -> Result {
    match &args.question {
        OrderQuestion::Destroy(args) => {
            print(Subject::state(&args.state.state)?.rules(&args.rules)?, &args.picture, text::listing)
        }
        OrderQuestion::Plan(args) => {
            let subject = Subject::plan(&args.plan, args.state.as_deref())?;
            print(subject.rules(&args.rules)?, &args.picture, text::listing)
        }
        OrderQuestion::Waves(args) => {
            print(Subject::any(&args.subject.subject)?.rules(&args.rules)?, &args.picture, text::waves)
        }
        OrderQuestion::Why(args) => answer::why(args),
        OrderQuestion::Blast(args) => answer::blast(args),
    }
}

/// How a graph without cycles is printed for people.
type Text = fn(&OperationGraph) -> Option<String>;

/// Prints the graph; one with cycles can still be drawn, and is an error all the same.
fn print(subject: Subject, args: &PictureArgs, text: Text) -> Result {
    let (graph, failure) = match subject.graph(!args.all_edges) {
        Ok(graph) => (graph, None),
        Err(errors) => {
            let failure = refused(&errors.errors, &subject.name);
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
        GraphFormat::Svg => {
            let size = svg::Size { nodes: graph.nodes().len(), edges: graph.edges().count() };
            svg::draw(&graph.to_dot(DotStyle::Flat), size)?
        }
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
