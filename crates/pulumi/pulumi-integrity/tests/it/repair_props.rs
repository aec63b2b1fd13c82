//! Whatever is wrong, a repair leaves a sound snapshot, and says all it does.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_pulumi_integrity::{
    Action, PendingRule, Plan, RemoveReason, RepairOptions, Report, Severity, VerifyOptions, repair, verify,
};
use groundstate_pulumi_snapshot::{Operation, OperationType, ProviderRef, Resource, Snapshot, Snippet, Urn};
use proptest::prelude::*;

use crate::support::{resource, sketch, urn};
use crate::verify_props::snapshots;

/// Random snapshots with damage that no list of names and edges has.
pub(crate) fn damaged() -> impl Strategy<Value = Snapshot> {
    let damage = prop::collection::vec((0..10u8, any::<prop::sample::Index>()), 0..4);
    (snapshots(), damage).prop_map(|(mut snapshot, damage)| {
        for (kind, at) in damage {
            inflict(&mut snapshot, kind, at);
        }
        snapshot
    })
}

fn inflict(snapshot: &mut Snapshot, kind: u8, at: prop::sample::Index) {
    let count = snapshot.resources.len();
    if count == 0 {
        return;
    }
    let index = at.index(count);
    let copy = Arc::clone(&snapshot.resources[index]);
    let resource = snapshot.resource_mut(index).expect("it is below the count");
    match kind {
        0 => resource.urn = Urn::default(),
        1 => resource.resource_type = "".into(),
        2 => resource.provider = Some(ProviderRef::from("nonsense")),
        3 => resource.provider = Some(ProviderRef::from(format!("{}::", urn("P9")))),
        4 => resource.resource_type = "pulumi:providers:t".into(),
        5 => resource.resource_type = "pulumi:providers:t$u".into(),
        6 => snapshot.resources.push(copy),
        7 => snapshot.manifest.magic = "wrong".into(),
        8 => {
            let snippet = |uuid: &str, name: &str| Snippet {
                uuid: uuid.into(),
                name: name.into(),
                ..Snippet::default()
            };
            snapshot.snippets =
                vec![snippet("u", "a"), snippet("", ""), snippet("u", "b"), snippet("u", "a")];
        }
        _ => resource.urn = Urn::from("odd"),
    }
}

/// How many references a resource has, its provider apart.
fn references(resource: &Resource) -> usize {
    resource.all_dependencies().count()
}

fn count(plan: &Plan, is: impl Fn(&Action) -> bool) -> usize {
    plan.steps.iter().filter(|step| is(&step.action)).count()
}

/// Nothing is gone that no step names.
fn accounts_for_everything(snapshot: &Snapshot, plan: &Plan) -> Result<(), TestCaseError> {
    let removed = plan.steps.iter().filter(|step| matches!(step.action, Action::Remove(_)));
    let removed: BTreeSet<usize> = removed.filter_map(|step| step.resource).collect();
    let kept = || snapshot.indexed().filter(|(index, _)| !removed.contains(index)).map(|(_, kept)| kept);
    let result = plan.result();
    let added = count(plan, |action| matches!(action, Action::AddProvider(_)));
    prop_assert_eq!(result.resources.len(), kept().count() + added);

    let of_kept = |step: &&groundstate_pulumi_integrity::Step| {
        step.resource.is_none_or(|index| !removed.contains(&index))
    };
    let dropped =
        plan.steps.iter().filter(of_kept).filter(|step| {
            matches!(&step.action, Action::DropReference(..) | Action::Reparent { to: None, .. })
        });
    let before: usize = kept().map(references).sum();
    let after: usize = result.resources.iter().map(|resource| references(resource)).sum();
    prop_assert_eq!(before, after + dropped.count());

    let providers = |resource: &&Resource| resource.provider().is_some();
    let without =
        plan.steps.iter().filter(of_kept).filter(|step| matches!(step.action, Action::DropProvider(_)));
    let after = result.resources.iter().filter(|resource| providers(&&***resource)).count();
    prop_assert_eq!(kept().filter(providers).count(), after + without.count());

    let ids = |resource: &Resource| resource.id().is_some();
    let dropped = plan.steps.iter().filter(of_kept).filter(|step| matches!(step.action, Action::DropId(_)));
    let after = result.resources.iter().filter(|resource| ids(resource)).count();
    prop_assert!(kept().filter(|resource| ids(resource)).count() <= after + dropped.count());
    Ok(())
}

/// That what tells of the first error is kept, and no more.
fn expect_the_first_error_alone(snapshot: &Snapshot, options: &VerifyOptions) {
    let all = verify(snapshot, options);
    let first = verify(snapshot, &options.clone().first_error(true));
    assert!(first.findings.len() <= 2, "{first:?}");
    assert_eq!(first.is_valid(), all.is_valid());
    assert_eq!(first.original_error(), all.original_error());
    let error = |report: &Report| report.findings.iter().find(|one| one.severity == Severity::Error).cloned();
    assert_eq!(error(&first), error(&all));
}

#[test]
fn the_first_error_is_told_without_the_others_whatever_the_threads() {
    let mut snapshot = Snapshot::new((0..3000).map(|at| resource(&format!("n{at}"))));
    for at in [700, 1500, 2999] {
        snapshot.resource_mut(at).unwrap().dependencies.push(urn("gone"));
    }
    for threads in [0, 3] {
        expect_the_first_error_alone(&snapshot, &VerifyOptions::default().threads(threads));
    }
}

proptest! {
    #[test]
    fn the_first_error_is_told_without_the_others(snapshot in damaged(), loading: bool) {
        expect_the_first_error_alone(&snapshot, &VerifyOptions::default().loading(loading));
    }

    #[test]
    fn every_snapshot_can_be_repaired(snapshot in damaged()) {
        let options = RepairOptions::default();
        let plan = repair(&snapshot, &options);
        let story = || format!("{}: {:#?} gave {}", sketch(&snapshot), plan.steps, sketch(plan.result()));
        prop_assert!(plan.after.is_valid(), "{} {:?}", story(), plan.after);
        prop_assert!(verify(plan.result(), &VerifyOptions::default()).is_valid());
        let before = verify(&snapshot, &VerifyOptions::default().loading(true));
        prop_assert_eq!(plan.is_empty(), before.is_valid(), "{}", story());
        let last_resort = Action::Remove(RemoveReason::Unrepairable);
        prop_assert!(plan.steps.iter().all(|step| step.action != last_resort), "{}", story());
        accounts_for_everything(&snapshot, &plan)
            .map_err(|error| TestCaseError::fail(format!("{error}: {}", story())))?;

        let again = repair(&snapshot, &options);
        prop_assert_eq!(&again.steps, &plan.steps);
        prop_assert_eq!(again.result(), plan.result());
        prop_assert!(repair(plan.result(), &options).is_empty());
    }

    #[test]
    fn every_answer_leads_to_a_sound_snapshot(
        snapshot in damaged(),
        answers in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let mut options = RepairOptions::default();
        for answer in answers {
            let plan = repair(&snapshot, &options);
            prop_assert!(plan.after.is_valid(), "{} gave {}", sketch(&snapshot), sketch(plan.result()));
            accounts_for_everything(&snapshot, &plan)?;
            let Some(question) = plan.questions.get(answer.index(plan.questions.len().max(1))) else { break };
            let choice = question.choices[answer.index(question.choices.len())].clone();
            options = options.answer(question.id, choice);
        }
    }

    #[test]
    fn what_is_sound_is_left_alone(snapshot in snapshots()) {
        let repaired = repair(&snapshot, &RepairOptions::default()).apply();
        let mut again = repaired.clone();
        again.pending_operations.push(Operation::new(resource("z"), OperationType::Updating));
        let kept = repair(&again, &RepairOptions::default());
        prop_assert!(kept.is_empty() && kept.questions.len() == 1);
        let plan = repair(&again, &RepairOptions::default().pending(PendingRule::ClearAll));
        prop_assert_eq!(plan.steps.len(), 1);
        prop_assert_eq!(plan.apply(), repaired);
    }
}
