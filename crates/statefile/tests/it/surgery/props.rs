//! What holds for any state.

use std::collections::BTreeSet;

use groundstate_statefile::surgery::{MvOptions, Surgery};
use groundstate_statefile::{ChangeKind, Document, Subject, diff};
use groundstate_states::addr::Target;
use proptest::prelude::*;

use super::support::{at, document, instance};

/// Addresses that meet each other often.
fn addresses() -> impl Strategy<Value = Vec<(String, Vec<usize>)>> {
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
fn build(instances: &[(String, Vec<usize>)]) -> Document {
    let mut known: Vec<(groundstate_states::addr::AbsResourceInstance, BTreeSet<String>)> = Vec::new();
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
fn targets(document: &Document) -> Vec<Target> {
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
fn elsewhere(target: &Target) -> Target {
    match target {
        Target::Module(_) => at("module.free"),
        Target::Resource(_) => at("module.free.test.z"),
        Target::Instance(_) => at("module.free.test.z[5]"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn moving_there_and_back_gives_the_same_bytes(instances in addresses(), pick in any::<prop::sample::Index>()) {
        let document = build(&instances);
        let targets = targets(&document);
        let target = pick.get(&targets);
        let mut surgery = Surgery::on_document(&document);
        surgery.mv(target, &elsewhere(target), MvOptions::default()).unwrap();
        prop_assert!(surgery.is_changed().unwrap());
        let there_text = surgery.edit().unwrap().unwrap().to_vec().unwrap();
        let moved = Document::open(there_text).unwrap();
        let mut again = Surgery::on_document(&moved);
        again.mv(&elsewhere(target), target, MvOptions::default()).unwrap();
        let back_text = again.edit().unwrap().unwrap().to_vec().unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&back_text), String::from_utf8_lossy(document.text()));
    }

    #[test]
    fn a_removal_shows_as_exactly_that(instances in addresses(), pick in any::<prop::sample::Index>()) {
        let document = build(&instances);
        let targets = targets(&document);
        let target = pick.get(&targets);
        let mut surgery = Surgery::on_document(&document);
        let summary = surgery.rm(std::slice::from_ref(target)).unwrap();
        let written = surgery.edit().unwrap().unwrap().to_vec().unwrap();
        let after = Document::open(written).unwrap();
        let found = diff(&document.to_file().unwrap(), &after.to_file().unwrap());
        prop_assert_eq!(&found, &surgery.preview().unwrap());
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
}
