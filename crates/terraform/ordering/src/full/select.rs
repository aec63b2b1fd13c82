//! Targets and excludes on the full graph, where some nodes stand for instances that are not worked out yet.

use groundstate_states::addr::{AbsResource, AbsResourceInstance, ConfigResource, Target};

use super::{FullGraph, FullKey, Role, ValueKind};
use crate::select::matches;

/// The address of a node.
enum Address<'a> {
    Resource(&'a ConfigResource),
    Instance(&'a AbsResourceInstance),
}

fn address(key: &FullKey) -> Option<Address<'_>> {
    match key {
        FullKey::Expand(resource) => Some(Address::Resource(resource)),
        FullKey::Operation(key) => key.addr().map(Address::Instance),
        _ => None,
    }
}

/// Whether the target names the node. Against a whole resource it counts without its keys if `generalised`.
fn names(target: &Target, address: &Address<'_>, generalised: bool) -> bool {
    let resource = match address {
        Address::Instance(addr) => return matches(target, addr),
        Address::Resource(resource) => *resource,
    };
    let whole =
        |addr: &AbsResource| addr.resource == resource.resource && addr.module.to_config() == resource.module;
    let keyless = |module: &groundstate_states::addr::ModuleInstance| {
        module.steps().iter().all(|step| step.key.is_none())
    };
    match target {
        Target::Module(module) => {
            (generalised || keyless(module))
                && resource.module.steps().starts_with(module.to_config().steps())
        }
        Target::Resource(addr) => whole(addr) && (generalised || keyless(&addr.module)),
        Target::Instance(addr) => generalised && whole(&addr.resource),
    }
}

/// Whether the one address holds the other: a resource its instances, an instance itself.
fn holds(a: &Address<'_>, b: &Address<'_>) -> bool {
    match (a, b) {
        (Address::Resource(a), Address::Resource(b)) => a == b,
        (Address::Resource(a), Address::Instance(b)) => a.contains_instance(b),
        (Address::Instance(a), Address::Instance(b)) => a == b,
        (Address::Instance(_), Address::Resource(_)) => false,
    }
}

/// For each node whether it stays. One of the lists is empty.
pub(super) fn kept(full: &FullGraph, targets: &[Target], excludes: &[Target]) -> Vec<bool> {
    let addresses: Vec<Option<Address<'_>>> = full.nodes.iter().map(|node| address(&node.key)).collect();
    let named = |list: &[Target], node: usize, generalised: bool| {
        let address = addresses[node].as_ref();
        address.is_some_and(|address| list.iter().any(|target| names(target, address, generalised)))
    };
    let count = full.nodes.len();
    let starts: Vec<usize> = if excludes.is_empty() {
        (0..count).filter(|&node| named(targets, node, true)).collect()
    } else {
        let mut gone = vec![false; count];
        let waiters = full.waiters();
        for node in 0..count {
            let hit = named(excludes, node, false);
            gone[node] |= hit;
            if hit || named(excludes, node, true) {
                let above = reached(count, [node], |at| waiters[at].clone());
                for waiter in (0..count).filter(|&waiter| above[waiter] && waiter != node) {
                    let inside = match (&addresses[node], &addresses[waiter]) {
                        (Some(address), Some(other)) => holds(address, other),
                        _ => true,
                    };
                    gone[waiter] |= !inside;
                }
            }
        }
        (0..count).filter(|&node| addresses[node].is_some() && !gone[node]).collect()
    };
    let below = |at: usize| full.edges[at].iter().map(|&to| to as usize).collect();
    let mut kept = reached(count, starts, below);
    for node in 0..count {
        let is_output =
            matches!(full.nodes[node].role, Role::Value { kind: ValueKind::Output, of_root: true });
        if is_output && !kept[node] {
            let needs = reached(count, [node], below);
            let mut resources =
                (0..count).filter(|&other| needs[other] && addresses[other].is_some()).peekable();
            if resources.peek().is_some() && resources.all(|other| kept[other]) {
                for (kept, needed) in kept.iter_mut().zip(needs) {
                    *kept |= needed;
                }
            }
        }
    }
    kept
}

/// The starts, and everything that `next` leads to.
fn reached(
    count: usize,
    starts: impl IntoIterator<Item = usize>,
    next: impl Fn(usize) -> Vec<usize>,
) -> Vec<bool> {
    let mut seen = vec![false; count];
    let mut stack: Vec<usize> = starts.into_iter().collect();
    while let Some(node) = stack.pop() {
        if !std::mem::replace(&mut seen[node], true) {
            stack.extend(next(node));
        }
    }
    seen
}
