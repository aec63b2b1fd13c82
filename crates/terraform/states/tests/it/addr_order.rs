//! Order and containment of addresses.

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, AddrError, ConfigResource, InstanceKey, Module, ModuleInstance, Target,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Reads a module address; the empty text is the root.
fn module(text: &str) -> Result<ModuleInstance, AddrError> {
    if text.is_empty() { Ok(ModuleInstance::root()) } else { ModuleInstance::parse(text) }
}

#[test]
fn lists_order_modules_by_length_then_names_then_keys() -> Outcome {
    let sorted = [
        "",
        "module.child",
        "module.kinder",
        "module.m",
        "module.m[2]",
        "module.m[10]",
        "module.m[\"10\"]",
        "module.m[\"2\"]",
        "module.child.module.grandchild",
    ];
    let mut modules = sorted.iter().rev().map(|text| module(text)).collect::<Result<Vec<_>, _>>()?;
    modules.sort();
    assert_eq!(modules.iter().map(ToString::to_string).collect::<Vec<_>>(), sorted);
    let mut paths = ["module.b", "module.a.module.z", "module.a"]
        .map(Module::parse)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    assert_eq!(
        paths.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["module.a", "module.b", "module.a.module.z"]
    );
    Ok(())
}

#[test]
fn files_order_modules_by_their_text() -> Outcome {
    let sorted = [
        "",
        "module.child",
        "module.child-a",
        "module.child.module.grandchild",
        "module.kinder",
        "module.m",
        "module.m[\"2\"]",
        "module.m[10]",
        "module.m[2]",
    ];
    let mut modules = sorted.iter().rev().map(|text| module(text)).collect::<Result<Vec<_>, _>>()?;
    modules.sort_by(ModuleInstance::cmp_printed);
    assert_eq!(modules.iter().map(ToString::to_string).collect::<Vec<_>>(), sorted);
    Ok(())
}

#[test]
fn lists_order_instances_by_module_mode_type_name_and_key() -> Outcome {
    let sorted = [
        "ephemeral.z.z",
        "data.z.z",
        "a.a",
        "a.a[0]",
        "a.a[2]",
        "a.a[10]",
        "a.a[\"-1\"]",
        "a.a[\"0\"]",
        "a.b",
        "b.a",
        "é.a",
        "module.a.data.t.n",
        "module.a[0].t.n",
        "module.b.t.n",
        "module.a.module.a.t.n",
    ];
    let mut instances =
        sorted.iter().rev().map(|text| AbsResourceInstance::parse(text)).collect::<Result<Vec<_>, _>>()?;
    instances.sort();
    assert_eq!(instances.iter().map(ToString::to_string).collect::<Vec<_>>(), sorted);
    Ok(())
}

#[test]
fn a_module_contains_what_lies_below_it() -> Outcome {
    let cases = [
        ("", "", true),
        ("", "module.a[0]", true),
        ("module.a", "", false),
        ("module.a", "module.a", true),
        ("module.a", "module.a[0]", true),
        ("module.a", "module.a[0].module.b", true),
        ("module.a", "module.ab", false),
        ("module.a[0]", "module.a", false),
        ("module.a[0]", "module.a[\"0\"]", false),
        ("module.a.module.b", "module.a[0].module.b", false),
        ("module.a[0].module.b", "module.a[0].module.b[\"k\"].module.c", true),
        ("module.a.module.b", "module.a", false),
    ];
    for (outer, inner, contained) in cases {
        assert_eq!(module(outer)?.contains(&module(inner)?), contained, "{outer:?} {inner:?}");
    }
    Ok(())
}

#[test]
fn an_ancestor_without_keys_matches_at_every_step() -> Outcome {
    let cases = [
        ("", "module.a", true),
        ("", "", false),
        ("module.a", "module.a[0]", false),
        ("module.a.module.b", "module.a[0].module.b[1].module.c", true),
        ("module.a[0]", "module.a[0].module.b", true),
        ("module.a[1]", "module.a[0].module.b", false),
        ("module.a[0]", "module.a.module.b", false),
        ("module.b", "module.a.module.b", false),
    ];
    for (outer, inner, ancestor) in cases {
        assert_eq!(module(outer)?.is_ancestor_of(&module(inner)?), ancestor, "{outer:?} {inner:?}");
    }
    Ok(())
}

#[test]
fn a_target_contains_targets() -> Outcome {
    let cases = [
        ("module.a", "module.a[0].t.n[1]", true),
        ("module.a", "module.a.t.n", true),
        ("module.a[0]", "module.a[1].t.n", false),
        ("module.a", "t.n", false),
        ("t.n", "t.n", true),
        ("t.n", "t.n[0]", true),
        ("t.n", "data.t.n", false),
        ("t.n", "module.t", false),
        ("t.n[0]", "t.n[0]", true),
        ("t.n[0]", "t.n", false),
        ("t.n[0]", "t.n[\"0\"]", false),
        ("t.n[0]", "module.t", false),
    ];
    for (outer, inner, contained) in cases {
        assert_eq!(Target::parse(outer)?.contains(&Target::parse(inner)?), contained, "{outer} {inner}");
    }
    Ok(())
}

#[test]
fn a_configured_resource_contains_every_expansion() -> Outcome {
    let config = ConfigResource::parse("module.a.module.b.t.n")?;
    let cases = [
        ("module.a[0].module.b[\"k\"].t.n", true),
        ("module.a.module.b.t.n[3]", true),
        ("module.a.t.n", false),
        ("module.a.module.b.data.t.n", false),
        ("module.a.module.b", false),
    ];
    for (target, contained) in cases {
        assert_eq!(config.contains(&Target::parse(target)?), contained, "{target}");
    }
    let around = [
        ("module.a", true),
        ("module.a.module.b", true),
        ("module.a.module.b.module.c", false),
        ("module.a[0]", false),
        ("module.a.module.b.t.n", true),
        ("module.a[0].module.b.t.n", false),
        ("module.a.t.n", false),
        ("module.a.module.b.t.n[0]", false),
    ];
    for (target, contains) in around {
        assert_eq!(Target::parse(target)?.contains_config_resource(&config), contains, "{target}");
    }
    assert_eq!(config.without_keys(), AbsResource::parse("module.a.module.b.t.n")?);
    Ok(())
}

#[test]
fn paths_know_their_parents() -> Outcome {
    let path = ModuleInstance::root().child("a", InstanceKey::Int(0)).child("b", InstanceKey::None);
    let parent = path.parent().ok_or("no parent")?;
    assert_eq!(parent.to_string(), "module.a[0]");
    assert_eq!(parent.parent(), Some(ModuleInstance::root()));
    assert_eq!(ModuleInstance::root().parent(), None);
    assert_eq!(path.to_config().parent(), Some(Module::root().child("a")));
    assert_eq!(path.to_config().without_keys().to_string(), "module.a.module.b");
    assert_eq!(Module::root().parent(), None);
    assert!(path.to_config().is_module_of(&path));
    assert_eq!(Target::parse("module.a[0].t.n")?.module(), &parent);
    Ok(())
}
