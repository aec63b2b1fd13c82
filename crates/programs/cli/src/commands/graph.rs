//! `groundstate graph`: who needs whom, as a state records it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use groundstate_states::State;
use groundstate_states::addr::{ConfigResource, Module};

use crate::args::{DependencyGraphArgs, DependencyGraphFormat as Format};
use crate::input::family::Family;
use crate::input::source::{Source, is_standard};
use crate::input::terraform::load;
use crate::pulumi;
use crate::report::error::{Outcome, Result};
use crate::report::graph::{Drawing, Edge, Group, Line, MAX_DEPTH, Node};
use crate::report::output::Output;
use crate::report::svg;
use crate::session::save;

pub(super) fn run(args: &DependencyGraphArgs) -> Result {
    let source = Source::find(&args.state.state)?;
    let drawing = match source.family {
        Family::Terraform => of_state(&load(&source)?.file.state),
        Family::Pulumi => pulumi::graph(&source)?,
    };
    let text = match args.format {
        Format::Dot => drawing.dot(true),
        Format::Mermaid => drawing.mermaid(),
        Format::Json => drawing.json() + "\n",
        Format::Svg => {
            let size = svg::Size { nodes: drawing.nodes.len(), edges: drawing.drawn_edges() };
            svg::draw(&drawing.dot(false), size)?
        }
    };
    match args.output.as_deref().filter(|path| !is_standard(path)) {
        Some(path) => save::replace(path, None, |out| out.write_all(text.as_bytes()))?,
        None => {
            let mut out = Output::stdout();
            // Whatever a drawing takes from a file is escaped where it is drawn.
            match args.format {
                Format::Json => out.json(text.trim_end())?,
                _ => out.write_all(text.as_bytes())?,
            }
            out.finish()?;
        }
    }
    Ok(Outcome::Clean)
}

/// The resources of a state without the keys of instances and modules, because recorded dependencies have none.
fn of_state(state: &State) -> Drawing {
    let mut needs: BTreeMap<ConfigResource, BTreeSet<ConfigResource>> = BTreeMap::new();
    for (module, name, resource) in state.all_resources() {
        let from = name.clone().absolute(module.clone()).to_config();
        let known = needs.entry(from).or_default();
        for (_, object) in resource.instances.values().flat_map(|instance| instance.objects()) {
            known.extend(object.dependencies.iter().cloned());
            known.extend(object.depends_on.iter().map(|instance| instance.resource.to_config()));
        }
    }
    let missing: BTreeSet<&ConfigResource> =
        needs.values().flatten().filter(|needed| !needs.contains_key(*needed)).collect();
    let names: Vec<&ConfigResource> = needs.keys().chain(missing).collect();
    let positions: BTreeMap<&ConfigResource, usize> =
        names.iter().enumerate().map(|(position, name)| (*name, position)).collect();
    let mut drawing = Drawing::default();
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for name in &names {
        let node = Node {
            name: name.to_string(),
            label: vec![name.resource.to_string()],
            group: group(&name.module, &mut groups, &mut drawing.groups),
            within: (name.module.steps().len() > MAX_DEPTH + 1).then(|| name.module.to_string()),
            remark: None,
            missing: !needs.contains_key(*name),
        };
        drawing.nodes.push(node);
    }
    for (from, needed) in &needs {
        for to in needed {
            if let (Some(&from), Some(&to)) = (positions.get(from), positions.get(to)) {
                drawing.edges.push(Edge { from, to, kind: "dependency", line: Line::Solid });
            }
        }
    }
    drawing
}

/// The group of a module, or of the innermost around it that is drawn. It is made with all around it if there is none yet.
fn group(module: &Module, known: &mut BTreeMap<String, usize>, groups: &mut Vec<Group>) -> Option<usize> {
    let mut outer = None;
    let mut name = String::new();
    for step in module.steps().iter().take(MAX_DEPTH + 1) {
        name.push_str(if name.is_empty() { "module." } else { ".module." });
        name.push_str(step);
        let index = known.get(&name).copied().unwrap_or_else(|| {
            groups.push(Group { name: name.clone(), outer });
            groups.len() - 1
        });
        known.insert(name.clone(), index);
        outer = Some(index);
    }
    outer
}
