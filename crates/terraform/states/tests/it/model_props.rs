//! Moves and removals against a plain map of addresses: what each does, when it is refused, and that nothing empty stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance};
use groundstate_states::{Attributes, ModuleCall, MoveError, MoveOutcome, State};
use proptest::prelude::*;

use crate::support::{instance, module, state};

/// Where each object is, by the text of its attributes.
type Naive = BTreeMap<AbsResourceInstance, String>;

const MODULES: [&str; 7] =
    ["", "module.m", "module.m[0]", "module.m[\"k\"]", "module.m[0].module.n", "module.n", "module.n[1]"];

fn addresses() -> impl Strategy<Value = AbsResourceInstance> {
    let key = prop_oneof![Just(""), Just("[0]"), Just("[1]"), Just("[\"k\"]")];
    (prop::sample::select(&MODULES[..]), prop_oneof![Just("vm.a"), Just("vm.b")], key).prop_map(
        |(module, name, key)| {
            let dot = if module.is_empty() { "" } else { "." };
            instance(&format!("{module}{dot}{name}{key}"))
        },
    )
}

/// One change, about two addresses.
#[derive(Clone, Copy, Debug)]
enum Change {
    Instance,
    Resource,
    ModuleInstance,
    Call,
    Forget,
    RemoveResource,
    RemoveModule,
}

fn changes() -> impl Strategy<Value = Vec<(Change, AbsResourceInstance, AbsResourceInstance)>> {
    let change = prop::sample::select(vec![
        Change::Instance,
        Change::Resource,
        Change::ModuleInstance,
        Change::Call,
        Change::Forget,
        Change::RemoveResource,
        Change::RemoveModule,
    ]);
    prop::collection::vec((change, addresses(), addresses()), 1..10)
}

fn naive(state: &State) -> Naive {
    let id = |object: &groundstate_states::ObjectSrc| match &object.attributes {
        Attributes::Json(raw) => raw.as_str().to_owned(),
        Attributes::Flat(_) => String::new(),
    };
    state.objects().map(|(address, _, object)| (address, id(object))).collect()
}

/// The call that a module is an instance of; none for the root.
fn call(module: &ModuleInstance) -> Option<ModuleCall> {
    let (last, outer) = module.steps().split_last()?;
    Some(ModuleCall { module: outer.iter().cloned().collect(), name: Arc::clone(&last.name) })
}

fn is_in_call(call: &ModuleCall, module: &ModuleInstance) -> bool {
    let outer = call.module.steps();
    module.steps().starts_with(outer)
        && module.steps().get(outer.len()).is_some_and(|step| step.name == call.name)
}

/// The map with all that `moves` says somewhere else; nothing if it cannot be so.
fn moved(before: &Naive, moves: impl Fn(&AbsResourceInstance) -> Option<AbsResourceInstance>) -> Naive {
    before
        .iter()
        .map(|(address, id)| (moves(address).unwrap_or_else(|| address.clone()), id.clone()))
        .collect()
}

fn in_module(address: &AbsResourceInstance, module: ModuleInstance) -> AbsResourceInstance {
    AbsResource { module, resource: address.resource.resource.clone() }.instance(address.key.clone())
}

/// What a move does to the map, or none if it is refused.
fn expected(
    before: &Naive,
    change: Change,
    from: &AbsResourceInstance,
    to: &AbsResourceInstance,
) -> Option<Naive> {
    let any = |is: &dyn Fn(&AbsResourceInstance) -> bool| before.keys().any(is);
    let (from_module, to_module) = (&from.resource.module, &to.resource.module);
    match change {
        Change::Instance => {
            let fine = before.contains_key(from) && !before.contains_key(to);
            fine.then(|| moved(before, |address| (address == from).then(|| to.clone())))
        }
        Change::Resource => {
            let there = |resource: &AbsResource| any(&|address| address.resource == *resource);
            (there(&from.resource) && !there(&to.resource)).then(|| {
                moved(before, |address| {
                    (address.resource == from.resource).then(|| to.resource.instance(address.key.clone()))
                })
            })
        }
        Change::ModuleInstance => {
            let there = |module: &ModuleInstance| any(&|address| address.resource.module == *module);
            let fine =
                !from_module.is_root() && !to_module.is_root() && there(from_module) && !there(to_module);
            fine.then(|| {
                moved(before, |address| {
                    (address.resource.module == *from_module).then(|| in_module(address, to_module.clone()))
                })
            })
        }
        Change::Call => {
            let (from, to) = (call(from_module)?, call(to_module)?);
            let taken = any(&|address| {
                is_in_call(&to, &address.resource.module) && !is_in_call(&from, &address.resource.module)
            });
            let fine = from != to && !taken && any(&|address| is_in_call(&from, &address.resource.module));
            fine.then(|| {
                moved(before, |address| {
                    let module = &address.resource.module;
                    is_in_call(&from, module).then(|| {
                        let mut inner = module.steps()[from.module.steps().len()..].to_vec();
                        inner[0].name = Arc::clone(&to.name);
                        in_module(address, to.module.steps().iter().cloned().chain(inner).collect())
                    })
                })
            })
        }
        Change::Forget => Some(without(before, |address| address == from)),
        Change::RemoveResource => Some(without(before, |address| address.resource == from.resource)),
        Change::RemoveModule => (!from_module.is_root())
            .then(|| without(before, |address| address.resource.module == *from_module)),
    }
}

fn without(before: &Naive, gone: impl Fn(&AbsResourceInstance) -> bool) -> Naive {
    before.iter().filter(|(address, _)| !gone(address)).map(|(a, id)| (a.clone(), id.clone())).collect()
}

/// Makes a change; false if it was refused.
fn make(state: &mut State, change: Change, from: &AbsResourceInstance, to: &AbsResourceInstance) -> bool {
    let (from_module, to_module) = (&from.resource.module, &to.resource.module);
    match change {
        Change::Instance => state.move_resource_instance(from, to).is_ok(),
        Change::Resource => state.move_resource(&from.resource, &to.resource).is_ok(),
        Change::ModuleInstance => state.move_module_instance(from_module, to_module).is_ok(),
        Change::Call => match (call(from_module), call(to_module)) {
            (Some(from), Some(to)) => state.move_module(&from, &to).is_ok(),
            _ => false,
        },
        Change::Forget => {
            state.forget_resource_instance_all(from);
            true
        }
        Change::RemoveResource => {
            let was_there = state.resource(&from.resource).is_some();
            assert_eq!(state.remove_resource(&from.resource), was_there);
            true
        }
        Change::RemoveModule => state.remove_module(from_module).is_ok(),
    }
}

fn built(addresses: &[AbsResourceInstance]) -> State {
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    state(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changes_do_what_they_do_to_a_plain_map(
        start in prop::collection::vec(addresses(), 0..10),
        changes in changes(),
    ) {
        let mut state = built(&start);
        for (change, from, to) in changes {
            let before = state.clone();
            let expected = expected(&naive(&state), change, &from, &to);
            let done = make(&mut state, change, &from, &to);
            prop_assert_eq!(done, expected.is_some(), "{:?} {} {}", change, from, to);
            match expected {
                Some(expected) => prop_assert_eq!(naive(&state), expected, "{:?} {} {}", change, from, to),
                None => prop_assert_eq!(&state, &before, "a refused change leaves all as it was"),
            }
            let husks = state.all_resources().filter(|(_, _, resource)| resource.instances.is_empty()).count();
            let empty = state.modules().filter(|(module, found)| !module.is_root() && found.is_empty()).count();
            prop_assert_eq!((husks, empty), (0, 0), "{:?} {} {}", change, from, to);
        }
    }

    #[test]
    fn a_move_that_is_repeated_says_that_it_happened_before(
        start in prop::collection::vec(addresses(), 1..8),
        to in addresses(),
        pick in any::<prop::sample::Index>(),
    ) {
        let from = pick.get(&start);
        let mut state = built(&start);
        match state.maybe_move_resource_instance(from, &to) {
            Ok(outcome) => {
                prop_assert_eq!(outcome, MoveOutcome::Moved, "the source is there");
                let once = state.clone();
                prop_assert_eq!(state.maybe_move_resource_instance(from, &to), Ok(MoveOutcome::AlreadyMoved));
                prop_assert_eq!(&state, &once);
                // And back again.
                state.move_resource_instance(&to, from).unwrap();
                prop_assert_eq!(naive(&state), naive(&built(&start)));
            }
            Err(error) => {
                let taken = MoveError::DestinationExists { from: from.to_string(), to: to.to_string() };
                prop_assert_eq!(error, taken);
                prop_assert_eq!(naive(&state), naive(&built(&start)));
            }
        }
    }

    #[test]
    fn what_a_module_contains_is_what_its_text_begins_with(outer in prop::sample::select(&MODULES[..]), inner in addresses()) {
        let outer_module = module(outer);
        let inner = &inner.resource.module;
        // The texts of steps, with keys left out where the outer one has none at its end.
        let steps = |module: &ModuleInstance| module.steps().to_vec();
        let (own, other) = (steps(&outer_module), steps(inner));
        let fits = own.len() <= other.len()
            && own.iter().zip(&other).enumerate().all(|(at, (a, b))| {
                let any_key = at + 1 == own.len() && a.key == InstanceKey::None;
                a.name == b.name && (any_key || a.key == b.key)
            });
        prop_assert_eq!(outer_module.contains(inner), fits, "{} {}", outer, inner);
        // An ancestor lets any key stand for a missing one, and is never the module itself.
        let above = own.len() < other.len()
            && own.iter().zip(&other).all(|(a, b)| a.name == b.name && (a.key == InstanceKey::None || a.key == b.key));
        prop_assert_eq!(outer_module.is_ancestor_of(inner), above, "{} {}", outer, inner);
    }
}

#[test]
fn refusals_of_moves_are_said_word_for_word() {
    let mut state = state(&["vm.a", "module.m[0].vm.a", "module.n.vm.b"]);
    let list = "list the state to see the addresses it has";
    let gone = state.move_resource_instance(&instance("vm.z"), &instance("vm.y")).unwrap_err();
    assert_eq!(gone.to_string(), format!("vm.z is not in the state; {list}"));
    let taken = state.move_resource_instance(&instance("vm.a"), &instance("module.n.vm.b")).unwrap_err();
    assert_eq!(
        taken.to_string(),
        "cannot move vm.a: module.n.vm.b is in the state already; remove it or choose another address"
    );
    let neither = state.maybe_move_module_instance(&module("module.x"), &module("module.y")).unwrap_err();
    assert_eq!(neither.to_string(), format!("neither module.x nor module.y is in the state; {list}"));
    let root = state.move_module_instance(&module("module.n"), &module("")).unwrap_err();
    assert_eq!(root.to_string(), "the root module cannot be moved, nor be a destination; name a module call");
    let m = call(&module("module.m[0].module.deep")).unwrap();
    assert_eq!(m.to_string(), "module.m[0].module.deep");
    let missing = state.move_module(&m, &call(&module("module.q")).unwrap()).unwrap_err();
    assert_eq!(missing.to_string(), format!("module.m[0].module.deep is not in the state; {list}"));
    let same = call(&module("module.n")).unwrap();
    assert_eq!(
        state.move_module(&same, &same).unwrap_err().to_string(),
        "cannot move module.n: module.n is in the state already; remove it or choose another address"
    );
    let removed = state.remove_module(&module("")).unwrap_err();
    assert_eq!(
        removed.to_string(),
        "the root module cannot be removed; remove its resources and outputs instead"
    );
}
