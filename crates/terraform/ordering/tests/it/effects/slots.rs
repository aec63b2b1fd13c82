//! What does not fit to the slots is refused, and nothing is changed then.

use groundstate_ordering::effects::{Meta, Mutation, Operation, apply, begin};
use groundstate_ordering::{ApplyKind, OpKind};
use groundstate_states::addr::{ModuleInstance, ProviderInstance};
use groundstate_states::{ResourceInstance, State};

use super::{K, addr, applying, create_then_delete, key, object, operation, provider, show, state};

#[test]
fn operations_that_do_not_fit_are_refused_before_anything_is_called() {
    for (operation, before, message) in [
        (applying(ApplyKind::Create), "a1", "vm.a has a current object already"),
        (applying(ApplyKind::ReplaceCreate), "a1", "vm.a has a current object already"),
        (applying(ApplyKind::ForgetCreate), "a1", "vm.a has a current object already"),
        (create_then_delete(), "", "vm.a has no current object to replace"),
        (create_then_delete(), "k:a0", "vm.a has no current object to replace"),
        (create_then_delete(), "a1 k:a0", "vm.a has a deposed object 0000000a already"),
        (applying(ApplyKind::Update), "k:a0", "vm.a has no current object to update"),
        (operation(OpKind::Destroy), "", "vm.a has no current object to destroy"),
        (operation(OpKind::Forget), "k:a0", "vm.a has no current object to forget"),
        (operation(OpKind::DestroyDeposed(key(K))), "a1", "missing deposed object 0000000a of vm.a"),
        (operation(OpKind::ForgetDeposed(key(K))), "", "missing deposed object 0000000a of vm.a"),
    ] {
        let state = state(before);
        let error = begin(&operation, state.resource_instance(&operation.addr)).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert!(error.to_string().contains("plan again"), "the next step: {error}");
    }
}

#[test]
fn mutations_that_do_not_fit_change_nothing() {
    let any = applying(ApplyKind::Check);
    for (before, mutations, message) in [
        ("", vec![Mutation::RemoveCurrent], "vm.a has no current object"),
        ("", vec![Mutation::Depose(key(K))], "vm.a has no current object"),
        ("a1 k:a0", vec![Mutation::Depose(key(K))], "vm.a has a deposed object 0000000a already"),
        ("a1 k:a0", vec![Mutation::Restore(key(K))], "vm.a has a current object, so 0000000a"),
        // The original empties the current slot here and says that all is well.
        ("k:a0", vec![Mutation::Restore(key(7))], "missing deposed object 00000007 of vm.a"),
        ("a1", vec![Mutation::RemoveDeposed(key(K))], "missing deposed object 0000000a"),
        ("a1", vec![Mutation::SetDeposed(key(K), object("a0").into())], "missing deposed object"),
        ("k:a0", vec![Mutation::WriteMeta(Meta::default())], "vm.a has no current object"),
        ("a1 k:a0", vec![Mutation::RemoveCurrent, Mutation::RemoveCurrent], "vm.a has no current object"),
    ] {
        let mut state = state(before);
        let error = apply(&mut state, &any, &mutations).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(show(&state), before, "all or nothing");
    }
}

#[test]
fn what_is_empty_is_removed_up_to_the_module() {
    let deep = addr("module.m[0].vm.a[\"x\"]");
    let mut state = State::new();
    state.set_resource_instance_current(&deep, Some(object("a1").into()), &provider());
    let destroy = Operation::new(deep, OpKind::Destroy, provider());
    apply(&mut state, &destroy, &[Mutation::RemoveCurrent]).unwrap();
    assert_eq!(state, State::new());
    assert!(state.module(&ModuleInstance::root()).is_some());
}

#[test]
fn the_resource_follows_the_provider_that_made_its_object() {
    let text = "provider[\"example.org/acme/x\"].west[\"eu\"]";
    let west = ProviderInstance::parse(text, "example.org").unwrap();
    let mut state = state("a1 k:a0");
    let update = Operation::new(addr("vm.a"), OpKind::Apply(ApplyKind::Update), west.clone());
    apply(&mut state, &update, &[]).unwrap();
    assert_eq!(state, self::state("a1 k:a0"), "nothing to do leaves everything");
    apply(&mut state, &update, &[Mutation::SetCurrent(object("a2").into())]).unwrap();
    assert_eq!(state.resource_provider(&addr("vm.a").resource), Some(&west.config));
    let instance = state.resource_instance(&addr("vm.a")).unwrap();
    assert_eq!(instance.provider_key, west.key);
    let other = Operation::new(addr("vm.a"), OpKind::DestroyDeposed(key(K)), provider());
    apply(&mut state, &other, &[Mutation::RemoveDeposed(key(K))]).unwrap();
    assert_eq!(state.resource_provider(&addr("vm.a").resource), Some(&west.config));
}

#[test]
fn other_instances_of_the_resource_stay() {
    let mut state = state("a1");
    let other = ResourceInstance::with_current(object("b1"));
    state.set_resource_instance(&addr("vm.a[1]"), Some(other.clone()), &provider().config);
    apply(&mut state, &operation(OpKind::Destroy), &[Mutation::RemoveCurrent]).unwrap();
    assert_eq!(state.resource_instance(&addr("vm.a[1]")), Some(&other));
    assert_eq!(state.resource_instance(&addr("vm.a")), None);
}

#[test]
fn debug_texts_hold_no_values() {
    let mutation = Mutation::SetCurrent(object("hunter2").into());
    assert!(!format!("{mutation:?}").contains("hunter2"));
}
