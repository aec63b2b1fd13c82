//! A toy planner for two resources, of which `vm.b` depends on `net.a`.

use groundstate_executor::Plan;
use groundstate_ordering::effects::Meta;
use groundstate_ordering::{
    Action, DepRef, Input, Options, PlannedChange, ReplaceOrder, ResourceConfig, build,
};
use groundstate_states::{ObjectSrc, ObjectStatus, ResourceInstance, State};

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
    let graph = build(&input(state, goal), &Options::default()).unwrap();
    Plan::from_graph(&graph, state).unwrap()
}

fn input(state: &State, goal: Goal) -> Input {
    let mut input = Input::from_state(state);
    let a = state.resource_instance(&addr("net.a")).and_then(|instance| instance.current.as_ref());
    let a_changes = !a.is_some_and(|object| is_done(object));
    for instance in ["net.a", "vm.b"] {
        let slots = state.resource_instance(&addr(instance)).cloned().unwrap_or_default();
        let moved = |object: &ObjectSrc| a_changes || uses(object) != current(state, "net.a");
        let stale = instance == "vm.b" && slots.current.as_ref().is_some_and(|object| moved(object));
        input.changes.extend(
            action(goal, instance, &slots, stale)
                .map(|action| PlannedChange::current(addr(instance), action)),
        );
        let leftovers = slots.deposed.keys();
        input
            .changes
            .extend(leftovers.map(|key| PlannedChange::deposed(addr(instance), *key, Action::Delete)));
        if goal != Goal::Gone {
            let mut declared = ResourceConfig::new(config(instance), provider().config);
            // What is not declared here is passed on from the dependent.
            declared.create_before_destroy = match goal {
                Goal::E8 => instance == "net.a",
                Goal::E11 => instance == "vm.b",
                Goal::E4 | Goal::Gone => false,
            };
            if instance == "vm.b" {
                declared.dependencies.push(DepRef::Resource(config("net.a")));
            }
            input.resources.push(declared);
        }
    }
    input
}

fn is_done(object: &ObjectSrc) -> bool {
    object.status == ObjectStatus::Ready && version(object) == 2
}

fn action(goal: Goal, instance: &str, slots: &ResourceInstance, stale: bool) -> Option<Action> {
    let updates = goal == Goal::E8 && instance == "vm.b";
    match &slots.current {
        Some(_) if goal == Goal::Gone => Some(Action::Delete),
        None if goal == Goal::Gone => None,
        None => Some(Action::Create),
        Some(object) if is_done(object) && !stale => None,
        Some(object) if updates && object.status == ObjectStatus::Ready => Some(Action::Update),
        Some(_) => Some(Action::Replace(ReplaceOrder::Auto)),
    }
}
