//! Recorded dependencies that are taken out: from whom, and from which of the lists.

use std::collections::BTreeSet;

use groundstate_state_edit::Editor;
use groundstate_statefile::Document;
use groundstate_states::addr::ConfigResource;
use proptest::prelude::*;

use crate::props::{addresses, build, targets};
use crate::support::{PROVIDER, at, document, lines, operate};

fn config(text: &str) -> ConfigResource {
    groundstate_states::addr::AbsResource::parse(text).unwrap().to_config()
}

const STATE: &[&str] = &[
    "test.a",
    "test.b[0]: test.a",
    "test.b[1]: test.a",
    "module.m.test.in: test.a",
    "module.m[0].test.in: test.a",
    "module.mm.test.in: test.a",
    "module.m[0].module.deep.test.in: module.m.test.in test.a",
];

#[test]
fn a_target_means_what_it_means_to_a_removal() {
    for (from, changed) in [
        (&["test.b[1]"][..], &["test.b[1]"][..]),
        (&["test.b"], &["test.b[0]", "test.b[1]"]),
        (&["module.m"], &["module.m.test.in", "module.m[0].test.in", "module.m[0].module.deep.test.in"]),
        (&["module.m[0]"], &["module.m[0].test.in", "module.m[0].module.deep.test.in"]),
        (&["module.m[0].module.deep"], &["module.m[0].module.deep.test.in"]),
        (&["module.m[1]", "test.a", "test.b[2]"], &[]),
        (&["test.b", "test.b[0]"], &["test.b[0]", "test.b[1]"]),
    ] {
        let targets: Vec<_> = from.iter().map(|text| at(text)).collect();
        let after = operate(&document(STATE), |editor| {
            let summary = editor.remove_dependency(&targets, &config("test.a")).unwrap();
            let said: Vec<String> = summary.changes.iter().map(ToString::to_string).collect();
            let expected: Vec<String> =
                changed.iter().map(|name| format!("Removed dependency of {name} on test.a")).collect();
            assert_eq!(said, expected, "{from:?}");
            assert_eq!(summary.is_empty(), changed.is_empty());
        });
        let expected: Vec<String> = STATE
            .iter()
            .map(|line| match line.split_once(':') {
                Some((name, list)) if changed.contains(&name) => match list.replace(" test.a", "") {
                    rest if rest.is_empty() => name.to_owned(),
                    rest => format!("{name}:{rest}"),
                },
                _ => (*line).to_owned(),
            })
            .collect();
        assert_eq!(lines(&after), expected, "{from:?}");
    }
}

#[test]
fn deposed_objects_and_precise_lists_forget_it_too() {
    let text = format!(
        r#"{{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"l","resources":[
        {{"mode":"managed","type":"test","name":"a","provider":"{PROVIDER}","instances":[{{"attributes":{{}}}}]}},
        {{"mode":"managed","type":"test","name":"b","provider":"{PROVIDER}","instances":[
            {{"attributes":{{}},"dependencies":["test.c"],"depends_on":["test.a","test.c[0]"]}},
            {{"deposed":"0a1b2c3d","attributes":{{}},"dependencies":["test.a"]}}]}}]}}"#
    );
    let after = operate(&Document::open(text.into_bytes()).unwrap(), |editor| {
        let summary = editor.remove_dependency(&[at("test.b")], &config("test.a")).unwrap();
        assert_eq!(summary.len(), 1, "one instance, however many of its objects record it");
    });
    assert_eq!(lines(&after), ["test.a", "test.b: test.c", "test.b"]);
    let current = after.state.objects().find(|(_, _, object)| !object.depends_on.is_empty()).unwrap();
    let precise: Vec<String> = current.2.depends_on.iter().map(ToString::to_string).collect();
    assert_eq!(precise, ["test.c[0]"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn exactly_the_named_entries_go_and_all_else_keeps_its_bytes(
        instances in addresses(),
        pick in any::<prop::sample::Index>(),
        on in any::<prop::sample::Index>(),
    ) {
        let document = build(&instances);
        let all = targets(&document);
        let target = pick.get(&all);
        let before = document.to_file().unwrap();
        let configs: BTreeSet<ConfigResource> =
            before.state.objects().flat_map(|(_, _, object)| object.dependencies.clone()).collect();
        let configs: Vec<ConfigResource> = configs.into_iter().collect();
        prop_assume!(!configs.is_empty());
        let dependency = on.get(&configs);
        let mut editor = Editor::on_document(&document);
        editor.remove_dependency(std::slice::from_ref(target), dependency).unwrap();
        // A removal of the same target says who is meant.
        let mut removal = Editor::on_document(&document);
        removal.remove(std::slice::from_ref(target)).unwrap();
        let left: BTreeSet<String> =
            removal.to_file().unwrap().state.objects().map(|(address, ..)| address.to_string()).collect();
        let mut expected = before.clone();
        for resource in document.instances().map(|address| address.resource).collect::<BTreeSet<_>>() {
            let Some(mut own) = expected.state.resource(&resource).cloned() else { continue };
            for (key, instance) in &mut own.instances {
                if left.contains(&resource.instance(key.clone()).to_string()) {
                    continue;
                }
                if let Some(current) = instance.current.as_mut() {
                    let mut object = (**current).clone();
                    object.dependencies.retain(|config| config != dependency);
                    *current = object.into();
                }
            }
            let module = expected.state.ensure_module(&resource.module);
            module.resources.insert(resource.resource.clone(), own.into());
        }
        prop_assert_eq!(editor.to_file().unwrap().state, expected.state);
    }
}
