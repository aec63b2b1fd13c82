//! Properties of reading and writing, on random files.

use groundstate_statefile::{
    DecodeOptions, Document, EncodeOptions, File, NoteKind, decode, encode, encode_equally, encode_to, list,
    outputs,
};
use groundstate_states::{Lineage, Serial};
use proptest::prelude::*;

use crate::props_gen::{changes, checks, file, put, text};

/// Reads a file by the rules it was written by.
fn read_back(file: &File, text: &[u8]) -> File {
    let read = decode(text, &DecodeOptions::default().dialect(file.dialect));
    assert!(read.is_ok(), "{}\n{}", read.unwrap_err(), String::from_utf8_lossy(text));
    read.expect("checked above")
}

/// All that two files say.
#[track_caller]
fn assert_same(a: &File, b: &File) {
    assert_eq!(a.terraform_version, b.terraform_version);
    assert_eq!((a.serial, &a.lineage, a.dialect, a.style), (b.serial, &b.lineage, b.dialect, b.style));
    assert_eq!(a.extra, b.extra);
    assert_eq!(a.state.check_results, b.state.check_results);
    assert_eq!(a.state.outputs(), b.state.outputs());
    for ((module_a, a), (module_b, b)) in a.state.modules().zip(b.state.modules()) {
        assert_eq!(module_a, module_b);
        for ((name_a, a), (name_b, b)) in a.resources.iter().zip(&b.resources) {
            assert_eq!((name_a, a), (name_b, b));
        }
    }
    assert_eq!(a.state, b.state);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back_and_written_alike(file in file()) {
        let text = encode(&file, &EncodeOptions::default()).unwrap();
        let again = read_back(&file, &text);
        prop_assert!(again.notes.iter().all(|note| note.kind == NoteKind::Normalized), "{:?}", again.notes);
        assert_same(&file, &again);
        prop_assert_eq!(encode(&again, &EncodeOptions::default()).unwrap(), text);
    }

    #[test]
    fn both_layouts_hold_the_same(file in file()) {
        let indented = encode(&file, &EncodeOptions::default().indented(true)).unwrap();
        let compact = encode(&file, &EncodeOptions::default().indented(false)).unwrap();
        prop_assert_eq!(read_back(&file, &indented).state, read_back(&file, &compact).state);
        // The other reader of JSON does not take half a surrogate pair.
        let text = |text: &[u8]| String::from_utf8_lossy(text).replace(r"\ud800", "");
        let json = |bytes: &[u8]| serde_json::from_str::<serde_json::Value>(&text(bytes)).unwrap();
        prop_assert_eq!(json(&indented), json(&compact));
        let streamed = encode_to(&file, &EncodeOptions::default().indented(false), Vec::new()).unwrap();
        prop_assert_eq!(streamed, compact);
    }

    #[test]
    fn model_index_and_list_agree(file in file()) {
        let text = encode(&file, &EncodeOptions::default()).unwrap();
        let found = decode(&text, &DecodeOptions::default()).unwrap();
        let document = Document::open(text.clone()).unwrap();
        prop_assert_eq!(found.dialect, document.dialect());
        prop_assert_eq!(&found.terraform_version.as_ref(), &document.terraform_version());
        prop_assert_eq!((found.serial, found.lineage), (document.serial(), document.lineage()));
        for (module, name, resource) in found.state.all_resources() {
            let address = name.clone().absolute(module.clone());
            let part = document.resource(&address).unwrap();
            prop_assert_eq!(part.as_ref(), Some(resource));
        }
        for (name, output) in found.state.outputs() {
            let part = document.output(name).unwrap();
            prop_assert_eq!(part.as_ref(), Some(&**output));
        }
        let instances: Vec<_> = found.state.resource_instances().map(|(address, _)| address).collect();
        prop_assert_eq!(document.instances().collect::<Vec<_>>(), instances.clone());
        let listing = list(&text[..], false).unwrap();
        prop_assert_eq!(listing.iter().map(|item| item.address()).collect::<Vec<_>>(), instances);
        let all: Vec<_> = found.state.outputs().iter().map(|(n, o)| (n.to_string(), (**o).clone())).collect();
        prop_assert_eq!(outputs(&text[..], None).unwrap(), all);
    }

    #[test]
    fn equality_is_that_of_the_bytes(a in file(), b in file()) {
        let stored = |file: &File| {
            let mut copy = File::new(groundstate_statefile::Dialect::OpenTofu, Default::default());
            copy.state = file.state.clone();
            encode(&copy, &EncodeOptions::default().allow_loss(true)).unwrap()
        };
        prop_assert!(encode_equally(&a.state, &a.state.clone()));
        prop_assert_eq!(encode_equally(&a.state, &b.state), encode_equally(&b.state, &a.state));
        if stored(&a) == stored(&b) {
            prop_assert!(encode_equally(&a.state, &b.state));
        }
        let text = encode(&a, &EncodeOptions::default()).unwrap();
        prop_assert!(encode_equally(&a.state, &read_back(&a, &text).state));
    }

    #[test]
    fn equality_does_not_see_the_order_of_checks(file in file(), results in checks(), seed in any::<u64>()) {
        let (mut a, mut b) = (file.state.clone(), file.state);
        a.check_results = results.clone();
        b.check_results = results.map(|mut results| {
            let turn = |length: usize| if length == 0 { 0 } else { seed as usize % length };
            let by = turn(results.aggregates.len());
            results.aggregates.rotate_left(by);
            for aggregate in &mut results.aggregates {
                let by = turn(aggregate.objects.len());
                aggregate.objects.rotate_left(by);
                for object in &mut aggregate.objects {
                    object.failure_messages.reverse();
                }
            }
            results.opaque.reverse();
            results
        });
        prop_assert!(encode_equally(&a, &b));
    }

    #[test]
    fn arbitrary_bytes_are_judged_alike(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        crate::support::verdict(&bytes);
    }

    #[test]
    fn damaged_files_are_judged_alike(file in file(), cuts in proptest::collection::vec((any::<u32>(), any::<u8>()), 1..4)) {
        let mut text = encode(&file, &EncodeOptions::default()).unwrap();
        for (at, byte) in cuts {
            let at = at as usize % text.len();
            match byte {
                0..64 => drop(text.remove(at)),
                64..128 => text.insert(at, *b"\"{}[],:0 n\\-e.tf".get(byte as usize % 16).unwrap_or(&b'"')),
                _ => text[at] = byte,
            }
        }
        crate::support::verdict(&text);
    }

    #[test]
    fn edits_say_what_the_edited_model_says(
        (mut file, resources, outputs) in changes(),
        serial in proptest::option::of(any::<u64>()),
        lineage in proptest::option::of(text()),
    ) {
        let text = encode(&file, &EncodeOptions::default()).unwrap();
        let document = Document::open(text).unwrap();
        // Without a trace of OpenTofu the document would not take what only that product stores.
        prop_assume!(document.dialect() == file.dialect);
        let mut edit = document.edit();
        let known: Vec<_> = document.resources().cloned().collect();
        for (pick, fresh, new) in resources {
            let address = if pick % 4 > 0 { known.get(pick as usize % known.len().max(1)) } else { None };
            let address = address.cloned().unwrap_or(fresh);
            match &new {
                Some(new) => put(&mut file, &address, new.clone()),
                None => { file.state.remove_resource(&address); }
            }
            edit.resource(address, new);
        }
        let known: Vec<String> = document.output_names().map(str::to_owned).collect();
        for (pick, fresh, new) in outputs {
            let name = if pick % 4 > 0 { known.get(pick as usize % known.len().max(1)) } else { None };
            let name = name.cloned().unwrap_or(fresh);
            match &new {
                Some(new) => file.state.root_mut().set_output_value(&name, new.clone()),
                None => { file.state.root_mut().remove_output_value(&name); }
            }
            edit.output(&name, new);
        }
        if let Some(serial) = serial {
            file.serial = Serial::new(serial);
            edit.serial(file.serial);
        }
        if let Some(lineage) = lineage {
            file.lineage = Lineage::new(&lineage);
            edit.lineage(&file.lineage);
        }
        let edited = edit.to_vec().unwrap();
        let read = read_back(&file, &edited);
        prop_assert_eq!((read.serial, &read.lineage), (file.serial, &file.lineage));
        prop_assert_eq!(read.state.outputs(), file.state.outputs());
        for (module, name, resource) in file.state.all_resources() {
            let address = name.clone().absolute(module.clone());
            prop_assert_eq!(read.state.resource(&address), Some(resource), "{}", address);
        }
        prop_assert_eq!(read.state.all_resources().count(), file.state.all_resources().count());
        prop_assert_eq!(&read.state.check_results, &file.state.check_results);
        prop_assert_eq!(&read.extra, &file.extra);
        // The document was canonical and stays so: each byte is what writing the model gives.
        let written = encode(&file, &EncodeOptions::default()).unwrap();
        let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        prop_assert!(edited == written, "{}\n---\n{}", shown(&edited), shown(&written));
    }
}
