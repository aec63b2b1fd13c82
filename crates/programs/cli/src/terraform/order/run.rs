//! Prints the order of a destruction or of a plan.

use super::compared;
use super::subject::Subject;
use crate::args::{GraphFormat, OrderGraphArgs, OrderPlanArgs, OrderWavesArgs, PictureArgs};
use crate::input::terraform::TerraformState;
use crate::report::error::{Outcome, Result};
use crate::report::order::{Graph, Text, draw, listing, warn, waves};
use crate::report::progress::working;
use crate::session::save::write_drawing;

/// In which order everything in a state is destroyed.
pub(crate) fn destroy(args: &OrderGraphArgs, state: TerraformState) -> Result {
    print(Subject::state(state)?.rules(&args.rules)?, &args.picture, destruction)
}

/// The listing of a destruction, and what it follows from: `terraform plan -destroy` merges the references of the
/// configuration into the records first.
fn destruction(graph: &dyn Graph) -> Option<String> {
    let mut text = listing(graph)?;
    if graph.order()?.len() > 1 {
        text.push_str(
            "The order follows from the dependencies that the state records. References that the configuration has gained \
             since show in `groundstate order plan` of `terraform plan -destroy`.\n",
        );
    }
    Some(text)
}

/// In which order the changes of a plan are made.
pub(crate) fn plan(args: &OrderPlanArgs) -> Result {
    let subject = Subject::plan(&args.plan, args.state.as_deref())?;
    print(subject.rules(&args.rules)?, &args.picture, listing)
}

/// What can be done at the same time, of a plan or of the destruction of a state.
pub(crate) fn parallel(args: &OrderWavesArgs, state: TerraformState) -> Result {
    let subject = Subject::any(state, args.before.as_deref())?;
    print(subject.rules(&args.rules)?, &args.picture, waves)
}

/// Prints the graph; one with cycles can still be drawn, and is still an error.
fn print(subject: Subject, args: &PictureArgs, text: Text) -> Result {
    let working = working("ordering");
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
            let mut failure = subject.refused(&errors);
            if let Some(hint) = compared::way_out(&subject) {
                failure = failure.hint(hint);
            }
            match errors.cyclic {
                Some(graph) if args.format() != GraphFormat::Text => (*graph, Some(failure)),
                _ => return Err(failure),
            }
        }
    };
    warn(graph.warnings());
    // The state is no longer needed, and what is written takes as much.
    drop(subject);
    let text = draw(&graph, args.format(), text)?;
    drop(working);
    write_drawing(&text, args.format() == GraphFormat::Json, args.output.as_deref())?;
    failure.map_or(Ok(Outcome::Clean), Err)
}
