//! Moves of resources, instances, modules and module calls.

use std::sync::Arc;

use groundstate_states::addr::ModuleInstance;
use groundstate_states::{ModuleCall, MoveError, MoveOutcome};

use crate::support::{
    instance, listed, module, module_names, object, provider, provider_instance, resource, state,
};

fn call(parent: &str, name: &str) -> ModuleCall {
    ModuleCall { module: module(parent), name: name.into() }
}

#[test]
fn a_resource_moves_with_all_its_instances() {
    let mut state = state(&["vm.web[0]", "vm.web[1]", "vm.other"]);
    state.move_resource(&resource("vm.web"), &resource("module.new[\"k\"].vm.app")).unwrap();
    let moved = ["vm.other", "module.new[\"k\"].vm.app[0]", "module.new[\"k\"].vm.app[1]"];
    assert_eq!(listed(&state), moved);
    let provider_now = state.resource_provider(&resource("module.new[\"k\"].vm.app"));
    assert_eq!(provider_now, Some(&provider("cloud")));
}

#[test]
fn the_last_resource_takes_its_module_along() {
    let mut state = state(&["module.a.vm.web"]);
    state.move_resource(&resource("module.a.vm.web"), &resource("vm.web")).unwrap();
    assert_eq!((listed(&state), module_names(&state)), (vec!["vm.web".to_owned()], vec![String::new()]));
    state.move_resource(&resource("vm.web"), &resource("vm.app")).unwrap();
    assert_eq!(listed(&state), ["vm.app"]);
}

#[test]
fn an_instance_takes_its_provider_only_to_a_new_resource() {
    let mut state = state(&["vm.web", "module.a.vm.web[0]"]);
    state.set_resource_instance_current(
        &instance("vm.app[5]"),
        Some(object("x")),
        &provider_instance("other"),
    );
    state.move_resource_instance(&instance("module.a.vm.web[0]"), &instance("vm.app[0]")).unwrap();
    assert_eq!(state.resource_provider(&resource("vm.app")), Some(&provider("other")));
    assert_eq!(module_names(&state), [""]);
    state.move_resource_instance(&instance("vm.web"), &instance("module.b.vm.web[\"k\"]")).unwrap();
    assert_eq!(state.resource_provider(&resource("module.b.vm.web")), Some(&provider("cloud")));
    assert_eq!(listed(&state), ["vm.app[0]", "vm.app[5]", "module.b.vm.web[\"k\"]"]);
}

#[test]
fn an_only_instance_gets_another_key_in_place() {
    let mut state = state(&["vm.web"]);
    let addr = resource("vm.web");
    let raw = groundstate_states::RawJson::parse("1").unwrap();
    let unknown = state.root_mut().resources.get_mut(&addr.resource).unwrap();
    Arc::make_mut(unknown).extra.push("future", raw);
    state.move_resource_instance(&instance("vm.web"), &instance("vm.web[0]")).unwrap();
    assert_eq!(listed(&state), ["vm.web[0]"]);
    assert_eq!(state.resource(&addr).unwrap().extra.len(), 1, "unknown members stay with the resource");
}

#[test]
fn a_module_instance_moves_without_those_below() {
    let mut state = state(&["module.a.vm.web", "module.a.module.b.vm.web"]);
    state.move_module_instance(&module("module.a"), &module("module.c[0]")).unwrap();
    assert_eq!(listed(&state), ["module.c[0].vm.web", "module.a.module.b.vm.web"]);
}

#[test]
fn a_call_moves_all_its_instances_and_renames_one_step_only() {
    let addrs = [
        "module.a[0].vm.web",
        "module.a[1].vm.web",
        "module.a[0].module.a.vm.web",
        "module.b.module.a.vm.web",
    ];
    let mut moved = state(&addrs);
    moved.move_module(&call("", "a"), &call("", "c")).unwrap();
    let expected = [
        "module.c[0].vm.web",
        "module.c[1].vm.web",
        "module.b.module.a.vm.web",
        "module.c[0].module.a.vm.web",
    ];
    assert_eq!(listed(&moved), expected);

    let mut nested = state(&addrs);
    nested.move_module(&call("module.a[0]", "a"), &call("module.a[0]", "z")).unwrap();
    assert!(listed(&nested).contains(&"module.a[0].module.z.vm.web".to_owned()));
    assert!(listed(&nested).contains(&"module.b.module.a.vm.web".to_owned()));
}

#[test]
fn a_call_moves_below_itself_and_into_other_modules() {
    let mut state = state(&["module.a.vm.web", "module.a.module.a.vm.web"]);
    state.move_module(&call("", "a"), &call("module.a", "a")).unwrap();
    assert_eq!(listed(&state), ["module.a.module.a.vm.web", "module.a.module.a.module.a.vm.web"]);
    state.move_module(&call("module.a", "a"), &call("", "b")).unwrap();
    assert_eq!(listed(&state), ["module.b.vm.web", "module.b.module.a.vm.web"]);
}

#[test]
fn refused_moves_change_nothing() {
    let mut state = state(&["vm.web", "vm.app", "module.a.vm.web", "module.b.vm.web"]);
    let before = state.clone();
    let missing = |from: &str| Err(MoveError::SourceMissing { from: from.to_owned() });
    let taken =
        |from: &str, to: &str| Err(MoveError::DestinationExists { from: from.to_owned(), to: to.to_owned() });
    let (web, app, none) = ("vm.web", "vm.app", "vm.none");

    assert_eq!(state.move_resource(&resource(none), &resource("vm.new")), missing(none));
    assert_eq!(state.move_resource(&resource(web), &resource(app)), taken(web, app));
    assert_eq!(
        state.move_resource_instance(&instance("vm.web[7]"), &instance("vm.new")),
        missing("vm.web[7]")
    );
    assert_eq!(state.move_resource_instance(&instance(web), &instance(app)), taken(web, app));
    let (a, b) = (module("module.a"), module("module.b"));
    assert_eq!(state.move_module_instance(&module("module.c"), &module("module.d")), missing("module.c"));
    assert_eq!(state.move_module_instance(&a, &b), taken("module.a", "module.b"));
    assert_eq!(state.move_module_instance(&a, &ModuleInstance::root()), Err(MoveError::RootModule));
    assert_eq!(state.move_module_instance(&ModuleInstance::root(), &a), Err(MoveError::RootModule));
    assert_eq!(state.move_module(&call("module.a", "x"), &call("", "y")), missing("module.a.module.x"));
    assert_eq!(state.move_module(&call("", "a"), &call("", "b")), taken("module.a", "module.b"));
    assert_eq!(state.move_module(&call("", "a"), &call("", "a")), taken("module.a", "module.a"));
    assert_eq!(state, before);
}

/// What happens when only the source, only the destination, both, or neither exists.
#[track_caller]
fn check_maybe(mut try_move: impl FnMut(&[&str]) -> Result<MoveOutcome, MoveError>, from: &str, to: &str) {
    assert_eq!(try_move(&[from]), Ok(MoveOutcome::Moved));
    assert_eq!(try_move(&[to]), Ok(MoveOutcome::AlreadyMoved));
    assert!(matches!(try_move(&[from, to]), Err(MoveError::DestinationExists { .. })));
    assert!(matches!(try_move(&[]), Err(MoveError::NeitherExists { .. })));
}

#[test]
fn repeated_moves_tell_what_had_happened() {
    let (from, to) = ("module.a.vm.web", "module.b.vm.app");
    check_maybe(|addrs| state(addrs).maybe_move_resource(&resource(from), &resource(to)), from, to);
    check_maybe(|addrs| state(addrs).maybe_move_resource_instance(&instance(from), &instance(to)), from, to);
    let (a, b) = (module("module.a"), module("module.b"));
    check_maybe(|addrs| state(addrs).maybe_move_module_instance(&a, &b), from, to);
    check_maybe(|addrs| state(addrs).maybe_move_module(&call("", "a"), &call("", "b")), from, to);
}

#[test]
fn dependencies_of_others_are_left_alone() {
    let mut state = state(&["vm.web"]);
    let mut dependent = groundstate_states::ObjectSrc::clone(&object("x"));
    dependent.dependencies = vec![resource("vm.web").to_config()];
    let dependent = Arc::new(dependent);
    state.set_resource_instance_current(
        &instance("vm.user"),
        Some(Arc::clone(&dependent)),
        &provider_instance("cloud"),
    );
    state.move_resource(&resource("vm.web"), &resource("vm.app")).unwrap();
    assert_eq!(state.resource_instance(&instance("vm.user")).unwrap().current, Some(dependent));
}
