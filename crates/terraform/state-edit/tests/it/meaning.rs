//! Dependencies after any move: what they mean is worked out anew here, instance by instance.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_state_edit::{Editor, MoveOptions, OpenState, Transfer};
use groundstate_statefile::{Document, File};
use groundstate_states::addr::{AbsResourceInstance, ModuleInstance, Target};
use groundstate_states::{Lineage, Serial};
use proptest::prelude::*;

use crate::props::{addresses, build, elsewhere, id, targets};

/// For each object by its id: where it is, and the ids of the objects that its dependencies mean.
type Meaning = BTreeMap<String, (AbsResourceInstance, BTreeSet<String>)>;

/// Whether an object in `module` means the instance in `other`, where the configuration names the module without keys: it
/// does unless the two are in different instances of one module call.
fn is_reached(module: &ModuleInstance, other: &ModuleInstance) -> bool {
    for (own, its) in module.steps().iter().zip(other.steps()) {
        if own.name != its.name {
            return true;
        }
        if own.key != its.key {
            return false;
        }
    }
    true
}

fn meaning(file: &File) -> Meaning {
    let all: Vec<_> = file.state.objects().map(|(address, _, object)| (address, object)).collect();
    let mut found = Meaning::new();
    for (address, object) in &all {
        let mut meant = BTreeSet::new();
        for config in &object.dependencies {
            let reached = all.iter().filter(|(other, _)| {
                other.resource.to_config() == *config
                    && is_reached(&address.resource.module, &other.resource.module)
            });
            meant.extend(reached.map(|(_, other)| id(other)));
        }
        found.insert(id(object), (address.clone(), meant));
    }
    found
}

fn moved(document: &Document, from: &Target, to: &Target) -> File {
    let mut editor = Editor::on_document(document);
    editor.move_address(from, to, MoveOptions::default()).unwrap();
    editor.to_file().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_move_loses_or_invents_a_dependency(instances in addresses(), pick in any::<prop::sample::Index>()) {
        let document = build(&instances);
        let targets = targets(&document);
        let target = pick.get(&targets);
        let before = document.to_file().unwrap();
        let after = moved(&document, target, &elsewhere(target));
        let (before, after) = (meaning(&before), meaning(&after));
        for (id, (address, meant)) in &before {
            let (now, now_meant) = &after[id];
            let own = |other: &&String| after[*other].0.resource.to_config() != now.resource.to_config();
            let meant: BTreeSet<String> = meant.iter().filter(own).cloned().collect();
            prop_assert!(meant.is_subset(now_meant), "{address} lost {meant:?} but {now_meant:?}");
            if address == now {
                prop_assert_eq!(&meant, now_meant, "{}", address);
            }
        }
    }

    #[test]
    fn a_transfer_and_what_it_leaves_are_the_whole(instances in addresses(), pick in any::<prop::sample::Index>()) {
        let document = build(&instances);
        let targets = targets(&document);
        let target = pick.get(&targets);
        let pairs = [(target.clone(), elsewhere(target))];
        let before = document.to_file().unwrap();
        let transfer = Transfer::plan(&Editor::on_document(&document), &pairs).unwrap();
        let joined = transfer.to_new_file(Lineage::new("other")).unwrap();
        let mut editor = Editor::on_document(&document);
        transfer.remove_from(&mut editor).unwrap();
        let left = editor.to_file().unwrap();
        // What it gives and what it leaves are what a move inside of the state would have told apart.
        let ids = |file: &File| meaning(file).into_keys().collect::<BTreeSet<_>>();
        let (given, stayed) = (ids(&joined), ids(&left));
        prop_assert!(given.is_disjoint(&stayed));
        prop_assert_eq!(given.union(&stayed).cloned().collect::<BTreeSet<_>>(), ids(&before));
        let places = |file: &File| {
            meaning(file).into_iter().map(|(id, (address, _))| (id, address)).collect::<BTreeMap<_, _>>()
        };
        let inside = places(&moved(&document, target, &elsewhere(target)));
        for file in [&joined, &left] {
            for (id, address) in places(file) {
                prop_assert_eq!(&address, &inside[&id]);
            }
        }
        let all = meaning(&before);
        for (id, (address, meant)) in meaning(&left) {
            let expected: BTreeSet<String> = all[&id].1.intersection(&stayed).cloned().collect();
            prop_assert_eq!(meant, expected, "{}", address);
        }
        let there = meaning(&joined);
        for (id, (address, meant)) in &there {
            let along = all[id].1.intersection(&given);
            let along = along.filter(|other| there[*other].0.resource.to_config() != address.resource.to_config());
            let along: BTreeSet<String> = along.cloned().collect();
            prop_assert!(along.is_subset(meant), "{address} lost {along:?} but {meant:?}");
        }
        // Once more it finds everything done on one side, and refuses on the other.
        let mut again = Editor::on_file(&joined);
        transfer.add_to(&mut again).unwrap();
        prop_assert!(!again.is_changed().unwrap());
        prop_assert!(transfer.remove_from(&mut editor).is_err());
        prop_assert_eq!(editor.to_file().unwrap().state, left.state);
    }

    #[test]
    fn all_ways_to_write_an_edit_give_the_same_bytes(
        instances in addresses(),
        pick in any::<prop::sample::Index>(),
        serial in 0u64..100,
    ) {
        let document = build(&instances);
        let targets = targets(&document);
        let target = pick.get(&targets);
        let serial = Serial::new(serial);
        let state = OpenState::open(document.text().to_vec()).unwrap();
        let mut editor = state.editor();
        editor.remove(std::slice::from_ref(target)).unwrap();
        let mut written = Vec::new();
        editor.write_to(serial, &mut written).unwrap();
        let by_edit = editor.edit().unwrap().unwrap().serial(serial).to_vec().unwrap();
        prop_assert_eq!(&by_edit, &written);
        let rewrite = editor.rewrite(serial).unwrap();
        drop(editor);
        prop_assert_eq!(&rewrite.into_text(state), &written);
        let after = Document::open(written).unwrap();
        prop_assert_eq!(after.serial(), serial);
        let left = after.instances().count();
        prop_assert!(left < document.instances().count());
    }
}
