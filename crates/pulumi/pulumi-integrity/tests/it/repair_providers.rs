//! What may take the place of a provider that is unknown, and what of it is likely.

use groundstate_pulumi_integrity::{Choice, Question, RepairOptions, repair};
use groundstate_pulumi_snapshot::{Properties, PropertyMap, PropertyValue, ProviderRef, Snapshot, Urn};

use crate::support::{provider_ref, snapshot, urn};

fn questions(snapshot: &Snapshot) -> Vec<Question> {
    repair(snapshot, &RepairOptions::default()).questions
}

/// The choices of the only question, and which one is taken.
#[track_caller]
fn asked(snapshot: &Snapshot) -> (Vec<Choice>, usize) {
    let mut questions = questions(snapshot);
    assert_eq!(questions.len(), 1, "{questions:?}");
    questions.pop().map(|question| (question.choices, question.default)).expect("there is one")
}

/// The name of a default provider.
fn default(name: &str) -> Urn {
    Urn::build("s", "p", "", "pulumi:providers:t", &format!("default_{name}"))
}

fn reference_to(urn: &Urn) -> ProviderRef {
    ProviderRef::build(urn, &"1".into()).expect("the name is that of a provider")
}

#[test]
fn providers_that_are_known_or_not_needed_are_not_asked_about() {
    assert_eq!(questions(&snapshot(&["P(#1)", "a(@P=1)", "b(? @P=2)", "c(x)"])), []);
}

#[test]
fn a_provider_can_take_any_other_in_place_of_one_but_not_itself() {
    let broken = snapshot(&["P1(#1 @P=9)", "P2(#1)", "P1(! #2)"]);
    let expected = [
        Choice::UseProvider(provider_ref("P2", "1")),
        Choice::UseProvider(provider_ref("P1", "2")),
        Choice::AddProvider(provider_ref("P", "9")),
        Choice::DropProvider,
    ];
    let (choices, taken) = asked(&broken);
    assert_eq!(choices, expected);
    assert_eq!(choices[taken], Choice::DropProvider, "a provider can do without another one");
}

/// The answer to the only question about a user of `missing` beside these providers, and if the question is open.
#[track_caller]
fn answer(missing: &ProviderRef, providers: &[(Urn, bool)]) -> (Choice, bool) {
    let mut resources = vec!["P1(#1)"; providers.len()];
    resources.push("a(#7)");
    let mut broken = snapshot(&resources);
    for (index, (urn, delete)) in providers.iter().enumerate() {
        let provider = broken.resource_mut(index).expect("it is there");
        (provider.urn, provider.delete) = (urn.clone(), *delete);
    }
    broken.resource_mut(providers.len()).expect("it is there").provider = Some(missing.clone());
    let plan = repair(&broken, &RepairOptions::default());
    assert_eq!(plan.questions.len(), 1, "{:?}", plan.questions);
    let question = &plan.questions[0];
    (question.choices[question.chosen].clone(), question.open)
}

fn missing(name: &str) -> ProviderRef {
    ProviderRef::build(&Urn::build("s", "p", "", "pulumi:providers:t", name), &"9".into())
        .expect("a provider")
}

#[test]
fn missing_default_provider_is_followed_by_the_newer_one_of_its_package() {
    let newer = (default("8_25_0"), false);
    let east = (urn("P1"), false);
    let taken = (Choice::UseProvider(reference_to(&newer.0)), false);
    assert_eq!(answer(&missing("default_8_24_0"), std::slice::from_ref(&newer)), taken);
    assert_eq!(answer(&missing("default_8_24_0"), &[newer.clone(), east]), taken);
    // Stack and project are lost.
    let torn = ProviderRef::from("urn:pulumi:::::pulumi:providers:t::default_8_24_0::9");
    assert_eq!(answer(&torn, &[newer]), taken);
}

#[test]
fn missing_default_provider_is_restored_rather_than_replaced_by_an_explicit_one() {
    let east = (urn("P1"), false);
    let older = (default("8_23_9"), false);
    let newer = (default("8_25_0"), false);
    let newest = (default("9_0_0"), false);
    let waiting = (default("8_24_0"), true);
    for others in [vec![], vec![east.clone()], vec![older, east], vec![newer, newest], vec![waiting]] {
        let restored = (Choice::AddProvider(missing("default_8_24_0")), false);
        assert_eq!(answer(&missing("default_8_24_0"), &others), restored, "{others:?}");
    }
}

#[test]
fn provider_that_no_name_describes_is_asked_about_without_a_default() {
    let east = (urn("P1"), false);
    let one = (default("8_25_0"), false);
    for name in ["asia", "default_8_24_0_alpha_1", "defaults"] {
        assert!(answer(&missing(name), std::slice::from_ref(&east)).1, "{name}");
        assert!(answer(&missing(name), std::slice::from_ref(&one)).1, "{name}");
        assert!(answer(&missing(name), &[]).1, "{name}");
    }
    let nonsense = ProviderRef::from("nonsense");
    assert!(answer(&nonsense, std::slice::from_ref(&east)).1);
    assert!(answer(&nonsense, &[one.clone(), east]).1);
    assert_eq!(
        answer(&nonsense, std::slice::from_ref(&one)),
        (Choice::UseProvider(reference_to(&one.0)), false)
    );
}

#[test]
fn restored_default_provider_has_the_version_of_its_name() {
    let mut broken = snapshot(&["a", "b"]);
    broken.resource_mut(0).expect("a").provider = Some(missing("default_8_24_0"));
    broken.resource_mut(1).expect("b").provider = Some(missing("default"));
    let plan = repair(&broken, &RepairOptions::default());
    assert_eq!(plan.open_questions().count(), 0);
    let version = |index: usize| {
        let provider = &plan.result().resources[index];
        let Properties::Map(inputs) = &provider.inputs else { return None };
        assert_eq!(provider.inputs, provider.outputs);
        Some(inputs.clone())
    };
    let expected: PropertyMap = [("version", PropertyValue::from("8.24.0"))].into_iter().collect();
    assert_eq!(version(0), Some(expected));
    assert_eq!(version(2), None, "`default` names no version");
}

#[test]
fn reference_to_a_former_name_follows_the_alias() {
    let broken = snapshot(&["new(#1 a:old)", "b(old k:old w:old r:old v:old)", "c(^old gone)"]);
    let plan = repair(&broken, &RepairOptions::default());
    let names: Vec<_> = plan.steps.iter().map(|step| (step.urn.name(), step.action.name())).collect();
    assert_eq!(names, [("b", "follow-alias"), ("c", "follow-alias"), ("c", "drop-reference")]);
    assert_eq!(plan.questions, []);
    let expected = snapshot(&["new(#1 a:old)", "b(new k:new w:new r:new v:new)", "c(^new)"]);
    assert_eq!(plan.result().resources, expected.resources);
    // A provider too, also if another name of the resource cannot be read.
    let plan = repair(&snapshot(&["P2(#1 a:P1)", "b(@P1=1)"]), &RepairOptions::default());
    assert_eq!(plan.result().resources, snapshot(&["P2(#1 a:P1)", "b(@P2=1)"]).resources);
}

#[test]
fn alias_is_not_followed_where_it_is_claimed_twice_or_is_a_name() {
    let both = repair(&snapshot(&["x(a:old)", "y(a:old)", "b(old)"]), &RepairOptions::default());
    let told: Vec<_> = both.steps.iter().map(|step| step.action.name()).collect();
    assert_eq!(told, ["drop-reference"]);
    let own = repair(&snapshot(&["x(a:old)", "b(old)", "old"]), &RepairOptions::default());
    assert_eq!(own.steps.iter().map(|step| step.action.name()).collect::<Vec<_>>(), ["move"]);
}
