//! `groundstate order`: in which order things go, and why.

mod answer;
mod compared;
mod deployment;
mod graph;
mod subject;
mod text;

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use groundstate_ordering::{BuildError, BuildErrors, OperationGraph};

use crate::args::{GraphFormat, OrderArgs, OrderQuestion, PictureArgs, RulesArgs, SubjectArg};
use crate::input::family::Family;
use crate::input::source::{Source, is_standard};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::output::{Messages, Output};
use crate::session::save;
use graph::{Text, draw};
use subject::Subject;

/// Errors and warnings that are printed one by one; the rest is counted.
const MOST: usize = 50;

pub(crate) fn run(args: &OrderArgs) -> Result {
    match &args.question {
        OrderQuestion::Destroy(args) => {
            let source = Source::find(&args.state.state)?;
            match source.family {
                Family::Terraform => {
                    print(Subject::state(source)?.rules(&args.rules)?, &args.picture, text::listing)
                }
                Family::Pulumi => deployment::print(&source, &args.rules, &args.picture, text::listing),
            }
        }
        OrderQuestion::Plan(args) => {
            let subject = Subject::plan(&args.plan, args.state.as_deref())?;
            print(subject.rules(&args.rules)?, &args.picture, text::listing)
        }
        OrderQuestion::Waves(args) => {
            let source = subject_of(&args.subject)?;
            match source.family {
                Family::Terraform => print(
                    Subject::any(source, args.subject.before.as_deref())?.rules(&args.rules)?,
                    &args.picture,
                    text::waves,
                ),
                Family::Pulumi => deployment::print(&source, &args.rules, &args.picture, text::waves),
            }
        }
        OrderQuestion::Why(args) => {
            let source = subject_of(&args.subject)?;
            match source.family {
                Family::Terraform => answer::why(args, source),
                Family::Pulumi => deployment::why(args, &source),
            }
        }
        OrderQuestion::Blast(args) => {
            let source = Source::find(&args.state.state)?;
            match source.family {
                Family::Terraform => answer::blast(args, source),
                Family::Pulumi => deployment::blast(args, &source),
            }
        }
    }
}

/// What is asked about. With the state of a plan, a workspace belongs to that state.
fn subject_of(args: &SubjectArg) -> Result<Source> {
    match args.before {
        Some(_) => Source::beside(&args.subject),
        None => Source::find(&args.subject),
    }
}

/// Prints the graph; one with cycles can still be drawn, and is still an error.
fn print(subject: Subject, args: &PictureArgs, text: Text) -> Result {
    if subject.lacks_flags() {
        // What reduction drops may hang on a flag too.
        subject.graph(false).map_or(Ok(()), |graph| subject.decided(&graph))?;
    }
    let (graph, failure) = match subject.graph(!args.all_edges) {
        Ok(graph) => {
            match args.all_edges {
                true => subject.graph(true).iter().for_each(|reduced| compared::note(&subject, reduced)),
                false => compared::note(&subject, &graph),
            }
            (graph, None)
        }
        Err(errors) => {
            let mut failure = refused(&errors, &subject.name);
            if let Some(hint) = compared::way_out(&subject) {
                failure = failure.hint(hint);
            }
            match errors.cyclic {
                Some(graph) if args.format != GraphFormat::Text => (*graph, Some(failure)),
                _ => return Err(failure),
            }
        }
    };
    warn(graph.warnings());
    // The state is no longer needed, and what is written takes as much.
    drop(subject);
    write(&draw(&graph, args.format, text)?, args.format, args.output.as_deref())?;
    failure.map_or(Ok(Outcome::Clean), Err)
}

fn write(text: &str, format: GraphFormat, path: Option<&Path>) -> Result<()> {
    let Some(path) = path.filter(|path| !is_standard(path)) else {
        let mut out = Output::stdout();
        // Whatever a drawing takes from a file is escaped where it is drawn.
        match format {
            GraphFormat::Json => out.json(text.trim_end())?,
            _ => out.write_all(text.as_bytes())?,
        }
        return Ok(out.finish()?);
    };
    save::replace(path, None, |out| out.write_all(text.as_bytes()))
}

fn warn(warnings: &[impl Display]) {
    let mut messages = Messages::stderr();
    for warning in warnings.iter().take(MOST) {
        messages.warning(&warning.to_string());
    }
    if warnings.len() > MOST {
        messages.warning(&format!("and {} more", warnings.len() - MOST));
    }
}

/// Says everything that stands against an order of operations.
fn refused(errors: &BuildErrors, name: &str) -> Failure {
    no_order(&errors.errors, name, |error| lines_of(error, errors.cyclic.as_deref()))
}

/// Says everything that stands against an order.
fn no_order<E>(errors: &[E], name: &str, lines: impl Fn(&E) -> Vec<String>) -> Failure {
    let more = errors.len().saturating_sub(MOST);
    Failure::new(Kind::Unusable, format!("{name} has no order"))
        .details(errors.iter().take(MOST).flat_map(lines))
        .details((more > 0).then(|| format!("and {more} more")))
}

/// An error line by line. Only a cycle has several, and it escapes what it takes from a file.
fn lines_of(error: &BuildError, cyclic: Option<&OperationGraph>) -> Vec<String> {
    let text = match (error, cyclic) {
        (BuildError::Cycle(report), Some(graph)) => report.map(|key| graph.label_of(key)).to_string(),
        _ => error.to_string(),
    };
    match error {
        BuildError::ConfigCycle(_) | BuildError::Cycle(_) => text.lines().map(str::to_owned).collect(),
        _ => vec![text],
    }
}
