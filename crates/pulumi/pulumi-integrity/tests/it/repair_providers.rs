//! What may take the place of a provider that is unknown, and what of it is likely.

use groundstate_pulumi_integrity::{Choice, Question, RepairOptions, repair};
use groundstate_pulumi_snapshot::{ProviderRef, Snapshot, Urn};

use crate::support::{provider_ref, snapshot};

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

#[test]
fn the_only_default_provider_is_likelier_than_others_and_one_of_two_is_not() {
    let with = |defaults: &[&str]| {
        let mut resources = vec!["P1(#1)"];
        resources.resize(1 + defaults.len(), "P1(#1)");
        resources.push("a(@P=9)");
        let mut broken = snapshot(&resources);
        for (index, name) in defaults.iter().enumerate() {
            broken.resource_mut(1 + index).expect("it is there").urn = default(name);
        }
        broken
    };
    let own = Choice::UseProvider(provider_ref("P1", "1"));
    let anew = Choice::AddProvider(provider_ref("P", "9"));
    let of_default = |name: &str| Choice::UseProvider(reference_to(&default(name)));
    let (choices, taken) = asked(&with(&["x"]));
    assert_eq!(choices, [of_default("x"), own.clone(), anew.clone(), Choice::DropProvider]);
    assert_eq!(choices[taken], of_default("x"));
    let (choices, taken) = asked(&with(&["x", "y"]));
    assert_eq!(choices, [of_default("x"), of_default("y"), own, anew.clone(), Choice::DropProvider]);
    assert_eq!(choices[taken], anew, "neither is likelier");
}
