//! Which operations targets and excludes select.

use std::collections::BTreeMap;

use groundstate_schedule::Direction;
use groundstate_states::addr::{AbsResourceInstance, ModuleInstance, Target};

use crate::network::Network;
use crate::node::{ApplyKind, OpKind, OpNode, Part};

/// Whether the target names the instance. A module without a key stands for all its instances, wherever it occurs.
pub(crate) fn matches(target: &Target, addr: &AbsResourceInstance) -> bool {
    match target {
        Target::Module(module) => begins_with(addr.module(), module),
        Target::Resource(resource) => {
            resource.resource == addr.resource.resource
                && resource.module.steps().len() == addr.module().steps().len()
                && begins_with(addr.module(), &resource.module)
        }
        Target::Instance(instance) => instance == addr,
    }
}

fn begins_with(module: &ModuleInstance, pattern: &ModuleInstance) -> bool {
    let (steps, pattern) = (module.steps(), pattern.steps());
    let step =
        |(step, pattern): (&groundstate_states::addr::ModuleStep, &groundstate_states::addr::ModuleStep)| {
            step.name == pattern.name && (pattern.key.is_none() || step.key == pattern.key)
        };
    pattern.len() <= steps.len() && steps.iter().zip(pattern).all(step)
}

/// For each operation whether it stays. One of the lists is empty.
pub(crate) fn kept(
    network: &Network,
    nodes: &[OpNode],
    targets: &[Target],
    excludes: &[Target],
) -> Vec<bool> {
    let named = |list: &[Target]| -> Vec<u32> {
        let is_named = |node: &OpNode| {
            node.key.addr().is_some_and(|addr| list.iter().any(|target| matches(target, addr)))
        };
        (0_u32..).zip(nodes).filter(|(_, node)| is_named(node)).map(|(number, _)| number).collect()
    };
    let halves = halves(nodes);
    let mut kept = if excludes.is_empty() {
        closure(network, &halves, named(targets), Direction::Dependencies)
    } else {
        // What waits for something excluded cannot be done either, and half a replacement is none.
        let gone = closure(network, &halves, named(excludes), Direction::Waiters);
        let stays = (0_u32..)
            .zip(nodes)
            .filter(|(number, node)| node.key.addr().is_some() && !gone[*number as usize]);
        network.reached(stays.map(|(number, _)| number).collect::<Vec<_>>(), Direction::Dependencies)
    };
    kept.truncate(nodes.len());
    kept
}

/// Everything reached from the starts, where reaching one half of a replacement reaches the other.
fn closure(
    network: &Network,
    halves: &BTreeMap<u32, Vec<u32>>,
    starts: Vec<u32>,
    direction: Direction,
) -> Vec<bool> {
    let mut seen = vec![false; network.node_count() as usize];
    let mut stack = starts;
    for &start in &stack {
        seen[start as usize] = true;
    }
    while let Some(node) = stack.pop() {
        let others = halves.get(&node).into_iter().flatten();
        for &next in network.neighbours(node, direction).iter().chain(others) {
            if !std::mem::replace(&mut seen[next as usize], true) {
                stack.push(next);
            }
        }
    }
    seen
}

/// For each half of a replacement the others.
fn halves(nodes: &[OpNode]) -> BTreeMap<u32, Vec<u32>> {
    let mut halves: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, node) in (0_u32..).zip(nodes) {
        let OpKind::Apply(kind) = node.kind else { continue };
        let (Some(addr), true) =
            (node.key.addr(), matches!(kind, ApplyKind::ReplaceCreate | ApplyKind::ForgetCreate))
        else {
            continue;
        };
        let others = match (kind, node.deposes_to) {
            (ApplyKind::ForgetCreate, _) => [Part::Forget; 2],
            (_, Some(key)) => [Part::DestroyDeposed(key), Part::ForgetDeposed(key)],
            (_, None) => [Part::Destroy; 2],
        };
        // Operations on one instance stand side by side.
        let rest = (number + 1..).zip(&nodes[number as usize + 1..]);
        let mut same = rest.take_while(|(_, node)| node.key.addr() == Some(addr));
        if let Some((other, _)) =
            same.find(|(_, node)| node.key.part().is_some_and(|part| others.contains(&part)))
        {
            halves.entry(number).or_default().push(other);
            halves.entry(other).or_default().push(number);
        }
    }
    halves
}
