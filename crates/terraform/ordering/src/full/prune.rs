//! What is left out because nothing that runs needs it: during a destruction, values of what is gone must not be evaluated.

use super::{FullGraph, Role, ValueKind};
use crate::options::PlanMode;

/// Leaves nodes out until none is superfluous.
pub(super) fn prune(full: &mut FullGraph, mode: PlanMode) {
    loop {
        let waiters = full.waiters();
        let keep: Vec<bool> =
            (0..full.nodes.len()).map(|node| is_needed(full, &waiters, node, mode)).collect();
        if keep.iter().all(|keep| *keep) {
            return;
        }
        full.retain(|node| keep[node]);
    }
}

fn is_needed(full: &FullGraph, waiters: &[Vec<usize>], node: usize, mode: PlanMode) -> bool {
    let role = |node: usize| full.nodes[node].role;
    match role(node) {
        Role::Value { of_root: true, kind: ValueKind::Output } if mode != PlanMode::Destroy => true,
        Role::Value { .. } => waiters[node].iter().any(|&waiter| evaluates(role(waiter))),
        Role::Expansion | Role::Open => waiters[node].iter().any(|&waiter| match role(waiter) {
            Role::Expansion | Role::Open | Role::Instance { .. } | Role::Provider => true,
            Role::Value { of_root, .. } => !of_root,
            _ => false,
        }),
        Role::Provider => {
            let id = &full.nodes[node].provider;
            let mut seen = vec![false; full.nodes.len()];
            let mut stack = vec![node];
            while let Some(at) = stack.pop() {
                for &waiter in &waiters[at] {
                    let uses = full.nodes[waiter].provider == *id;
                    if uses || evaluates(role(waiter)) {
                        return true;
                    }
                    if !std::mem::replace(&mut seen[waiter], true) {
                        stack.push(waiter);
                    }
                }
            }
            false
        }
        _ => true,
    }
}

/// Whether a node of this role evaluates references.
fn evaluates(role: Role) -> bool {
    match role {
        Role::Instance { destroys } => !destroys,
        Role::Expansion | Role::Value { .. } | Role::Provider | Role::Open => true,
        Role::Close | Role::ProviderClose | Role::Root => false,
    }
}
