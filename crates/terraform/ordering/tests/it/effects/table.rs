//! What each kind of operation does to the slots of an instance, on success and on failure.

use groundstate_ordering::effects::{Operation, Reply, apply, begin, conclude};
use groundstate_ordering::{ApplyKind, OpKind};
use groundstate_schedule::walk::Outcome;
use groundstate_states::ObjectSrc;
use groundstate_states::addr::AbsResourceInstance;

use super::{K, addr, applying, create_then_delete, key, object, operation, show, state};

fn reply(answer: &str) -> Reply {
    let value = |name: &str| (name != "null").then(|| Box::new(object(name)));
    match answer.strip_prefix("fails ") {
        Some(name) => Reply::Failed { object: value(name), message: "no luck".to_owned() },
        None => Reply::Succeeded(value(answer)),
    }
}

/// What is in the slots after the start and after the end, and whether it succeeded.
fn run(operation: &Operation, before: &str, answer: &str) -> (String, String, bool) {
    let mut state = state(before);
    let at = operation.addr.clone();
    let start = begin(operation, state.resource_instance(&at)).unwrap();
    apply(&mut state, operation, &start).unwrap();
    let begun = show(&state);
    let end = conclude(operation, state.resource_instance(&at), reply(answer));
    apply(&mut state, operation, &end.mutations).unwrap();
    (begun, show(&state), end.outcome == Outcome::Succeeded)
}

#[test]
fn every_row_of_the_table() {
    let rows: &[(Operation, &str, &str, &str, &str, bool)] = &[
        // operation, before, after the start, answer, after the end, success
        (applying(ApplyKind::Create), "", "", "a1", "a1", true),
        (applying(ApplyKind::Create), "", "", "fails a1", "a1!", false),
        (applying(ApplyKind::Create), "", "", "fails null", "", false),
        (applying(ApplyKind::Create), "", "", "null", "", false),
        (applying(ApplyKind::Create), "k:a0", "k:a0", "a1", "a1 k:a0", true),
        (applying(ApplyKind::ForgetCreate), "", "", "a1", "a1", true),
        (applying(ApplyKind::ReplaceCreate), "", "", "a1", "a1", true),
        (applying(ApplyKind::ReplaceCreate), "", "", "fails a1", "a1!", false),
        (applying(ApplyKind::Update), "a1", "a1", "a2", "a2", true),
        (applying(ApplyKind::Update), "a1!", "a1!", "a2", "a2", true),
        (applying(ApplyKind::Update), "a1", "a1", "fails a2", "a2", false),
        (applying(ApplyKind::Update), "a1!", "a1!", "fails a2", "a2!", false),
        (applying(ApplyKind::Update), "a1", "a1", "fails null", "a1", false),
        (applying(ApplyKind::Update), "a1", "a1", "null", "a1", false),
        (create_then_delete(), "a1", "k:a1", "a2", "a2 k:a1", true),
        (create_then_delete(), "a1!", "k:a1!", "a2", "a2 k:a1!", true),
        (create_then_delete(), "a1", "k:a1", "fails a2", "a2! k:a1", false),
        (create_then_delete(), "a1", "k:a1", "fails null", "a1", false),
        (create_then_delete(), "a1", "k:a1", "null", "a1", false),
        (applying(ApplyKind::Read), "", "", "a1", "a1", true),
        (applying(ApplyKind::Read), "a1", "a1", "a2", "a2", true),
        (applying(ApplyKind::Read), "a1", "a1", "fails a2", "a1", false),
        (applying(ApplyKind::Read), "a1", "a1", "fails null", "a1", false),
        (operation(OpKind::Destroy), "a1", "a1", "null", "", true),
        (operation(OpKind::Destroy), "a1", "a1", "a2", "", true),
        (operation(OpKind::Destroy), "a1 k:a0", "a1 k:a0", "null", "k:a0", true),
        (operation(OpKind::Destroy), "a1!", "a1!", "fails a2", "a2!", false),
        (operation(OpKind::Destroy), "a1", "a1", "fails null", "a1", false),
        (operation(OpKind::DestroyDeposed(key(K))), "a1 k:a0", "a1 k:a0", "null", "a1", true),
        (operation(OpKind::DestroyDeposed(key(K))), "k:a0", "k:a0", "null", "", true),
        (operation(OpKind::DestroyDeposed(key(K))), "a1 k:a0", "a1 k:a0", "fails a9", "a1 k:a9", false),
        (operation(OpKind::DestroyDeposed(key(K))), "a1 k:a0", "a1 k:a0", "fails null", "a1 k:a0", false),
        (operation(OpKind::Forget), "a1 k:a0", "a1 k:a0", "null", "k:a0", true),
        (operation(OpKind::ForgetDeposed(key(K))), "a1 k:a0", "a1 k:a0", "null", "a1", true),
        (applying(ApplyKind::Check), "a1", "a1", "null", "a1", true),
        (applying(ApplyKind::Check), "a1", "a1", "fails null", "a1", false),
    ];
    for (operation, before, begun, answer, after, success) in rows {
        let found = run(operation, before, answer);
        let expected = ((*begun).to_owned(), (*after).to_owned(), *success);
        assert_eq!(found, expected, "{:?} on {before:?} with {answer}", operation.kind);
    }
}

#[test]
fn a_failure_never_makes_what_is_recorded_less() {
    let recorded = |operation: &Operation, before: &str, answer: &str| {
        let mut state = state(before);
        let start = begin(operation, state.resource_instance(&operation.addr)).unwrap();
        apply(&mut state, operation, &start).unwrap();
        let end = conclude(operation, state.resource_instance(&operation.addr), reply(answer));
        apply(&mut state, operation, &end.mutations).unwrap();
        let show = |object: &ObjectSrc| {
            let names: Vec<_> = object.dependencies.iter().map(ToString::to_string).collect();
            format!("{} {}", names.join("+"), object.create_before_destroy)
        };
        let instance = state.resource_instance(&addr("vm.a")).unwrap().clone();
        instance.objects().map(|(_, object)| show(object)).collect::<Vec<_>>()
    };
    let update = applying(ApplyKind::Update);
    assert_eq!(recorded(&update, "a1", "fails a2"), ["net.old+net.new true"]);
    assert_eq!(recorded(&update, "a1", "fails null"), ["net.old true"]);
    assert_eq!(recorded(&update, "a1", "a2"), ["net.new false"], "the flag is not sticky");
    assert_eq!(recorded(&operation(OpKind::Destroy), "a1", "fails a2"), ["net.old true"]);
    let deposed = operation(OpKind::DestroyDeposed(key(K)));
    assert_eq!(recorded(&deposed, "k:a0", "fails a9"), ["net.old true"]);
    let replaced = ["net.new false", "net.old true"];
    assert_eq!(recorded(&create_then_delete(), "a1", "a2"), replaced, "a deposed object keeps its record");
    assert_eq!(recorded(&create_then_delete(), "a1", "fails a2"), replaced);
    assert_eq!(recorded(&create_then_delete(), "a1", "fails null"), ["net.old true"]);
}

#[test]
fn dependencies_on_instances_are_joined_too() {
    let mut state = state("a1");
    let mut instance = state.resource_instance(&addr("vm.a")).unwrap().clone();
    let mut prior = object("a1");
    prior.depends_on = vec![addr("net.z"), addr("net.a[0]")];
    prior.skip_destroy = true;
    instance.current = Some(prior.into());
    state.set_resource_instance(&addr("vm.a"), Some(instance.clone()), &super::provider().config);
    let mut value = object("a2");
    value.depends_on = vec![addr("net.b"), addr("net.z")];
    let reply = Reply::Failed { object: Some(value.into()), message: String::new() };
    let end = conclude(&applying(ApplyKind::Update), Some(&instance), reply);
    apply(&mut state, &applying(ApplyKind::Update), &end.mutations).unwrap();
    let current = state.resource_instance(&addr("vm.a")).unwrap().current.clone().unwrap();
    let names: Vec<String> = current.depends_on.iter().map(AbsResourceInstance::to_string).collect();
    assert_eq!(names, ["net.z", "net.a[0]", "net.b"]);
    assert!(current.skip_destroy);
}

#[test]
fn the_reason_of_a_failure_is_kept_and_a_success_without_an_object_has_one() {
    let create = applying(ApplyKind::Create);
    assert_eq!(conclude(&create, None, reply("fails null")).outcome, Outcome::Failed("no luck".to_owned()));
    let Outcome::Failed(message) = conclude(&create, None, reply("null")).outcome else { unreachable!() };
    assert!(message.contains("vm.a") && message.contains("no object"), "{message}");
}

#[test]
fn providers_are_called_only_where_there_is_something_to_do() {
    let data = Operation::new(addr("data.net.a"), OpKind::Destroy, super::provider());
    for (operation, calls) in [
        (operation(OpKind::Destroy), true),
        (operation(OpKind::Destroy).skipping_destroy(true), false),
        (operation(OpKind::DestroyDeposed(key(K))).skipping_destroy(true), false),
        (data, false),
        (operation(OpKind::Forget), false),
        (operation(OpKind::ForgetDeposed(key(K))), false),
        (operation(OpKind::Provider), false),
        (applying(ApplyKind::Read), true),
        (create_then_delete(), true),
    ] {
        assert_eq!(operation.calls_provider(), calls, "{:?}", operation.kind);
    }
}
