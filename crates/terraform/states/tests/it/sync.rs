//! The shared state: many threads, one lock, no lost and no half-made change.

use std::sync::atomic::{AtomicU32, Ordering};

use groundstate_states::addr::ModuleInstance;
use groundstate_states::{DeposedKey, Generation, MoveOutcome, OutputValue, State, SyncState, Type, Value};

use crate::support::{instance, listed, module, object, provider_instance, resource, state};

#[test]
fn clearing_in_an_unknown_module_leaves_no_module_behind() {
    let shared = SyncState::new(State::new());
    shared.set_resource_instance_current(&instance("module.a.vm.web"), None, &provider_instance("cloud"));
    assert_eq!(shared.module_instances(), [ModuleInstance::root()]);
}

#[test]
fn threads_do_not_lose_each_others_changes() {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 50;
    let shared = SyncState::new(State::new());
    let numbers = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shared, numbers) = (&shared, &numbers);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let addr = instance(&format!("module.m[{}].vm.web[{thread}]", round % 3));
                    shared.set_resource_instance_current(
                        &addr,
                        Some(object("x")),
                        &provider_instance("cloud"),
                    );
                    let draw = || numbers.fetch_add(1, Ordering::Relaxed);
                    let key =
                        shared.depose_resource_instance_object(&addr, draw).expect("no other thread uses it");
                    if round % 2 == 0 {
                        assert!(shared.maybe_restore_resource_instance_deposed(&addr, key));
                        shared.forget_resource_instance_current(&addr);
                    } else {
                        shared.forget_resource_instance_deposed(&addr, key);
                    }
                    let kept = instance(&format!("vm.kept[{}]", thread * ROUNDS + round));
                    shared.set_resource_instance_current(
                        &kept,
                        Some(object("x")),
                        &provider_instance("cloud"),
                    );
                }
            });
        }
    });
    let state = shared.close();
    assert_eq!(state.resource_instances().count() as u64, THREADS * ROUNDS);
    assert_eq!(state.modules().count(), 1, "modules are removed with their last object");
}

#[test]
fn readers_see_whole_operations_only() {
    let shared = SyncState::new(state(&["vm.web"]));
    let (here, there) = (resource("vm.web"), resource("module.a.vm.web"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..200 {
                shared.move_resource(&here, &there).unwrap();
                shared.move_resource(&there, &here).unwrap();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(listed(&shared.snapshot()).len(), 1);
                }
            });
        }
    });
}

#[test]
fn a_guard_keeps_others_out_for_several_operations() {
    let shared = SyncState::new(State::new());
    let addr = instance("vm.count");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let mut guard = shared.lock();
                    let count = guard.resource_instance(&addr).map_or(0, |instance| instance.deposed.len());
                    let key = DeposedKey::from_number(u32::try_from(count).unwrap());
                    let cloud = provider_instance("cloud");
                    guard.set_resource_instance_deposed(&addr, key, Some(object("x")), &cloud);
                }
            });
        }
    });
    assert_eq!(shared.resource_instance(&addr).unwrap().deposed.len(), 100);
}

#[test]
fn a_panic_in_a_guard_does_not_lock_others_out() {
    let shared = SyncState::new(state(&["vm.web"]));
    let panicked = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _guard = shared.lock();
            panic!("on purpose");
        });
        thread.join().is_err()
    });
    assert!(panicked);
    assert_eq!(listed(&shared.close()), ["vm.web"]);
}

#[test]
fn operations_are_those_of_the_state() {
    let shared = SyncState::new(state(&["vm.web", "module.a.vm.web"]));
    let mut plain = shared.snapshot();
    let (web, key) = (instance("vm.web"), DeposedKey::from_number(1));
    let output = OutputValue::new(Value::Bool(true), Type::Bool);
    let (a, root) = (module("module.a"), ModuleInstance::root());

    assert_eq!(
        shared.depose_resource_instance_object_as(&web, key),
        plain.depose_resource_instance_object_as(&web, key)
    );
    shared.set_output_value(&a, "x", output.clone());
    plain.set_output_value(&a, "x", output);
    shared.set_local_value(&root, "x", Value::Null);
    plain.set_local_value(&root, "x", Value::Null);
    let (from, to) = (resource("module.a.vm.web"), resource("vm.app"));
    assert_eq!(shared.maybe_move_resource(&from, &to), Ok(MoveOutcome::Moved));
    plain.move_resource(&from, &to).unwrap();
    assert_eq!(shared.snapshot(), plain);
    assert!(shared.module(&a).is_some(), "it still has an output");
    assert!(shared.remove_output_value(&a, "x") && plain.remove_output_value(&a, "x"));
    assert!(shared.remove_local_value(&root, "x") && plain.remove_local_value(&root, "x"));
    assert_eq!(
        shared.resource_instance_object(&web, Generation::Deposed(key)),
        plain.object(&web, Generation::Deposed(key)).cloned()
    );
    assert!(shared.remove_resource(&to) && plain.remove_resource(&to));
    assert!(!shared.remove_resource_if_empty(&web.resource));
    assert_eq!(shared.close(), plain);
}
