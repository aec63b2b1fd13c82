//! Repairs of everything that can be wrong.

use groundstate_pulumi_integrity::{
    Action, Choice, DropReason, PendingRule, Plan, QuestionId, RepairOptions, Rule, VerifyOptions, repair,
    verify,
};
use groundstate_pulumi_snapshot::{
    IntegrityErrorMetadata, Manifest, Operation, OperationType, ProviderRef, Resource, Snapshot, Snippet,
    Time, TypeToken, Urn,
};

use crate::support::{below, names, provider_ref, resource, snapshot, urn};

/// The plan, after a look at what every plan promises.
#[track_caller]
fn planned(snapshot: &Snapshot, options: &RepairOptions) -> Plan {
    let plan = repair(snapshot, options);
    assert!(verify(plan.result(), &VerifyOptions::default()).is_valid(), "{:?}", plan.after);
    plan
}

#[track_caller]
fn plan(resources: &[&str]) -> Plan {
    planned(&snapshot(resources), &RepairOptions::default())
}

/// Name of the resource and name of the action.
fn steps(plan: &Plan) -> Vec<String> {
    plan.steps.iter().map(|step| format!("{} {}", step.urn.name(), step.action.name())).collect()
}

#[test]
fn an_unknown_provider_is_added_by_repair() {
    // Pulumi gives up here. The provider that is named comes back, and the next update fills it in.
    let broken = snapshot(&["a(@P=1)", "b(@P=1)"]);
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(steps(&done), ["P add-provider"]);
    assert_eq!(names(done.result()), ["P", "a", "b"]);
    assert_eq!(done.result().resources[0].provider_ref().unwrap(), provider_ref("P", "1"));
    let [question] = done.questions.as_slice() else { panic!("{:?}", done.questions) };
    let add = Choice::AddProvider(provider_ref("P", "1"));
    assert_eq!((question.id, &question.choices[question.default]), (QuestionId::Provider(0), &add));
    assert_eq!(broken, snapshot(&["a(@P=1)", "b(@P=1)"]), "nothing happens before the plan is carried out");

    let without = RepairOptions::default().answer(question.id, Choice::DropProvider);
    assert_eq!(steps(&planned(&broken, &without)), ["a drop-provider", "b drop-provider"]);
}

#[test]
fn repair_moves_a_parent_before_its_child() {
    let mut broken = snapshot(&["c(^A)", "A(! #1)"]);
    broken.resource_mut(0).unwrap().urn = below(1, "c");
    let done = planned(&broken, &RepairOptions::default());
    // The next update would delete and create the child if it got another name, and Pulumi only puts the parent first.
    assert_eq!(steps(&done), ["A move"]);
    assert_eq!(names(done.result()), ["A!", "c"]);
    let child = &done.result().resources[1];
    assert_eq!((&child.urn, &child.parent), (&below(1, "c"), &Some(urn("A"))));
}

#[test]
fn a_reorder_renames_nothing() {
    // The URN of the child does not match its parent, which is no error, and so nothing to be mended.
    let done = plan(&["a(^b)", "b", "c(d)", "d"]);
    assert_eq!(steps(&done), ["b move", "d move"]);
    assert!(done.questions.is_empty(), "{:?}", done.questions);
    assert_eq!(done.result().resources[1].urn, urn("a"));
}

#[test]
fn urns_of_orphans_stay_unless_the_answer_says_otherwise() {
    let mut broken = snapshot(&["a(^x)", "b(^x)", "c(a)"]);
    broken.resource_mut(0).unwrap().urn = below(1, "a");
    broken.resource_mut(1).unwrap().urn = below(1, "b");
    broken.resource_mut(2).unwrap().dependencies = vec![below(1, "a")];
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(steps(&done), ["a reparent", "b reparent"]);
    assert_eq!(done.result().resources[0].urn, below(1, "a"));
    let [question] = done.questions.as_slice() else { panic!("{:?}", done.questions) };
    assert_eq!((question.id, &question.choices[question.default]), (QuestionId::Orphan(0), &Choice::KeepUrn));
    assert_eq!(done.open_questions().count(), 0);

    let renamed = RepairOptions::default().answer(question.id, Choice::UrnWithoutParent);
    let done = planned(&broken, &renamed);
    assert_eq!(steps(&done), ["a reparent", "a rename", "b reparent", "b rename"]);
    assert_eq!(done.result().resources[2].dependencies, [urn("a")]);
}

#[test]
fn parents_that_wait_for_their_deletion_stand_before_their_children() {
    let mut broken = snapshot(&["g", "c", "b(! ^a)", "a(! ^g)"]);
    broken.resource_mut(1).unwrap().parent = Some(urn("b"));
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(names(done.result()), ["g", "a!", "b!", "c"]);
    assert_eq!(done.result().resources[3].urn, urn("c"));
    assert!(done.steps.iter().all(|step| step.action.name() == "move"), "{:?}", done.steps);
}

#[test]
fn repair_leaves_a_valid_snapshot_alone() {
    let sound = snapshot(&["P(#1)", "a(@P=1 ^P)", "b(a v:x)", "a(! #2)"]);
    let done = repair(&sound, &RepairOptions::default());
    assert!(done.is_empty() && done.questions.is_empty());
    assert_eq!(done.apply(), sound, "warnings need no repair");
}

#[test]
fn order_is_mended_by_moves() {
    let done = plan(&["a", "b(d)", "c", "d"]);
    assert_eq!(done.steps.len(), 1);
    assert_eq!(done.steps[0].action, Action::Move { before: Some(urn("b")) });
    assert_eq!(done.steps[0].resource, Some(3));
    assert_eq!(done.steps[0].to_string(), format!("{}: move before {}", urn("d"), urn("b")));
    assert_eq!(names(done.result()), ["a", "d", "b", "c"]);
}

#[test]
fn references_that_lead_nowhere_are_dropped_one_by_one() {
    let done = plan(&["a", "b(x a k:y a r:z b)"]);
    let texts: Vec<String> = done.steps.iter().map(|step| step.action.to_string()).collect();
    let text = |name: &str, rest: &str| format!("remove {} {rest}", urn(name));
    let expected = [
        text("b", "[dependency], which is the resource itself"),
        text("x", "[dependency], which is not there"),
        text("y", "[property dependency: k], which is not there"),
        text("z", "[replace with], which is not there"),
    ];
    assert_eq!(texts, expected);
    assert_eq!(done.result().resources[1].dependencies, [urn("a"), urn("a")]);
}

#[test]
fn a_missing_parent_takes_the_names_below_along() {
    let mut broken = snapshot(&["a(^x)", "b", "c"]);
    broken.resource_mut(0).unwrap().urn = below(1, "a");
    let child = broken.resource_mut(1).unwrap();
    (child.urn, child.parent) = (below(2, "b"), Some(below(1, "a")));
    broken.resource_mut(2).unwrap().dependencies = vec![below(2, "b")];
    let renamed = RepairOptions::default().answer(QuestionId::Orphan(0), Choice::UrnWithoutParent);
    let done = planned(&broken, &renamed);
    assert_eq!(steps(&done), ["a reparent", "a rename", "b rename"]);
    assert_eq!(done.result().resources[2].dependencies, [below(1, "b")]);
    assert!(done.after.is_clean(), "{:?}", done.after);
}

#[test]
fn circles_lose_what_matters_least() {
    for (resources, expected) in [
        (&["a(b)", "b(a)"][..], "a dependency b"),
        (&["a(r:b)", "b(a)"], "a replace with b"),
        (&["a(b)", "b(w:a)"], "b deleted with a"),
        (&["a(k:b)", "b(^a)"], "a property dependency: k b"),
        (&["a(^b)", "b(a)"], "b dependency a"),
        (&["P(#1 a)", "a(@P=1)"], "P dependency a"),
        (&["a(b)", "b(c)", "c(r:a)"], "c replace with a"),
    ] {
        let done = plan(resources);
        let dropped: Vec<String> = done
            .steps
            .iter()
            .filter_map(|step| match &step.action {
                Action::DropReference(reference, _) => {
                    Some(format!("{} {} {}", step.urn.name(), reference.kind, reference.urn.name()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(dropped, [expected], "{resources:?}");
    }
}

#[test]
fn providers_and_parents_in_a_circle_are_torn_too() {
    assert_eq!(steps(&plan(&["P1(#1 @P2=1)", "P2(#1 @P1=1)"]))[0], "P1 drop-provider");
    let done = plan(&["a(^b)", "b(^a)"]);
    assert_eq!(steps(&done)[0], "a reparent");
    assert_eq!(done.result().resources.len(), 2);
}

#[test]
fn another_reference_of_a_circle_can_be_dropped_instead() {
    let broken = snapshot(&["a(b)", "b(a)"]);
    let done = repair(&broken, &RepairOptions::default());
    let [question] = done.questions.as_slice() else { panic!("{:?}", done.questions) };
    assert_eq!((question.choices.len(), question.default, question.chosen), (2, 0, 0));
    let options = RepairOptions::default().answer(question.id, question.choices[1].clone());
    let other = planned(&broken, &options);
    assert_eq!(other.questions[0].chosen, 1);
    assert_eq!(steps(&other), ["b drop-reference", "b move"]);
}

#[test]
fn of_duplicates_the_one_that_exists_is_kept() {
    // Without identifiers of their own they stand for nothing, and only leave the snapshot.
    let done = plan(&["a", "a", "b(a)"]);
    assert_eq!(steps(&done), ["a remove"]);
    assert_eq!(done.steps[0].resource, Some(0));
    // The same identifier is the same thing: marking it for deletion would delete what is kept.
    assert_eq!(steps(&plan(&["a(#1)", "a(#1)"])), ["a remove"]);
    // What waits for its replacement has been deleted.
    let done = plan(&["a(#1)", "a(? #2)"]);
    assert_eq!((steps(&done), done.steps[0].resource), (vec!["a remove".to_owned()], Some(1)));
    // What stands for something else is deleted by the next update.
    let done = plan(&["a(#1)", "a(#2)"]);
    assert_eq!((steps(&done), done.steps[0].resource), (vec!["a mark-deleted".to_owned()], Some(0)));
    assert_eq!(names(done.result()), ["a!", "a'1"]);
}

#[test]
fn what_was_changed_last_is_kept() {
    let mut broken = snapshot(&["a(#1)", "a(#2)"]);
    broken.resource_mut(0).unwrap().modified = Some(Time::parse("2025-01-02T00:00:00Z").unwrap());
    broken.resource_mut(1).unwrap().modified = Some(Time::parse("2025-01-01T00:00:00Z").unwrap());
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(done.steps[0].resource, Some(1));
}

#[test]
fn duplicates_are_asked_about() {
    let broken = snapshot(&["a(#1)", "a(#2)", "b(a)"]);
    let options = RepairOptions::default()
        .answer(QuestionId::Keep(0), Choice::Keep(0))
        .answer(QuestionId::Duplicate(1), Choice::Rename(Urn::from(format!("{}-2", urn("a")))));
    let done = planned(&broken, &options);
    assert_eq!(steps(&done), ["a rename"]);
    assert_eq!(names(done.result()), ["a", "a-2", "b"]);
    assert_eq!(done.questions.len(), 2);
    // An answer that is no choice does not count.
    let odd = RepairOptions::default().answer(QuestionId::Keep(0), Choice::Clear);
    assert_eq!(planned(&broken, &odd).steps, repair(&broken, &RepairOptions::default()).steps);
}

#[test]
fn unknown_providers_are_replaced_by_the_likeliest() {
    // One of the same name.
    let done = plan(&["P(#1)", "P1(#5)", "a(@P=2)"]);
    assert_eq!(steps(&done), ["a use-provider"]);
    assert_eq!(done.result().resources[2].provider, Some(provider_ref("P", "1")));
    // Explicit providers stand for regions, so another one is only taken when the answer says so.
    for others in [&["P1(#5)", "a(@P=2)"][..], &["P1(#5)", "P2(#5)", "a(@P=2)"]] {
        let done = plan(others);
        assert_eq!(steps(&done), ["P add-provider"]);
        assert_eq!(done.open_questions().count(), 1);
        let other = Choice::UseProvider(provider_ref("P1", "5"));
        let id = done.questions[0].id;
        let done = planned(&snapshot(others), &RepairOptions::default().answer(id, other));
        assert_eq!((steps(&done), done.open_questions().count()), (vec!["a use-provider".to_owned()], 0));
    }
}

#[test]
fn references_that_cannot_be_read_go_by_the_package() {
    let mut broken = snapshot(&["P(#1)", "a", "b"]);
    broken.resource_mut(1).unwrap().provider = Some(ProviderRef::from("nonsense"));
    let other = broken.resource_mut(2).unwrap();
    (other.resource_type, other.provider) = ("other:x:Y".into(), Some(ProviderRef::from("nonsense")));
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(steps(&done), ["a use-provider", "b drop-provider"]);
}

#[test]
fn what_has_no_name_or_type_gets_one() {
    let mut broken = snapshot(&["a", "b", "c(~ #1)", "d(~ #1 @P=1)", "P(#1)"]);
    let nameless = broken.resource_mut(0).unwrap();
    nameless.urn = Urn::default();
    broken.resource_mut(1).unwrap().resource_type = "".into();
    let done = planned(&broken, &RepairOptions::default());
    let expected = [" name", "b set-type", "c drop-id", "d make-custom", "P move"];
    assert_eq!(steps(&done), expected);
    let named = &done.result().resources[0];
    assert_eq!(named.urn, Urn::build("s", "p", "", "t:t:T", "recovered-0"));
    assert!(named.protect, "the next update would delete it");
    assert_eq!(done.result().resources[1].resource_type.as_str(), "t:t:T");
    let options = RepairOptions::default().answer(QuestionId::Nameless(0), Choice::Remove);
    assert_eq!(steps(&planned(&broken, &options))[3], " remove");
}

#[test]
fn providers_get_names_that_can_be_referred_to() {
    let mut broken = snapshot(&["a(#1)", "b(a)"]);
    broken.resource_mut(0).unwrap().resource_type = "pulumi:providers:t".into();
    let done = planned(&broken, &RepairOptions::default());
    let named = Urn::build("s", "p", "", "pulumi:providers:t", "a");
    // Another URN makes the next update delete what the provider stands for, so this needs an answer.
    let open: Vec<QuestionId> = done.open_questions().map(|question| question.id).collect();
    assert_eq!(open, [QuestionId::Unreferenceable(0)]);
    let answered = RepairOptions::default().answer(open[0], Choice::Rename(named.clone()));
    assert_eq!(planned(&broken, &answered).open_questions().count(), 0);
    assert_eq!(done.result().resources[0].urn, named);
    assert_eq!(done.result().resources[1].dependencies, [named]);
    // A type that no name can hold is not the type of a provider.
    broken.resource_mut(0).unwrap().resource_type = "pulumi:providers:t$u".into();
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(steps(&done), ["a set-type"]);
    assert_eq!(done.result().resources[0].resource_type.as_str(), "t:t:T");
}

#[test]
fn manifest_snippets_and_record_are_mended() {
    let snippet =
        |uuid: &str, name: &str| Snippet { uuid: uuid.into(), name: name.into(), ..Snippet::default() };
    let mut broken = Snapshot { manifest: Manifest::new(Time::ZERO, "v3.1.0"), ..Snapshot::default() };
    broken.manifest.magic = "wrong".into();
    broken.snippets = vec![snippet("u", "a"), snippet("", "b"), snippet("u", "a"), snippet("u", "c")];
    broken.metadata.integrity_error =
        Some(IntegrityErrorMetadata { error: "oh".into(), ..IntegrityErrorMetadata::default() });
    let done = planned(&broken, &RepairOptions::default());
    let expected = [" write-magic", " name-snippet", " remove-snippet", " name-snippet", " forget-record"];
    assert_eq!(steps(&done), expected);
    let result = done.result();
    let uuids: Vec<&str> = result.snippets.iter().map(|snippet| snippet.uuid.as_str()).collect();
    assert_eq!(uuids, ["u", "recovered-snippet-1", "recovered-snippet-3"]);
    assert!(result.manifest.magic_is_right() && result.metadata.integrity_error.is_none());
    assert!(done.after.is_clean());
}

#[test]
fn pending_operations_go_by_the_rule_or_the_answer() {
    let mut stuck = snapshot(&["a"]);
    let operation = |text: &str, kind| Operation::new(resource(text), kind);
    stuck.pending_operations =
        vec![operation("x", OperationType::Creating), operation("a", OperationType::Updating)];
    assert!(repair(&stuck, &RepairOptions::default()).is_empty());
    let done = planned(&stuck, &RepairOptions::default().pending(PendingRule::ClearForgotten));
    assert_eq!(steps(&done), ["a clear-pending"]);
    assert_eq!(done.steps[0].action, Action::ClearPending(1, OperationType::Updating));
    let answered = RepairOptions::default().answer(QuestionId::Pending(0), Choice::Clear);
    let done = planned(&stuck, &answered);
    assert_eq!(done.result().pending_operations.len(), 1);
    assert_eq!(done.result().pending_operations[0].resource.urn, urn("a"));
}

#[test]
fn much_damage_is_repaired_in_little_time() {
    // A circle of thousands, with a chord at each: one reference at a time would take for ever.
    let count = 3_000;
    let all: Vec<String> = (0..count)
        .map(|at| format!("n{at}(n{} n{} x{at})", (at + 1) % count, (at + count / 2) % count))
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let done = plan(&all);
    assert_eq!(done.result().resources.len(), count);
    assert!(done.steps.len() >= count);
}

#[test]
fn a_tangle_is_cut_along_the_present_order() {
    // Each needs each: half of all references have to go, which is more than are asked about.
    let count = 20;
    let names: Vec<String> = (0..count).map(|at| format!("n{at}")).collect();
    let others = |own: usize| names.iter().enumerate().filter(move |(at, _)| *at != own);
    let all = (0..count).map(|own| {
        let needs: Vec<&str> = others(own).map(|(_, name)| name.as_str()).collect();
        format!("n{own}({})", needs.join(" "))
    });
    let all: Vec<String> = all.collect();
    let broken = snapshot(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let done = planned(&broken, &RepairOptions::default());
    assert_eq!(done.questions.len(), 100);
    let kept: usize = done.result().resources.iter().map(|resource| resource.dependencies.len()).sum();
    assert_eq!(kept, count * (count - 1) / 2);
    let of_a_circle = |action: &Action| matches!(action, Action::DropReference(_, DropReason::Cycle));
    assert!(done.steps.iter().all(|step| of_a_circle(&step.action)), "all is there, so nothing is missing");
}

#[test]
fn what_is_gone_in_numbers_is_repaired_in_one_pass() {
    // Every parent, the provider and a copy of each are wrong at once.
    let count = 5_000;
    let mut all = snapshot(&[]);
    for at in 0..count {
        for copy in 0..2 {
            let mut made = resource(&format!("n{at}(#{copy} @P{at}=1)"));
            made.urn = Urn::build("s", "p", "t:t:Gone", "t:t:T", &format!("n{at}"));
            made.parent = Some(Urn::build("s", "p", "", "t:t:Gone", &format!("g{at}")));
            all.resources.push(made.into());
        }
    }
    let done = planned(&all, &RepairOptions::default());
    let named = |name: &str| done.steps.iter().filter(|step| step.action.name() == name).count();
    assert_eq!(named("mark-deleted"), count);
    assert_eq!(named("add-provider"), count);
    assert_eq!((named("reparent"), named("rename")), (2 * count, 0));
    assert_eq!(done.result().resources.len(), 3 * count);
}

#[test]
fn operations_that_cannot_be_loaded_are_cleared_and_the_others_keep_their_numbers() {
    let mut broken = snapshot(&["a"]);
    let typeless = Resource { resource_type: TypeToken::from(""), ..resource("t") };
    for made in [Resource::default(), resource("z(#1)"), typeless, resource("c(~ #1)"), resource("y(#1)")] {
        broken.pending_operations.push(Operation::new(made, OperationType::Creating));
    }
    let report = verify(&broken, &VerifyOptions::default());
    let found: Vec<_> =
        report.of_rule(Rule::PendingUnreadable).map(|finding| finding.path.as_str()).collect();
    assert_eq!(found, [0, 2, 3].map(|at| format!("pending_operations[{at}].resource")));
    assert_eq!(report.original_error(), Some("resource missing required 'urn' field"));

    let done = planned(&broken, &RepairOptions::default().answer(QuestionId::Pending(4), Choice::Clear));
    let cleared: Vec<_> = done.steps.iter().map(|step| step.action.clone()).collect();
    assert_eq!(cleared, [0, 2, 3, 4].map(|at| Action::ClearPending(at, OperationType::Creating)));
    let left: Vec<_> = done.result().pending_operations.iter().map(|it| it.resource.urn.name()).collect();
    assert_eq!(left, ["z"]);
}
