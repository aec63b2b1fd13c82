//! What steps are recorded as, and that what is recorded replays to what the engine has.

use groundstate_pulumi_journal::{
    Base, EntryKind, RecordError, Recorder, Replayer, State, Step, StepKind, must_write,
};
use groundstate_pulumi_snapshot::{Manifest, Resource, Snapshot};

use crate::notation::{show_all, snapshot, state};

/// A recorder with all that it recorded.
struct Run {
    base: Base,
    recorder: Recorder,
    replayer: Replayer,
    lines: Vec<String>,
}

impl Run {
    fn on(base: &str) -> Self {
        let snapshot = snapshot(base);
        let base = Base::new(snapshot.clone());
        let recorder = Recorder::new(&base);
        Self { base, recorder, replayer: Replayer::new(snapshot), lines: Vec::new() }
    }

    fn old(&self, index: usize) -> State {
        self.base.states[index].clone()
    }

    /// Runs a step, and changes states between its beginning and its end.
    fn step(&mut self, step: Step, success: bool, apply: impl FnOnce(&Step)) -> Result<(), RecordError> {
        let (running, begin) = self.recorder.begin(step)?;
        apply(running.step());
        let end = self.recorder.end(running, success)?;
        for recorded in begin.into_iter().chain(end) {
            let elided = if recorded.elided { " (elided)" } else { "" };
            self.lines.push(format!("{}{elided}", recorded.entry));
            self.replayer.apply(recorded.entry).unwrap();
        }
        Ok(())
    }

    fn result(&mut self) -> String {
        show_all(&self.replayer.snapshot(Manifest::default()).unwrap().snapshot)
    }
}

#[test]
fn each_kind_of_step_has_its_entries() {
    use StepKind as Kind;
    /// What it does, the base, the new state, the entries, and what they replay to.
    type Case<'a> = (Kind, &'a str, Option<&'a str>, &'a [&'a str], &'a str);
    let cases: [Case<'_>; 18] = [
        (Kind::Same, "A", Some("A"), &["begin (elided)", "success, removeOld:0, state(A) (elided)"], "A"),
        (Kind::Same, "A", Some("A'"), &["begin (elided)", "success, removeOld:0, state(A)"], "A'"),
        (Kind::Create, "", Some("A"), &["begin, operation(creating)", "success, state(A)"], "A"),
        (
            Kind::CreateReplacement,
            "A",
            Some("A'"),
            &["begin, operation(creating)", "success, deleteOld:0, state(A)"],
            "A' A~d",
        ),
        (
            Kind::CreateReplacement,
            "A~p",
            Some("A'"),
            &["begin, operation(creating)", "success, removeOld:0, state(A)"],
            "A'",
        ),
        (
            Kind::Update,
            "A",
            Some("A'"),
            &["begin, operation(updating)", "success, removeOld:0, state(A)"],
            "A'",
        ),
        (Kind::Delete, "A", None, &["begin, operation(deleting)", "success, removeOld:0"], ""),
        (Kind::DeleteReplaced, "A~d", None, &["begin, operation(deleting)", "success, removeOld:0"], ""),
        (
            Kind::DeleteReplaced,
            "A~p",
            None,
            &["begin, operation(deleting)", "success, removePendingReplacementOld:0"],
            "A~p",
        ),
        (Kind::Replace, "A", Some("A'"), &[], "A"),
        (Kind::Read, "A", Some("A'"), &["begin, operation(reading)", "success, removeOld:0, state(A)"], "A'"),
        (
            Kind::ReadReplacement,
            "A",
            Some("A'"),
            &["begin, operation(reading)", "success, deleteOld:0, state(A)"],
            "A' A~d",
        ),
        (
            Kind::Refresh,
            "A",
            Some("A'"),
            &["begin", "refresh-success, removeOld:0, state(A), isRefresh"],
            "A'",
        ),
        (Kind::Refresh, "A", None, &["begin", "refresh-success, removeOld:0, isRefresh"], ""),
        (Kind::Discard, "A", None, &["begin, operation(deleting)", "success, removeOld:0"], ""),
        (Kind::RemovePendingReplace, "A~p", None, &["begin", "success, removeOld:0"], ""),
        (Kind::Import, "", Some("A"), &["begin, operation(importing)", "success, state(A)"], "A"),
        (
            Kind::ImportReplacement,
            "A",
            Some("A'"),
            &["begin, operation(importing)", "success, deleteOld:0, state(A)"],
            "A' A~d",
        ),
    ];
    for (kind, base, new, entries, result) in cases {
        let mut run = Run::on(base);
        let new = new.map(|text| State::new(state(text)));
        let old = run.base.states.first().cloned();
        run.step(Step::new(kind, old.as_ref(), new.as_ref()), true, |_| {}).unwrap();
        let expected: Vec<String> = entries
            .iter()
            .zip(1..)
            .map(|(entry, number)| {
                format!("({number}, 1): {}", entry.replace("state(A)", "state(urn:pulumi:s::p::t:t:t::A)"))
            })
            .collect();
        assert_eq!(run.lines, expected, "{kind}");
        assert_eq!(run.result(), result, "{kind}");
    }
}

#[test]
fn failures_change_nothing() {
    for (kind, base, new) in [
        (StepKind::Same, "A", Some("A'")),
        (StepKind::Create, "", Some("A")),
        (StepKind::Update, "A", Some("A'")),
        (StepKind::Delete, "A", None),
        (StepKind::Read, "A", Some("A'")),
        (StepKind::Refresh, "A", None),
        (StepKind::RemovePendingReplace, "A~p", None),
        (StepKind::Import, "", Some("A")),
    ] {
        let mut run = Run::on(base);
        let new = new.map(|text| State::new(state(text)));
        let old = run.base.states.first().cloned();
        run.step(Step::new(kind, old.as_ref(), new.as_ref()), false, |_| {}).unwrap();
        assert_eq!(run.result(), base, "{kind}");
        assert!(run.lines[1].starts_with("(2, 1): failure"), "{:?}", run.lines);
    }
}

#[test]
fn what_is_new_is_named_by_its_operation() {
    let mut run = Run::on("A");
    let (import, update) = (State::new(state("B")), State::new(state("B'")));
    run.step(Step::new(StepKind::Import, None, Some(&import)), true, |_| {}).unwrap();
    run.step(Step::new(StepKind::Replace, None, None), true, |_| {}).unwrap();
    run.step(Step::new(StepKind::Update, Some(&import), Some(&update)), true, |_| {}).unwrap();
    update.change(|resource| *resource = state("B''"));
    let outputs = run.recorder.outputs(Some(&import), &update).unwrap();
    assert_eq!(outputs.entry.to_string(), "(5, 4): outputs, removeNew:3, state(urn:pulumi:s::p::t:t:t::B)");
    assert!(!outputs.elided && run.recorder.outputs(Some(&update), &update).unwrap().elided);
    run.replayer.apply(outputs.entry).unwrap();
    assert_eq!(run.result(), "B'' A");
}

#[test]
fn entries_hold_what_states_were_at_that_moment() {
    let mut run = Run::on("A");
    let old = run.old(0);
    run.step(Step::new(StepKind::DeleteReplaced, Some(&old), None), true, |step| {
        // An engine marks what it deleted in order to replace it.
        step.old.as_ref().unwrap().change(|resource| resource.pending_replacement = true);
    })
    .unwrap();
    assert_eq!(run.result(), "A~p");
    let pending = run.replayer.entries().next().unwrap().operation.clone().unwrap();
    assert!(!pending.resource.pending_replacement);
}

#[test]
fn faults_of_the_engine_are_errors() {
    let mut run = Run::on("A B");
    let stranger = State::new(state("A"));
    let old = run.old(0);
    let unknown = run.step(Step::new(StepKind::Delete, Some(&stranger), None), true, |_| {});
    assert_eq!(unknown, Err(RecordError::UnknownState { urn: stranger.get().urn.clone() }));
    let incomplete = run.step(Step::new(StepKind::Update, Some(&old), None), true, |_| {});
    assert_eq!(incomplete.unwrap_err().to_string(), "a step of kind update has no new state");

    old.change(|resource| resource.protect = true);
    let delete = |kind| Step::new(kind, Some(&old), None);
    let refused = run.step(delete(StepKind::Delete), true, |_| {}).unwrap_err();
    assert_eq!(refused, RecordError::Protected { urn: old.get().urn.clone() });
    run.step(delete(StepKind::Delete).ignore_protect(true), true, |_| {}).unwrap();
    assert_eq!(
        run.recorder.write(&run.base).unwrap_err().to_string(),
        "the base can only be written before the first step, and there have been 2"
    );
}

#[test]
fn a_rebuilt_base_with_new_resources_ends_the_recording() {
    let mut run = Run::on("A B");
    let refreshed = State::new(state("A'"));
    let old = run.old(0);
    run.step(Step::new(StepKind::Refresh, Some(&old), Some(&refreshed)), true, |_| {}).unwrap();
    let base = Base { states: vec![refreshed.clone(), run.old(1)], rest: Snapshot::default() };
    let recorded = run.recorder.rebuilt(&base).unwrap();
    assert_eq!((recorded.entry.kind, recorded.elided), (EntryKind::RebuiltBaseState, false));
    run.replayer.apply(recorded.entry).unwrap();
    run.step(Step::new(StepKind::Delete, Some(&refreshed), None), true, |_| {}).unwrap();
    assert_eq!(run.result(), "B");

    let new = State::new(state("N"));
    run.step(Step::new(StepKind::Create, None, Some(&new)), true, |_| {}).unwrap();
    let entry = run.recorder.rebuilt(&base).unwrap().entry;
    run.replayer.apply(entry).unwrap();
    assert_eq!(run.result(), "N B");
    assert_eq!(run.recorder.snippets(Vec::new()), Err(RecordError::Ended));
}

#[test]
fn extensions_take_two_numbers() {
    let mut run = Run::on("");
    run.step(Step::extend("r".into(), Default::default()), true, |_| {}).unwrap();
    let new = State::new(state("A"));
    run.step(Step::new(StepKind::Create, None, Some(&new)), true, |_| {}).unwrap();
    assert_eq!(run.lines[0], "(1, 2): extension-parameterize");
    assert_eq!(run.lines[1], "(2, 3): begin, operation(creating)");
}

#[test]
fn a_skipped_create_and_views_have_their_own_rules() {
    let mut run = Run::on("A");
    run.step(Step::skipped_create(&State::new(state("N"))), true, |_| {}).unwrap();
    assert_eq!(run.lines, ["(1, 1): begin (elided)", "(2, 1): success (elided)"]);
    let (old, new) = (run.old(0), State::new(state("A")));
    run.step(Step::new(StepKind::Same, Some(&old), Some(&new)).view(true), true, |_| {}).unwrap();
    assert!(run.lines[2..].iter().all(|line| !line.contains("elided")), "{:?}", run.lines);
}

#[test]
fn same_trigger_and_same_propdeps_are_written() {
    let old = Resource::new("u", "t");
    let with = |change: fn(&mut Resource)| {
        let mut new = old.clone();
        change(&mut new);
        must_write(&old, &new)
    };
    let written: [fn(&mut Resource); 15] = [
        |r| r.urn = "v".into(),
        |r| r.resource_type = "s".into(),
        |r| r.custom = true,
        |r| r.retain_on_delete = true,
        |r| r.provider = Some("p".into()),
        |r| r.parent = Some("p".into()),
        |r| r.deleted_with = Some("d".into()),
        |r| r.replace_with = vec!["d".into()],
        |r| r.protect = true,
        |r| r.inputs = groundstate_pulumi_snapshot::RawJson::parse(r#"{"a":1}"#).unwrap().into(),
        |r| r.outputs = groundstate_pulumi_snapshot::PropertyMap::from_iter([("a", "b")]).into(),
        |r| r.dependencies = vec!["d".into()],
        |r| drop(r.resource_hooks.insert("BeforeCreate".into(), vec!["h".into()])),
        |r| r.property_dependencies.insert("p", Some(Vec::new())),
        |r| {
            r.replacement_trigger = Some(groundstate_pulumi_snapshot::StoredValue::Value(true.into()));
        },
    ];
    for (number, change) in written.into_iter().enumerate() {
        assert!(with(change), "{number}");
    }
    let waits: [fn(&mut Resource); 9] = [
        |r| r.init_errors = vec!["e".into()],
        |r| r.source_position = Some("project:///a#1,2".into()),
        |r| r.aliases = vec!["a".into()],
        |r| r.additional_secret_outputs = vec!["o".into()],
        |r| r.ignore_changes = vec!["o".into()],
        |r| r.taint = true,
        |r| r.refresh_before_update = true,
        |r| r.inputs = groundstate_pulumi_snapshot::RawJson::parse("{}").unwrap().into(),
        |r| r.outputs = groundstate_pulumi_snapshot::PropertyMap::new().into(),
    ];
    for (number, change) in waits.into_iter().enumerate() {
        assert!(!with(change), "{number}");
    }
}
