//! Repairs of one thing that break another: what one pass leaves is mended by the next, and nothing is lost by it.

use groundstate_pulumi_integrity::{
    Action, Choice, DropReason, Plan, QuestionId, RemoveReason, RepairOptions, VerifyOptions, repair, verify,
};
use groundstate_pulumi_snapshot::{ProviderRef, Snapshot, Urn};
use proptest::prelude::*;

use crate::repair_props::damaged;
use crate::support::{below, names, provider_ref, resource, sketch, snapshot, urn};

#[track_caller]
fn planned(snapshot: &Snapshot, options: &RepairOptions) -> Plan {
    let plan = repair(snapshot, options);
    let report = verify(plan.result(), &VerifyOptions::default().loading(true));
    assert!(report.is_valid(), "{:?} gave {} with {report:?}", plan.steps, sketch(plan.result()));
    assert!(repair(plan.result(), options).is_empty(), "a repaired snapshot needs no repair");
    plan
}

/// Name of the resource, and the step in words.
fn told(plan: &Plan) -> Vec<String> {
    plan.steps.iter().map(|step| format!("{} {}", step.urn.name(), step.action)).collect()
}

#[test]
fn every_step_says_in_full_what_it_does() {
    let mut broken = snapshot(&["a(x)", "c(~ #1)", "d(~ #1 @P=1)", "e(@P=2)", "P(#1)", "f(f)"]);
    broken.resource_mut(0).unwrap().resource_type = "".into();
    let done = planned(&broken, &RepairOptions::default());
    let (p1, p2) = (provider_ref("P", "1"), provider_ref("P", "2"));
    assert_eq!(
        told(&done),
        [
            "a set the type t:t:T".to_owned(),
            "c remove the identifier \"1\" of the component".to_owned(),
            "d mark as managed by its provider".to_owned(),
            format!("e take the provider {p1} in place of {p2}"),
            format!("f remove {} [dependency], which is the resource itself", urn("f")),
            format!("P move before {}", urn("d")),
            format!("a remove {} [dependency], which is not there", urn("x")),
        ]
    );
    let plan = planned(&snapshot(&["a(! x)", "b(^a)", "a(! #1)"]), &RepairOptions::default());
    assert_eq!(
        plan.steps[0].to_string(),
        format!("{} (deleted): remove {} [dependency], which is not there", urn("a"), urn("x"))
    );
    let mut broken = snapshot(&["a", "a", "b"]);
    broken.resource_mut(2).unwrap().urn = Urn::default();
    let options = RepairOptions::default().answer(QuestionId::Nameless(2), Choice::Remove);
    assert_eq!(
        told(&planned(&broken, &options)),
        [
            " remove the resource, because it has no name",
            "a remove the resource, because another one of the name is kept",
        ]
    );
}

#[test]
fn a_provider_that_comes_back_stands_before_all_who_need_it_and_keeps_its_mark() {
    // A live one of the name is there under another identifier, and the answer is to have the old one back.
    let broken = snapshot(&["P(#1)", "a(@P=2)", "b(@P=2)", "c(@P=1)"]);
    let add = Choice::AddProvider(provider_ref("P", "2"));
    let done = planned(&broken, &RepairOptions::default().answer(QuestionId::Provider(1), add));
    assert_eq!(names(done.result()), ["P", "P'1!", "a", "b", "c"]);
    let [step] = done.steps.as_slice() else { panic!("{:?}", done.steps) };
    assert_eq!(
        step.to_string(),
        format!("{} (deleted): add the provider {}", urn("P"), provider_ref("P", "2"))
    );
    assert_eq!(step.resource, None, "it is none of the snapshot");
    for (index, id) in [(2, "2"), (3, "2"), (4, "1")] {
        assert_eq!(done.result().resources[index].provider, Some(provider_ref("P", id)));
    }
}

#[test]
fn an_added_provider_without_an_identifier_is_referred_to_as_unknown() {
    let broken = snapshot(&["a(@P=)"]);
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(names(done.result()), ["P", "a"]);
    let provider = &done.result().resources[0];
    assert_eq!(provider.id(), None);
    assert_eq!(provider.provider_ref().ok(), done.result().resources[1].provider);
}

#[test]
fn what_a_broken_reference_meant_is_asked_for_each_package() {
    let mut broken = snapshot(&["P(#1)", "a", "b", "c"]);
    for index in 1..=3 {
        broken.resource_mut(index).unwrap().provider = Some(ProviderRef::from("nonsense"));
    }
    broken.resource_mut(2).unwrap().resource_type = "other:x:Y".into();
    let done = planned(&broken, &RepairOptions::default());
    let ids: Vec<QuestionId> = done.questions.iter().map(|question| question.id).collect();
    assert_eq!(ids, [QuestionId::Provider(1), QuestionId::Provider(2)]);
    assert_eq!(done.questions[0].text, "2 resources use the unknown provider nonsense.");
    assert_eq!(done.questions[1].text, "1 resources use the unknown provider nonsense.");
    let providers: Vec<bool> = done.result().resources.iter().map(|one| one.provider().is_some()).collect();
    assert_eq!(providers, [false, true, false, true]);
}

#[test]
fn questions_and_choices_read_as_sentences() {
    let mut broken = snapshot(&["a(#1 c)", "a(#2)", "c(a)", "d(@P=1)", "e(^x)"]);
    broken.resource_mut(4).unwrap().urn = below(1, "e");
    let plan = planned(&broken, &RepairOptions::default());
    let asked: Vec<&str> = plan.questions.iter().map(|question| question.text.as_str()).collect();
    let provider = provider_ref("P", "1");
    assert_eq!(
        asked,
        [
            format!("2 resources are called {}. Which one is it?", urn("a")),
            format!("What becomes of the other resource called {}?", urn("a")),
            format!("1 resources use the unknown provider {provider}."),
            format!("{} is the parent of resources, and will be no more. Which URNs do they get?", urn("x")),
        ]
    );
    let choices = |at: usize| plan.questions[at].choices.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(choices(0), ["keep the resource at index 0", "keep the resource at index 1"]);
    assert_eq!(
        choices(1),
        [
            "mark it for deletion: the next update deletes what it stands for".to_owned(),
            "take it out of the snapshot: what it stands for stays".to_owned(),
            format!("rename it to {}-2", urn("a")),
        ]
    );
    assert_eq!(choices(2), [format!("add the provider {provider}"), "have no provider".to_owned()]);
    assert_eq!(
        choices(3),
        [
            "keep the URN: a program that still has the parent finds the resource",
            "take the parent out of the URN: a program that still has the parent replaces the resource",
        ]
    );
    assert!(plan.questions.iter().all(|question| question.chosen == question.default));
    let open: Vec<bool> = plan.questions.iter().map(|question| question.open).collect();
    assert_eq!(open, [false, false, true, false], "an explicit provider is not guessed");
}

#[test]
fn a_name_that_is_taken_by_numbers_as_well_gets_the_next_free_one() {
    let mut broken = snapshot(&["a(#1)", "a(#2)", "b", "c"]);
    broken.resource_mut(2).unwrap().urn = Urn::from(format!("{}-2", urn("a")));
    broken.resource_mut(3).unwrap().urn = Urn::from(format!("{}-3", urn("a")));
    let fourth = Urn::from(format!("{}-4", urn("a")));
    let options = RepairOptions::default()
        .answer(QuestionId::Keep(0), Choice::Keep(1))
        .answer(QuestionId::Duplicate(0), Choice::Rename(fourth.clone()));
    let done = planned(&broken, &options);
    assert_eq!(done.result().resources[0].urn, fourth);
    assert_eq!(done.result().resources[1].urn, urn("a"));
}

#[test]
fn references_to_a_name_stay_with_the_one_that_keeps_it() {
    let broken = snapshot(&["a(#1)", "a(#2)", "b(a ^a k:a w:a r:a)"]);
    let rename = Choice::Rename(Urn::from(format!("{}-2", urn("a"))));
    let options = RepairOptions::default()
        .answer(QuestionId::Keep(0), Choice::Keep(1))
        .answer(QuestionId::Duplicate(0), rename);
    let done = planned(&broken, &options);
    assert_eq!(done.steps.len(), 1, "{:?}", done.steps);
    assert_eq!(done.result().resources[2], broken.resources[2]);
}

#[test]
fn an_orphan_whose_new_urn_is_taken_keeps_its_own_and_says_so() {
    let mut broken = snapshot(&["a", "a(^x)"]);
    broken.resource_mut(1).unwrap().urn = below(1, "a");
    let options = RepairOptions::default().answer(QuestionId::Orphan(1), Choice::UrnWithoutParent);
    let done = planned(&broken, &options);
    assert_eq!(
        told(&done),
        [
            format!("a remove {} [parent], which is not there", urn("x")),
            format!("a keep the name, because {} is another resource", urn("a")),
        ]
    );
    assert_eq!(done.result().resources[1].urn, below(1, "a"));
}

#[test]
fn an_orphan_without_a_parent_in_its_urn_is_not_asked_about() {
    let done = planned(&snapshot(&["a(^x)"]), &RepairOptions::default());
    assert_eq!(told(&done), [format!("a remove {} [parent], which is not there", urn("x"))]);
    assert!(done.questions.is_empty(), "{:?}", done.questions);
    let torn = planned(&snapshot(&["a(^b)", "b(^a)"]), &RepairOptions::default());
    let ids: Vec<QuestionId> = torn.questions.iter().map(|question| question.id).collect();
    assert_eq!(ids, [QuestionId::Cycle(0)]);
}

#[test]
fn below_an_orphan_that_is_renamed_a_urn_that_never_matched_stays() {
    let mut broken = snapshot(&["a(^x)", "b", "c"]);
    let (old, odd) = (below(1, "a"), Urn::build("s", "p", "t:t:Other", "t:t:T", "c"));
    broken.resource_mut(0).unwrap().urn = old.clone();
    broken.resource_mut(1).unwrap().urn = below(2, "b");
    broken.resource_mut(2).unwrap().urn = odd.clone();
    for index in [1, 2] {
        broken.resource_mut(index).unwrap().parent = Some(old.clone());
    }
    let options = RepairOptions::default().answer(QuestionId::Orphan(0), Choice::UrnWithoutParent);
    let done = planned(&broken, &options);
    let urns: Vec<&Urn> = done.result().resources.iter().map(|one| &one.urn).collect();
    assert_eq!(urns, [&urn("a"), &below(1, "b"), &odd]);
    assert_eq!(done.result().resources[2].parent, Some(urn("a")));
}

#[test]
fn copies_that_are_in_order_are_left_alone_when_something_else_is_repaired() {
    let done = planned(&snapshot(&["a", "a(! a)", "b(x)"]), &RepairOptions::default());
    assert_eq!(told(&done), [format!("b remove {} [dependency], which is not there", urn("x"))]);
    assert!(done.questions.is_empty(), "one that lives is no duplicate: {:?}", done.questions);
}

#[test]
fn a_circle_of_parents_asks_about_the_urn_of_the_one_that_loses_its_parent() {
    let mut broken = snapshot(&["a", "b"]);
    let (a, b) = (below(1, "a"), below(1, "b"));
    for (index, own, parent) in [(0, &a, &b), (1, &b, &a)] {
        let one = broken.resource_mut(index).unwrap();
        (one.urn, one.parent) = (own.clone(), Some(parent.clone()));
    }
    let kept = planned(&broken, &RepairOptions::default());
    let torn = Action::Reparent { from: b.clone(), to: None, why: DropReason::Cycle };
    assert_eq!(kept.steps[0].action, torn);
    assert!(kept.result().resources.iter().any(|one| one.urn == a), "{}", sketch(kept.result()));
    let orphan = kept.questions.iter().find(|question| matches!(question.id, QuestionId::Orphan(_))).unwrap();
    let options = RepairOptions::default().answer(orphan.id, Choice::UrnWithoutParent);
    let renamed = planned(&broken, &options);
    let urns: Vec<&Urn> = renamed.result().resources.iter().map(|one| &one.urn).collect();
    assert_eq!(urns, [&urn("a"), &b]);
    assert_eq!(renamed.result().resources[1].parent, Some(urn("a")), "the child follows");
}

#[test]
fn a_circle_through_a_property_loses_the_property_only_if_nothing_else_is_in_it() {
    let mut broken = snapshot(&["c", "a(k:b k:c)", "b(^a)"]);
    broken.resource_mut(1).unwrap().property_dependencies.insert("empty", Some(Vec::new()));
    let done = planned(&broken, &RepairOptions::default());
    let left = &done.result().resources[1].property_dependencies;
    assert_eq!(left.get("k"), Some(&[urn("c")][..]));
    assert_eq!(left.get("empty"), Some(&[][..]), "what was empty is no damage");
    let done = planned(&snapshot(&["a(k:b)", "b(^a)"]), &RepairOptions::default());
    assert_eq!(done.result().resources[0].property_dependencies.len(), 0);
}

#[test]
fn nameless_resources_are_named_after_the_stack_and_never_alike() {
    let mut broken = snapshot(&["a", "b", "c"]);
    broken.resource_mut(0).unwrap().urn = Urn::default();
    broken.resource_mut(2).unwrap().urn = Urn::default();
    // The name that the first would get is taken.
    broken.resource_mut(1).unwrap().urn = Urn::build("s", "p", "", "t:t:T", "recovered-0");
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(names(done.result()), ["recovered-0-2", "recovered-0", "recovered-2"]);
    let protected: Vec<bool> = done.result().resources.iter().map(|one| one.protect).collect();
    assert_eq!(protected, [true, false, true]);
    let mut alone = snapshot(&["a"]);
    alone.resource_mut(0).unwrap().urn = Urn::default();
    alone.resource_mut(0).unwrap().resource_type = "".into();
    let done = planned(&alone, &RepairOptions::default());
    assert_eq!(
        done.result().resources[0].urn,
        Urn::build("recovered", "recovered", "", "recovered:index:Resource", "recovered-0")
    );
}

/// The resources that a plan keeps, by their place in the snapshot.
fn is_kept(plan: &Plan, index: usize) -> bool {
    !plan.steps.iter().any(|step| step.resource == Some(index) && matches!(step.action, Action::Remove(_)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_resource_that_no_step_names_is_kept_as_it_stands(snapshot in damaged()) {
        let plan = repair(&snapshot, &RepairOptions::default());
        let mut result = plan.result().resources.clone();
        for (index, resource) in snapshot.resources.iter().enumerate() {
            let touched = plan.steps.iter().any(|step| step.resource == Some(index));
            // A name that changes is followed by references, which the step of the renamed resource stands for.
            let renames = plan.steps.iter().any(|step| matches!(step.action, Action::Rename(_) | Action::Name(_)));
            if touched || renames {
                continue;
            }
            let at = result.iter().position(|kept| kept == resource);
            prop_assert!(at.is_some(), "{index} of {} is not in {}: {:?}", sketch(&snapshot), sketch(plan.result()), plan.steps);
            result.remove(at.unwrap_or_default());
        }
    }

    #[test]
    fn no_resource_that_exists_leaves_the_snapshot_without_another_of_its_identifier(snapshot in damaged()) {
        let plan = repair(&snapshot, &RepairOptions::default());
        for (index, gone) in snapshot.indexed().filter(|(index, _)| !is_kept(&plan, *index)) {
            let why = plan.steps.iter().find_map(|step| match step.action {
                Action::Remove(why) if step.resource == Some(index) => Some(why),
                _ => None,
            });
            prop_assert_eq!(why, Some(RemoveReason::Duplicate));
            // What exists, and is not what is kept, is marked for its deletion and not forgotten.
            let exists = gone.custom && gone.id().is_some() && !gone.pending_replacement;
            let same = snapshot.indexed().any(|(other, copy)| {
                other != index && is_kept(&plan, other) && copy.id() == gone.id()
            });
            prop_assert!(!exists || same, "{index} of {}: {:?}", sketch(&snapshot), plan.steps);
        }
    }

    #[test]
    fn numbers_of_steps_are_those_of_the_snapshot_that_was_given(count in 1..6usize, at in any::<prop::sample::Index>()) {
        let names: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
        let mut broken = Snapshot::new(names.iter().map(|name| resource(name)));
        let at = at.index(count);
        broken.resource_mut(at).expect("it is below the count").dependencies = vec![urn("gone")];
        let plan = repair(&broken, &RepairOptions::default());
        prop_assert_eq!(plan.steps.len(), 1);
        prop_assert_eq!(plan.steps[0].resource, Some(at));
        prop_assert_eq!(&plan.steps[0].urn, &urn(&names[at]));
    }
}
