//! `groundstate order`: in which order things go, and why.

mod answer;
mod deployment;
mod graph;
mod subject;
mod text;

use std::fmt::Display;
use std::path::Path;

use crate::args::{GraphFormat, OrderArgs, OrderQuestion, PictureArgs, RulesArgs};
use crate::error::{Failure, Kind, Outcome, Result};
use crate::family::Family;
use crate::output::{Messages, Output};
use crate::save;
use crate::source::{Source, is_standard};
use graph::{Text, draw};
use subject::Subject;

/// Errors and warnings that are printed one by one; the rest is counted.
const MOST: usize = 50;

pub(super) fn run(args: &OrderArgs) -> Result {
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
            let source = Source::find(&args.subject.subject)?;
            match source.family {
                Family::Terraform => {
                    print(Subject::any(source)?.rules(&args.rules)?, &args.picture, text::waves)
                }
                Family::Pulumi => deployment::print(&source, &args.rules, &args.picture, text::waves),
            }
        }
        OrderQuestion::Why(args) => {
            let source = Source::find(&args.subject.subject)?;
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
    warn(graph.warnings());
    write(&draw(&graph, args.format, text)?, args.output.as_deref())?;
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

fn warn(warnings: &[impl Display]) {
    let mut messages = Messages::stderr();
    for warning in warnings.iter().take(MOST) {
        messages.warning(&warning.to_string());
    }
    if warnings.len() > MOST {
        messages.warning(&format!("and {} more", warnings.len() - MOST));
    }
}

/// Says everything that stands against an order.
fn refused(errors: &[impl Display], name: &str) -> Failure {
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
