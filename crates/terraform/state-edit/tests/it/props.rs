//! What holds for any state.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_state_edit::{ChangeKind, Subject, diff};
use groundstate_state_edit::{Editor, MoveOptions, Script, ScriptOptions};
use groundstate_statefile::{Document, File};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, Target};
use groundstate_states::{Attributes, ObjectSrc};
use proptest::prelude::*;

use crate::support::{at, document, instance};

/// Addresses that meet each other often.
pub(crate) fn addresses() -> impl Strategy<Value = Vec<(String, Vec<usize>)>> {
    let module = prop_oneof![
        Just(""),
        Just("module.m."),
        Just("module.m[0]."),
        Just("module.m[\"k\"]."),
        Just("module.m[0].module.n.")
    ];
    let name = prop_oneof![Just("a"), Just("b"), Just("c")];
    let key = prop_oneof![Just(""), Just("[0]"), Just("[1]"), Just("[\"k\"]"), Just("[\"ü \\\" z\"]")];
    let address = (module, name, key).prop_map(|(module, name, key)| format!("{module}test.{name}{key}"));
    prop::collection::vec((address, prop::collection::vec(0usize..20, 0..4)), 1..12)
}

/// A document of these instances; each depends on resources of some that come before it.
pub(crate) fn build(instances: &[(String, Vec<usize>)]) -> Document {
    let mut known: Vec<(AbsResourceInstance, BTreeSet<String>)> = Vec::new();
    for (address, dependencies) in instances {
        let address = instance(address);
        if known.iter().any(|(other, _)| *other == address) {
            continue;
        }
        let configs = dependencies
            .iter()
            .filter_map(|at| known.get(*at))
            .map(|(other, _)| other.resource.to_config().to_string())
            .filter(|config| *config != address.resource.to_config().to_string());
        let configs = configs.collect();
        known.push((address, configs));
    }
    known.sort_by_key(|(address, _)| {
        (address.resource.module.to_string(), address.resource.resource.name.to_string(), address.key.clone())
    });
    let lines: Vec<String> = known
        .iter()
        .map(|(address, configs)| {
            format!("{address}: {}", configs.iter().cloned().collect::<Vec<_>>().join(" "))
        })
        .map(|line| line.trim_end_matches([' ', ':']).to_owned())
        .collect();
    document(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// What can be named in a document: instances, resources, modules.
pub(crate) fn targets(document: &Document) -> Vec<Target> {
    let mut all: Vec<Target> = Vec::new();
    for address in document.instances() {
        if !address.resource.module.is_root() {
            all.push(Target::Module(address.resource.module.clone()));
        }
        all.push(Target::Resource(address.resource.clone()));
        all.push(Target::Instance(address));
    }
    all
}

/// A free address of the same kind.
pub(crate) fn elsewhere(target: &Target) -> Target {
    match target {
        Target::Module(_) => at("module.free"),
        Target::Resource(_) => at("module.free.test.z"),
        Target::Instance(_) => at("module.free.test.z[5]"),
    }
}

/// A state as nothing but the ids of its instances.
type Naive = BTreeMap<AbsResourceInstance, String>;

/// What tells an object from all others.
pub(crate) fn id(object: &ObjectSrc) -> String {
    match &object.attributes {
        Attributes::Json(raw) => raw.as_str().to_owned(),
        Attributes::Flat(_) => String::new(),
    }
}

fn naive(file: &File) -> Naive {
    file.state.objects().map(|(address, _, object)| (address, id(object))).collect()
}

/// Where an instance goes in a move, if it moves.
fn goes(
    address: &AbsResourceInstance,
    from: &Target,
    to: &Target,
    state: &Naive,
) -> Option<AbsResourceInstance> {
    match (from, to) {
        (Target::Module(from), Target::Module(to)) => {
            let steps = address.module().steps();
            let (last, outer) = from.steps().split_last()?;
            let step = steps.get(outer.len())?;
            let inside = steps.starts_with(outer) && step.name == last.name;
            // Every instance of the call moves if neither address has a key.
            let any = last.key.is_none() && to.steps().last()?.key.is_none();
            if !inside || !(step.key == last.key || any) {
                return None;
            }
            let mut new = to.steps().to_vec();
            if any {
                new.last_mut()?.key = step.key.clone();
            }
            new.extend_from_slice(steps.get(from.steps().len()..)?);
            let module: ModuleInstance = new.into_iter().collect();
            let resource = AbsResource { module, resource: address.resource.resource.clone() };
            Some(resource.instance(address.key.clone()))
        }
        (Target::Resource(from), _) if state.contains_key(&from.instance(InstanceKey::None)) => {
            goes(address, &Target::Instance(from.instance(InstanceKey::None)), to, state)
        }
        (Target::Resource(from), Target::Resource(to)) => {
            (address.resource == *from).then(|| to.instance(address.key.clone()))
        }
        (Target::Instance(from), Target::Instance(to)) => (address == from).then(|| to.clone()),
        (Target::Instance(from), Target::Resource(to)) => {
            (address == from).then(|| to.instance(InstanceKey::None))
        }
        _ => None,
    }
}

fn removed(address: &AbsResourceInstance, target: &Target) -> bool {
    match target {
        Target::Module(module) => {
            let steps = address.module().steps();
            module.steps().len() <= steps.len()
                && module.steps().iter().zip(steps).all(|(outer, inner)| {
                    outer.name == inner.name && (outer.key.is_none() || outer.key == inner.key)
                })
        }
        Target::Resource(resource) => address.resource == *resource,
        Target::Instance(instance) => address == instance,
    }
}

/// Statements about places that are often there.
fn statements() -> impl Strategy<Value = Vec<(Target, Option<Target>)>> {
    let module = prop_oneof![
        3 => Just(""),
        2 => Just("module.m."),
        2 => Just("module.m[0]."),
        1 => Just("module.n."),
        1 => Just("module.m[0].module.n.")
    ];
    let name = prop_oneof![Just("test.a"), Just("test.b"), Just("test.c"), Just("")];
    let key = prop_oneof![Just(""), Just(""), Just("[0]"), Just("[1]"), Just("[\"k\"]")];
    let target = (module, name, key).prop_map(|(module, name, key)| match name {
        "" => at(match module.trim_end_matches('.') {
            "" => "module.m",
            module => module,
        }),
        name => at(&format!("{module}{name}{key}")),
    });
    prop::collection::vec((target.clone(), prop::option::weighted(0.8, target)), 1..6)
}

/// The text of the object that stands at an offset.
fn object_at(text: &[u8], offset: usize) -> &[u8] {
    let rest = &text[offset..];
    let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<serde_json::Value>();
    values.next().unwrap().unwrap();
    &rest[..values.byte_offset()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn moving_there_and_back_gives_the_same_bytes(instances in addresses(), pick in any::<prop::sample::Index>()) {
        let document = build(&instances);
        let targets = targets(&document);
        let target = pick.get(&targets);
        let mut editor = Editor::on_document(&document);
        editor.move_address(target, &elsewhere(target), MoveOptions::default()).unwrap();
        prop_assert!(editor.is_changed().unwrap());
        let there_text = editor.edit().unwrap().unwrap().to_vec().unwrap();
        let moved = Document::open(there_text).unwrap();
        let mut again = Editor::on_document(&moved);
        again.move_address(&elsewhere(target), target, MoveOptions::default()).unwrap();
        let back_text = again.edit().unwrap().unwrap().to_vec().unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&back_text), String::from_utf8_lossy(document.text()));
    }

    #[test]
    fn a_removal_shows_as_exactly_that(instances in addresses(), pick in any::<prop::sample::Index>()) {
        let document = build(&instances);
        let targets = targets(&document);
        let target = pick.get(&targets);
        let mut editor = Editor::on_document(&document);
        let summary = editor.remove(std::slice::from_ref(target)).unwrap();
        let written = editor.edit().unwrap().unwrap().to_vec().unwrap();
        let after = Document::open(written).unwrap();
        let found = diff(&document.to_file().unwrap(), &after.to_file().unwrap());
        prop_assert_eq!(&found, &editor.preview().unwrap());
        let removed: BTreeSet<String> = summary.changes.iter().map(ToString::to_string).collect();
        let mut seen = BTreeSet::new();
        for entry in &found.entries {
            prop_assert_eq!(entry.kind, ChangeKind::Removed);
            if let Subject::Current(address) = &entry.subject {
                seen.insert(format!("Removed {address}"));
            }
        }
        prop_assert_eq!(seen, removed);
    }

    #[test]
    fn random_scripts_do_what_a_naive_model_says(instances in addresses(), statements in statements()) {
        let document = build(&instances);
        let mut expected = naive(&document.to_file().unwrap());
        let mut text = String::new();
        for (from, to) in &statements {
            match to {
                Some(to) => {
                    text.push_str(&format!("mv {from} {to}\n"));
                    let moved = |address: &AbsResourceInstance| goes(address, from, to, &expected);
                    let next: Vec<_> =
                        expected.iter().map(|(a, id)| (moved(a).unwrap_or_else(|| a.clone()), id.clone())).collect();
                    let distinct: BTreeSet<_> = next.iter().map(|(address, _)| address).collect();
                    prop_assume!(distinct.len() == expected.len());
                    expected = next.into_iter().collect();
                }
                None => {
                    text.push_str(&format!("rm {from}\n"));
                    expected.retain(|address, _| !removed(address, from));
                }
            }
        }
        let script = Script::parse(&text).unwrap();
        let mut editor = Editor::on_document(&document);
        match editor.run(&script, &ScriptOptions::default()) {
            Ok(_) => prop_assert_eq!(naive(&editor.to_file().unwrap()), expected, "{}", text),
            Err(_) => prop_assert!(!editor.is_changed().unwrap()),
        }
    }

    #[test]
    fn what_is_not_touched_keeps_its_bytes(instances in addresses(), pick in any::<prop::sample::Index>()) {
        let odd = String::from_utf8(build(&instances).into_text()).unwrap();
        let odd = odd.replace("\"schema_version\": 0,", "\"schema_version\"  :0 ,\t").into_bytes();
        let document = Document::open(odd).unwrap();
        let targets = targets(&document);
        let target = pick.get(&targets);
        let mut editor = Editor::on_document(&document);
        editor.move_address(target, &elsewhere(target), MoveOptions::default()).unwrap();
        let after = Document::open(editor.edit().unwrap().unwrap().to_vec().unwrap()).unwrap();
        let touched: BTreeSet<_> = editor.preview().unwrap().entries.iter().map(|entry| match &entry.subject {
            Subject::Current(address) => address.resource.clone(),
            other => panic!("{other}"),
        }).collect();
        for address in document.instances().filter(|address| !touched.contains(&address.resource)) {
            let (before, now) = (document.places(&address), after.places(&address));
            let (before, now) = (before[0].offset, now[0].offset);
            prop_assert_eq!(object_at(document.text(), before), object_at(after.text(), now));
        }
    }
}
