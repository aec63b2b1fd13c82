//! Records of instances that no operation touches.

use std::collections::BTreeMap;

use groundstate_ordering::effects::{Meta, apply, metadata_writes};

use super::{addr, config, show, state};

fn wanted(
    flag: bool,
    dependencies: &[&str],
) -> BTreeMap<groundstate_states::addr::AbsResourceInstance, Meta> {
    let dependencies = dependencies.iter().map(|text| config(text)).collect();
    BTreeMap::from([(addr("vm.a"), Meta { create_before_destroy: flag, dependencies })])
}

#[test]
fn only_what_differs_is_written() {
    for (flag, dependencies, writes) in [
        (true, &["net.old"][..], 0),
        (false, &["net.old"], 1),
        (true, &["net.old", "net.new"], 1),
        (true, &[], 1),
        (true, &["net.old", "net.old"], 0),
    ] {
        let found = metadata_writes(&state("a1 k:a0"), &wanted(flag, dependencies));
        assert_eq!(found.len(), writes, "{flag} {dependencies:?}");
    }
}

#[test]
fn instances_without_a_current_object_are_left_alone() {
    assert!(metadata_writes(&state("k:a0"), &wanted(false, &[])).is_empty());
    assert!(metadata_writes(&state(""), &wanted(false, &[])).is_empty());
}

#[test]
fn a_write_changes_the_record_and_nothing_else() {
    let mut state = state("a1! k:a0");
    for (operation, mutation) in metadata_writes(&state, &wanted(false, &["net.new"])) {
        apply(&mut state, &operation, &[mutation]).unwrap();
    }
    assert_eq!(show(&state), "a1! k:a0");
    let instance = state.resource_instance(&addr("vm.a")).unwrap();
    let flags: Vec<bool> = instance.objects().map(|(_, object)| object.create_before_destroy).collect();
    assert_eq!(flags, [false, true], "the deposed object keeps its record");
    assert_eq!(instance.current.as_ref().unwrap().dependencies, [config("net.new")]);
    assert!(metadata_writes(&state, &wanted(false, &["net.new"])).is_empty());
}
