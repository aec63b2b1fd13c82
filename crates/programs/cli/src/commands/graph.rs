//! `groundstate graph`: who needs whom, as a state records it.

use crate::args::{DependencyGraphArgs, DependencyGraphFormat as Format};
use crate::input::state::State;
use crate::report::error::{Outcome, Result};
use crate::report::progress::working;
use crate::report::svg;
use crate::session::save::write_drawing;
use crate::{pulumi, terraform};

pub(super) fn run(args: &DependencyGraphArgs) -> Result {
    let drawing = match State::find(&args.state.state)? {
        State::Terraform(state) => terraform::graph::graph(&state)?,
        State::Pulumi(state) => pulumi::graph(&state)?,
    };
    let format = if args.json { Format::Json } else { args.format };
    let working = working("drawing");
    let text = match format {
        Format::Dot => drawing.dot(true),
        Format::Mermaid => drawing.mermaid(),
        Format::Json => drawing.json() + "\n",
        Format::Svg => {
            let size = svg::Size { nodes: drawing.nodes.len(), edges: drawing.drawn_edges() };
            size.is_readable(None)?;
            drawing.svg()
        }
    };
    drop(working);
    write_drawing(&text, matches!(format, Format::Json), args.output.as_deref())?;
    Ok(Outcome::Clean)
}
