//! `groundstate graph`: the resources of a state, grouped by their modules.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_schedule::drawing::MAX_GROUP_DEPTH;
use groundstate_states::State;
use groundstate_states::addr::{ConfigResource, Module};

use crate::input::terraform::{TerraformState, load};
use crate::report::error::Result;
use crate::report::graph::{Drawing, Edge, Group, Line, Node};

/// Who needs whom in a state.
pub(crate) fn graph(state: &TerraformState) -> Result<Drawing> {
    Ok(of_state(&load(state)?.file.state))
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
            within: (name.module.steps().len() > MAX_GROUP_DEPTH + 1).then(|| name.module.to_string()),
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
    for step in module.steps().iter().take(MAX_GROUP_DEPTH + 1) {
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
