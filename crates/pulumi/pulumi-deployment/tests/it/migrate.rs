//! Upgrades from versions 1 and 2, beyond what the fixtures show.

use groundstate_pulumi_snapshot::{Properties, Urn};

use crate::support::{read, written};

fn of_version(version: u8, resource: &str) -> String {
    format!(r#"{{"version":{version},"deployment":{{"manifest":{{}},"resources":[{resource}]}}}}"#)
}

#[test]
fn every_input_depends_on_all_with_a_list_of_its_own() {
    let text = of_version(
        1,
        r#"{"urn":"u","type":"t","inputs":{"a":1,"b":2},"defaults":{"c":3},"dependencies":["x"]}"#,
    );
    let mut file = read(&text);
    let resource = file.snapshot.as_mut().unwrap().resource_mut(0).unwrap();
    for (_, urns) in resource.property_dependencies.iter_mut().take(1) {
        urns.push(Urn::from("y"));
    }
    let lists: Vec<usize> =
        resource.property_dependencies.iter().map(|(_, urns)| urns.unwrap().len()).collect();
    assert_eq!(lists, [2, 1]);
    assert!(!written(&file).contains("defaults"));
}

#[test]
fn missing_inputs_become_an_empty_map() {
    for version in [1, 2] {
        let file = read(&of_version(version, r#"{"urn":"u","type":"t","dependencies":["x"]}"#));
        let resource = &file.snapshot.as_ref().unwrap().resources[0];
        assert!(resource.property_dependencies.is_empty());
        let is_map = matches!(resource.inputs, Properties::Map(_));
        assert_eq!(is_map, version == 1, "only the step from version 1 fills it in");
    }
}

#[test]
fn inputs_without_dependencies_have_no_list() {
    let text = written(&read(&of_version(2, r#"{"urn":"u","type":"t","inputs":{"k":"v"}}"#)));
    assert!(text.contains(r#""propertyDependencies":{"k":null}"#), "{text}");
}

#[test]
fn a_checkpoint_of_2017_has_the_deployment_in_its_root() {
    let text = r#"{"target":"dev","config":{"a":"b"},"latest":{"manifest":{"time":"2017-06-01T00:00:00Z"},"resources":[{"urn":"u","type":"t"}]}}"#;
    let file = read(text);
    assert_eq!(file.snapshot.as_ref().unwrap().resources.len(), 1);
    let text = written(&file);
    assert!(text.starts_with(r#"{"version":3,"checkpoint":{"config":{"a":"b"},"latest":{"#), "{text}");
    assert!(text.ends_with(r#","target":"dev"}}"#), "what is not known is kept: {text}");
}

#[test]
fn members_of_later_versions_are_not_believed_in_earlier_ones() {
    let resource = r#"{"urn":"u","type":"t","provider":"p","external":true,"taint":true,"x":1}"#;
    let first = read(&of_version(1, resource)).snapshot.unwrap().resources.remove(0);
    assert_eq!((first.provider.is_none(), first.external, first.taint), (true, false, false));
    assert_eq!((first.extra.len(), first.extra.get("x").is_some()), (1, true));
    let second = read(&of_version(2, resource)).snapshot.unwrap().resources.remove(0);
    assert_eq!((second.provider.is_some(), second.external, second.taint), (true, true, false));
}
