//! Who has to wait for whom: a step may not begin before the end of one that it depends on.

use groundstate_pulumi_journal::{State, Step, StepKind};
use groundstate_pulumi_snapshot::{ProviderRef, Resource, Urn};
use groundstate_pulumi_stackmgr::{Error, SnapshotManager};

use crate::support::{managers, options, resource, run, saved, state, urn};

fn create(state: &State) -> Step {
    Step::new(StepKind::Create, None, Some(state))
}

/// Why a step may not begin, as text.
async fn refused(manager: &dyn SnapshotManager, step: Step) -> String {
    match manager.begin(step).await {
        Err(error @ Error::Overtakes { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn must_wait(own: &Urn, before: &Urn) -> String {
    format!(
        "the step of {own} begins before that of {before} has ended, which it depends on; wait for that one"
    )
}

#[tokio::test]
async fn every_kind_of_reference_has_to_wait() {
    type Mark = fn(&mut Resource, Urn);
    let marks: [(&str, Mark); 5] = [
        ("parent", |resource, urn| resource.parent = Some(urn)),
        ("dependency", |resource, urn| resource.dependencies.push(urn)),
        ("property", |resource, urn| resource.property_dependencies.insert("p", Some(vec![urn]))),
        ("deleted with", |resource, urn| resource.deleted_with = Some(urn)),
        ("replaced with", |resource, urn| resource.replace_with.push(urn)),
    ];
    for (kind, mark) in marks {
        for (name, _, manager, _) in managers(&[], &options()) {
            let (a, b) = (state("A", &[]), state("B", &[]));
            b.change(|resource| mark(resource, urn("A")));
            let first = manager.begin(create(&a)).await.unwrap();
            assert_eq!(
                refused(&*manager, create(&b)).await,
                must_wait(&urn("B"), &urn("A")),
                "{name}: {kind}"
            );
            manager.end(first, true).await.unwrap();
            run(&*manager, create(&b)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn what_uses_a_provider_waits_for_it_whatever_its_identifier_holds() {
    let provider = Urn::build("s", "p", "", "pulumi:providers:t", "P");
    for id in ["1", "a::b"] {
        for (name, _, manager, _) in managers(&[], &options()) {
            let made = State::new(Resource::new(provider.clone(), "pulumi:providers:t"));
            let user = state("B", &[]);
            user.change(|resource| {
                resource.custom = true;
                resource.provider = Some(ProviderRef::from(format!("{provider}::{id}")));
            });
            let first = manager.begin(create(&made)).await.unwrap();
            assert_eq!(
                refused(&*manager, create(&user)).await,
                must_wait(&urn("B"), &provider),
                "{name}: {id}"
            );
            manager.end(first, true).await.unwrap();
            // From here on it may begin; whether the provider is the right one is another question.
            manager.begin(create(&user)).await.map(drop).unwrap();
        }
    }
}

#[tokio::test]
async fn two_steps_of_one_name_are_waited_for_both() {
    for (name, base, manager, _) in managers(&[resource("A", &[])], &options()) {
        let (new, next, user) = (state("A", &[]), state("A", &[]), state("B", &["A"]));
        let replacement = Step::new(StepKind::CreateReplacement, Some(&base.states[0]), Some(&new));
        let first = manager.begin(replacement).await.unwrap();
        let second = manager.begin(Step::new(StepKind::Import, None, Some(&next))).await.unwrap();
        manager.end(first, true).await.unwrap();
        assert_eq!(refused(&*manager, create(&user)).await, must_wait(&urn("B"), &urn("A")), "{name}");
        manager.end(second, false).await.unwrap();
        manager.begin(create(&user)).await.map(drop).unwrap();
    }
}

#[tokio::test]
async fn a_step_that_did_not_begin_or_failed_is_not_waited_for() {
    for (name, base, manager, sink) in managers(&[resource("A", &[])], &options()) {
        // The engine asks for an update without its old state: a fault, and no step.
        let (a, b) = (state("A", &[]), state("B", &["A"]));
        let fault = manager.begin(Step::new(StepKind::Update, None, Some(&a))).await.unwrap_err();
        assert_eq!(fault.to_string(), "a step of kind update has no old state", "{name}");
        // One that is refused because it has to wait is not waited for itself.
        let update =
            manager.begin(Step::new(StepKind::Update, Some(&base.states[0]), Some(&a))).await.unwrap();
        refused(&*manager, create(&b)).await;
        run(&*manager, create(&state("C", &[]))).await.unwrap();
        manager.end(update, false).await.unwrap();
        run(&*manager, Step::new(StepKind::Update, Some(&base.states[0]), Some(&a))).await.unwrap();
        run(&*manager, create(&b)).await.unwrap();
        manager.close().await.unwrap();
        assert_eq!(saved(&sink).last().unwrap().split(' ').count(), 3, "{name}");
    }
}

#[tokio::test]
async fn steps_that_make_nothing_are_not_waited_for() {
    for (name, base, manager, _) in managers(&[resource("A", &[])], &options()) {
        let (old, new, user) = (&base.states[0], state("A", &[]), state("B", &["A"]));
        for step in [
            Step::new(StepKind::Refresh, Some(old), Some(&new)),
            Step::new(StepKind::Replace, Some(old), Some(&new)),
            Step::skipped_create(&new),
            Step::new(StepKind::Delete, Some(old), None),
        ] {
            let kind = step.kind;
            let running = manager.begin(step).await.unwrap();
            let begun = manager.begin(create(&user)).await;
            assert!(begun.is_ok(), "{name}: {kind}: {begun:?}");
            manager.end(begun.unwrap(), false).await.unwrap();
            manager.end(running, false).await.unwrap();
        }
        // A refresh that the program asked for counts at once, so it is waited for.
        let asked = Step::new(StepKind::Refresh, Some(old), Some(&new)).persisted(true);
        let running = manager.begin(asked).await.unwrap();
        assert_eq!(refused(&*manager, create(&user)).await, must_wait(&urn("B"), &urn("A")), "{name}");
        manager.end(running, true).await.unwrap();
    }
}
