//! What holds for both managers.

use groundstate_pulumi_journal::{Base, State, Step, StepKind};
use groundstate_pulumi_stackmgr::Error;

use crate::support::{managers, options, resource, run, saved, show, state, urn};

#[tokio::test]
async fn closing_saves_once() {
    for (name, _, manager, sink) in managers(&[resource("A", &[])], &options()) {
        manager.close().await.unwrap();
        assert_eq!(saved(&sink), ["A"], "{name}");
        manager.close().await.unwrap();
        assert_eq!(sink.saved().len(), 1, "{name}: closing again changes nothing");
    }
}

#[tokio::test]
async fn a_skipped_write_is_in_the_next_one() {
    for (name, base, manager, sink) in managers(&[resource("A", &[]), resource("B", &[])], &options()) {
        let (a, b) = (state("A", &[]), state("B", &[]));
        a.change(|resource| resource.taint = true);
        run(&*manager, Step::new(StepKind::Same, Some(&base.states[0]), Some(&a))).await.unwrap();
        assert_eq!(sink.saved().len(), 0, "{name}");
        b.change(|resource| resource.protect = true);
        run(&*manager, Step::new(StepKind::Same, Some(&base.states[1]), Some(&b))).await.unwrap();
        manager.close().await.unwrap();
        let saved = sink.saved();
        assert_eq!(saved.len(), 1, "{name}");
        let resources = &saved[0].snapshot.as_ref().unwrap().resources;
        assert!(resources[0].taint && resources[1].protect, "{name}");
    }
}

#[tokio::test]
async fn without_checkpoints_only_closing_saves() {
    for (name, _, manager, sink) in managers(&[], &options().skip_checkpoints(true)) {
        for number in 0..10 {
            let new = state(&format!("R{number}"), &[]);
            run(&*manager, Step::new(StepKind::Create, None, Some(&new))).await.unwrap();
        }
        assert_eq!(sink.saved().len(), 0, "{name}");
        manager.close().await.unwrap();
        assert_eq!(saved(&sink), ["R0 R1 R2 R3 R4 R5 R6 R7 R8 R9"], "{name}");
    }
}

#[tokio::test]
async fn dependencies_in_another_order_write_nothing() {
    let base = [resource("A", &[]), resource("B", &[]), resource("C", &["A", "B"])];
    for (name, base, manager, sink) in managers(&base, &options()) {
        let new = state("C", &["B", "A"]);
        run(&*manager, Step::new(StepKind::Same, Some(&base.states[2]), Some(&new))).await.unwrap();
        assert_eq!(sink.saved().len(), 0, "{name}");
    }
}

#[tokio::test]
async fn a_failed_update_leaves_the_old_resource() {
    for (name, base, manager, sink) in managers(&[resource("P", &[]), resource("A", &[])], &options()) {
        let new = state("A", &[]);
        new.change(|resource| resource.protect = true);
        let step = Step::new(StepKind::Update, Some(&base.states[1]), Some(&new));
        let mutation = manager.begin(step).await.unwrap();
        manager.end(mutation, false).await.unwrap();
        assert_eq!(saved(&sink), ["P A +updating A", "P A"], "{name}");
        assert!(!sink.saved()[1].snapshot.as_ref().unwrap().resources[1].protect);
    }
}

#[tokio::test]
async fn interrupted_operations_stay_pending_in_the_next_run() {
    for (name, base, manager, sink) in managers(&[resource("A", &[])], &options()) {
        let (new, other) = (state("N", &[]), state("A", &[]));
        let create = manager.begin(Step::new(StepKind::Create, None, Some(&new))).await.unwrap();
        let update = Step::new(StepKind::Update, Some(&base.states[0]), Some(&other));
        let update = manager.begin(update).await.unwrap();
        drop((create, update));
        assert_eq!(saved(&sink).last().unwrap(), "A +creating N +updating A", "{name}");

        let left = sink.saved().pop().unwrap().snapshot.unwrap();
        let next_base = Base::new(left);
        let next = groundstate_pulumi_stackmgr::FullSnapshotManager::new(next_base, sink, options());
        assert_eq!(show(&next.snapshot().await.unwrap()), "A +creating N", "{name}");
    }
}

#[tokio::test]
async fn a_replacement_leaves_the_old_one_until_it_is_deleted() {
    for (name, base, manager, sink) in managers(&[resource("A", &[]), resource("B", &["A"])], &options()) {
        let (new, other) = (state("A", &[]), state("B", &["A"]));
        other.change(|resource| resource.protect = true);
        run(&*manager, Step::new(StepKind::CreateReplacement, Some(&base.states[0]), Some(&new)))
            .await
            .unwrap();
        run(&*manager, Step::new(StepKind::Replace, Some(&base.states[0]), Some(&new))).await.unwrap();
        run(&*manager, Step::new(StepKind::Update, Some(&base.states[1]), Some(&other))).await.unwrap();
        run(&*manager, Step::new(StepKind::DeleteReplaced, Some(&base.states[0]), None)).await.unwrap();
        manager.close().await.unwrap();
        assert_eq!(
            saved(&sink),
            ["A B +creating A", "A A~d B", "A A~d B +updating B", "A B A~d", "A B A~d +deleting A", "A B",],
            "{name}"
        );
    }
}

#[tokio::test]
async fn outputs_are_written_when_they_changed() {
    for (name, base, manager, sink) in managers(&[resource("A", &[])], &options()) {
        let new = state("A", &[]);
        run(&*manager, Step::new(StepKind::Same, Some(&base.states[0]), Some(&new))).await.unwrap();
        manager.outputs(Some(&base.states[0]), &new).await.unwrap();
        assert_eq!(sink.saved().len(), 0, "{name}");
        new.change(|resource| {
            resource.outputs = groundstate_pulumi_snapshot::PropertyMap::from_iter([("a", "b")]).into();
        });
        manager.outputs(Some(&base.states[0]), &new).await.unwrap();
        let last = sink.saved().pop().unwrap().snapshot.unwrap();
        assert!(!last.resources[0].outputs.is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_step_that_does_not_wait_for_what_it_depends_on_is_refused() {
    for (name, _, manager, sink) in managers(&[], &options()) {
        let (a, b) = (state("A", &[]), state("B", &["A"]));
        let create = |state: &State| Step::new(StepKind::Create, None, Some(state));
        let first = manager.begin(create(&a)).await.unwrap();
        let error = manager.begin(create(&b)).await.unwrap_err();
        assert!(matches!(&error, Error::Overtakes { before, .. } if *before == urn("A")), "{name}: {error}");
        manager.end(first, true).await.unwrap();
        run(&*manager, create(&b)).await.unwrap();
        assert_eq!(saved(&sink).last().unwrap(), "A B", "{name}");
    }
}

#[tokio::test]
async fn nothing_can_be_told_to_a_manager_that_is_closed() {
    for (name, _, manager, _) in managers(&[], &options()) {
        manager.close().await.unwrap();
        let error =
            manager.begin(Step::new(StepKind::Create, None, Some(&state("A", &[])))).await.unwrap_err();
        let text = if name == "whole" { "snapshot manager closed" } else { "journal is already closed" };
        assert_eq!(error.to_string(), text);
    }
}

#[tokio::test]
async fn faults_of_the_engine_are_refused() {
    for (name, base, manager, _) in managers(&[resource("A", &[])], &options()) {
        let old = base.states[0].clone();
        let incomplete = manager.begin(Step::new(StepKind::Update, Some(&old), None)).await.unwrap_err();
        assert_eq!(incomplete.to_string(), "a step of kind update has no new state", "{name}");
        old.change(|resource| resource.protect = true);
        let protected = run(&*manager, Step::new(StepKind::Delete, Some(&old), None)).await.unwrap_err();
        assert!(protected.to_string().starts_with("cannot delete protected resource"), "{name}: {protected}");
    }
}
