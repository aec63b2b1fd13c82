//! A toy planner for two resources, of which `vm.b` depends on `net.a`.

use groundstate_executor::{Plan, PlanNode};
use groundstate_ordering::effects::{Meta, Operation};
use groundstate_ordering::walk::{Relation, WalkGraph};
use groundstate_ordering::{ApplyKind, NodeKey, OpKind, Part};
use groundstate_states::{DeposedKey, ObjectSrc, ObjectStatus, ResourceInstance, State};

use crate::support::{addr, config, provider};
use crate::world::{Thing, World, current, id, object, uses, version};

/// How the two come to their second version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// `net.a` is replaced, create before destroy, and `vm.b` updated.
    E8,
    /// Both are replaced, destroy first.
    E4,
    /// Both are replaced, create before destroy.
    E11,
    /// Both are destroyed.
    Gone,
}

impl Goal {
    fn create_first(self, instance: &str) -> bool {
        match self {
            Self::E8 => instance == "net.a",
            Self::E11 => true,
            Self::E4 | Self::Gone => false,
        }
    }
}

/// The first versions of both, in the world and in a state.
pub(crate) fn first_versions(world: &World, goal: Goal) -> State {
    let mut state = State::new();
    for (instance, id, uses) in [("net.a", "a-0", None), ("vm.b", "b-0", Some("a-0".to_owned()))] {
        let thing = Thing { version: 1, uses };
        world.put(id, thing.clone());
        let mut record = object(id, &thing);
        record.dependencies = meta(goal, instance).dependencies;
        record.create_before_destroy = goal.create_first(instance);
        state.set_resource_instance_current(&addr(instance), Some(record.into()), &provider());
    }
    state
}

fn meta(goal: Goal, instance: &str) -> Meta {
    let dependencies = if instance == "vm.b" { vec![config("net.a")] } else { Vec::new() };
    Meta { create_before_destroy: goal.create_first(instance), dependencies }
}

/// Brings the records of objects up to date, and drops those that are gone.
pub(crate) fn refresh(state: &mut State, world: &World) {
    let live = world.live();
    for (at, generation, record) in state.clone().objects() {
        let fresh = live.get(&id(record)).map(|thing| {
            let attributes = object(&id(record), thing).attributes;
            std::sync::Arc::new(ObjectSrc { attributes, ..record.clone() })
        });
        match generation {
            groundstate_states::Generation::Current => {
                state.set_resource_instance_current(&at, fresh, &provider());
            }
            groundstate_states::Generation::Deposed(key) => {
                state.set_resource_instance_deposed(&at, key, fresh, &provider());
            }
        }
    }
}

/// Plans what leads from the state to the goal. Nothing left to do gives an empty plan.
pub(crate) fn plan(state: &State, goal: Goal) -> Plan {
    let mut operations: Vec<Operation> = Vec::new();
    let b_follows = {
        let a = state.resource_instance(&addr("net.a")).and_then(|instance| instance.current.as_ref());
        !a.is_some_and(|object| is_done(object))
    };
    for instance in ["net.a", "vm.b"] {
        let slots = state.resource_instance(&addr(instance)).cloned().unwrap_or_default();
        let stale = slots.current.as_ref().is_some_and(|object| {
            instance == "vm.b" && (b_follows || uses(object) != current(state, "net.a"))
        });
        operations.extend(for_instance(goal, instance, &slots, stale));
    }
    let key = |operation: &Operation| NodeKey::operation(operation.addr.clone(), part(operation));
    operations.sort_by_key(key);
    let mut graph = WalkGraph::builder(operations.len());
    for (from, to) in edges(&operations, goal) {
        graph.edge(from, to, Relation::Needs);
    }
    Plan::new(operations.into_iter().map(PlanNode::Operation).collect(), graph.build().unwrap()).unwrap()
}

fn is_done(object: &ObjectSrc) -> bool {
    object.status == ObjectStatus::Ready && version(object) == 2
}

fn for_instance(goal: Goal, instance: &str, slots: &ResourceInstance, stale: bool) -> Vec<Operation> {
    let operation = |kind| Operation::new(addr(instance), kind, provider()).recording(meta(goal, instance));
    let apply = |kind| operation(OpKind::Apply(kind));
    let mut found: Vec<_> = slots.deposed.keys().map(|key| operation(OpKind::DestroyDeposed(*key))).collect();
    let updates = goal == Goal::E8 && instance == "vm.b";
    match &slots.current {
        Some(_) if goal == Goal::Gone => found.push(operation(OpKind::Destroy)),
        None if goal == Goal::Gone => {}
        None => found.push(apply(ApplyKind::Create)),
        Some(object) if is_done(object) && !stale => {}
        Some(object) if updates && object.status == ObjectStatus::Ready => {
            found.push(apply(ApplyKind::Update));
        }
        Some(_) if goal.create_first(instance) => {
            let unused = (1..).map(DeposedKey::from_number).find(|key| !slots.deposed.contains_key(key));
            let key = unused.unwrap();
            found.push(apply(ApplyKind::ReplaceCreate).deposing(key));
            found.push(operation(OpKind::DestroyDeposed(key)));
        }
        Some(_) => {
            found.push(apply(ApplyKind::ReplaceCreate));
            found.push(operation(OpKind::Destroy));
        }
    }
    found
}

fn part(operation: &Operation) -> Part {
    match operation.kind {
        OpKind::Destroy => Part::Destroy,
        OpKind::DestroyDeposed(key) => Part::DestroyDeposed(key),
        _ => Part::Apply,
    }
}

/// R0 to R5 of the specification, for two resources.
fn edges(operations: &[Operation], goal: Goal) -> Vec<(usize, usize)> {
    let name = |operation: &Operation| operation.addr.to_string();
    let mut edges = Vec::new();
    for (x, from) in operations.iter().enumerate() {
        for (y, to) in operations.iter().enumerate() {
            let (apply, destroy) = (part(from) == Part::Apply, part(to).is_destroy());
            let same = from.addr == to.addr;
            let linked = same || name(from) != name(to);
            let b_on_a = name(from) == "vm.b" && name(to) == "net.a";
            if b_on_a && apply && part(to) == Part::Apply {
                edges.push((x, y));
            } else if apply && destroy && linked {
                let create_first = goal.create_first(&name(to)) || to.deposed().is_some();
                edges.push(if create_first { (y, x) } else { (x, y) });
            } else if b_on_a && part(from).is_destroy() && destroy {
                edges.push((y, x));
            }
        }
    }
    edges
}
