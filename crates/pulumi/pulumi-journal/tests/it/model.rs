//! Journals of any engine, made up step by step: what they replay to is what a plain list of states is.

use std::sync::Arc;

use groundstate_pulumi_deployment::{EncodeOptions, Envelope, Secrets, encode};
use groundstate_pulumi_integrity::{VerifyOptions, verify};
use groundstate_pulumi_journal::{
    Base, DecodeOptions, Entry, Framing, Recorder, Replayed, Replayer, State, Step, StepKind, compact,
    decode, encode_framed, replay,
};
use groundstate_pulumi_snapshot::{Manifest, Snapshot};
use proptest::prelude::*;

use crate::notation::{show, show_all, snapshot, state};

/// What an engine does to one of its states, chosen by a number; whether it goes well.
type Choice = (u8, prop::sample::Index, bool);

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    prop::collection::vec((0..6u8, any::<prop::sample::Index>(), prop::bool::weighted(0.8)), 0..14)
}

/// An engine that works on independent resources, and a list of what is there: what is new first, in the order in which it
/// was recorded, and behind it what is left of the base.
struct Engine {
    recorder: Recorder,
    entries: Vec<Entry>,
    new: Vec<State>,
    old: Vec<State>,
    /// What a refresh found. The engine goes on with it on another base, so no further step is about it here.
    found: Vec<State>,
    made: usize,
}

impl Engine {
    fn on(base: &Snapshot) -> Self {
        let base = Base::new(base.clone());
        Self {
            recorder: Recorder::new(&base),
            entries: Vec::new(),
            new: Vec::new(),
            old: base.states,
            found: Vec::new(),
            made: 0,
        }
    }

    fn run(&mut self, step: Step, success: bool) {
        let (running, begin) = self.recorder.begin(step).unwrap();
        let end = self.recorder.end(running, success).unwrap();
        self.entries.extend(begin.into_iter().chain(end).map(|recorded| recorded.entry));
    }

    fn take(&mut self, at: usize) {
        match at.checked_sub(self.new.len()) {
            None => drop(self.new.remove(at)),
            Some(at) => drop(self.old.remove(at)),
        }
    }

    /// Makes a choice, and the same in the list.
    fn choose(&mut self, (what, at, success): Choice) {
        let all: Vec<State> = self.new.iter().chain(&self.old).cloned().collect();
        let free: Vec<usize> = (0..all.len()).filter(|at| !self.found.contains(&all[*at])).collect();
        if what == 0 || free.is_empty() {
            self.made += 1;
            let new = State::new(state(&format!("N{}", self.made)));
            self.run(Step::new(StepKind::Create, None, Some(&new)), success);
            if success {
                self.new.push(new);
            }
            return;
        }
        let at = free[at.index(free.len())];
        let old = all[at].clone();
        let name = old.get().urn.name().to_owned();
        let next = State::new(state(&format!("{name}''")));
        match what {
            1 => {
                self.run(Step::new(StepKind::Delete, Some(&old), None), success);
                if success {
                    self.take(at);
                }
            }
            2 => {
                self.run(Step::new(StepKind::Update, Some(&old), Some(&next)), success);
                if success {
                    self.take(at);
                    self.new.push(next);
                }
            }
            3 => {
                self.run(Step::new(StepKind::Same, Some(&old), Some(&next)), success);
                if success {
                    self.take(at);
                    self.new.push(next);
                }
            }
            4 => {
                // What a refresh finds stays where the old state was.
                self.run(Step::new(StepKind::Refresh, Some(&old), Some(&next)), success);
                if success {
                    self.found.push(next.clone());
                    match at.checked_sub(self.new.len()) {
                        None => self.new[at] = next,
                        Some(at) => self.old[at] = next,
                    }
                }
            }
            _ => {
                self.run(Step::new(StepKind::Refresh, Some(&old), None), success);
                if success {
                    self.take(at);
                }
            }
        }
    }

    fn list(&self) -> String {
        let all = self.new.iter().chain(&self.old);
        all.map(|state| show(&state.get())).collect::<Vec<_>>().join(" ")
    }
}

fn engine(base: &Snapshot, choices: &[Choice]) -> Engine {
    let mut engine = Engine::on(base);
    choices.iter().for_each(|choice| engine.choose(*choice));
    engine
}

/// The text of the deployment that a replay stands for.
fn stored(replayed: Replayed) -> String {
    let text = encode(&replayed.into_file(Envelope::Deployment), &EncodeOptions::default()).unwrap();
    String::from_utf8(text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_journal_replays_to_what_the_engine_has(count in 0..5usize, choices in choices()) {
        let base: Vec<String> = (0..count).map(|number| format!("B{number}")).collect();
        let base = snapshot(&base.join(" "));
        let engine = engine(&base, &choices);
        let replayed = replay(base, engine.entries.clone(), Manifest::default()).unwrap();
        prop_assert_eq!(show_all(&replayed.snapshot), engine.list());
        prop_assert!(replayed.remarks.is_empty());
    }

    #[test]
    fn every_prefix_is_valid_and_says_what_is_open(count in 0..4usize, choices in choices()) {
        let base: Vec<String> = (0..count).map(|number| format!("B{number}")).collect();
        let base = snapshot(&base.join(" "));
        let engine = engine(&base, &choices);
        let mut step_by_step = Replayer::new(base.clone());
        for end in 0..=engine.entries.len() {
            let prefix = &engine.entries[..end];
            let replayed = replay(base.clone(), prefix.iter().cloned(), Manifest::default()).unwrap();
            let report = verify(&replayed.snapshot, &VerifyOptions::default());
            prop_assert!(report.is_valid(), "{report:?}");
            // An operation is pending exactly while it is open; refreshes and steps that do nothing have none.
            let last_begins = prefix.last().is_some_and(|entry| entry.operation.is_some());
            prop_assert_eq!(replayed.snapshot.pending_operations.len(), usize::from(last_begins));
            if let Some(entry) = prefix.last() {
                step_by_step.apply(entry.clone()).unwrap();
            }
            prop_assert_eq!(step_by_step.snapshot(Manifest::default()).unwrap(), replayed);
        }
    }

    #[test]
    fn a_journal_and_its_text_replay_alike_in_every_framing(count in 0..4usize, choices in choices()) {
        let base: Vec<String> = (0..count).map(|number| format!("B{number}")).collect();
        let base = snapshot(&base.join(" "));
        let entries = engine(&base, &choices).entries;
        for framing in [Framing::Lines, Framing::List, Framing::Batch] {
            let text = encode_framed(&entries, framing, Secrets::Sealed).unwrap();
            let read = decode(&text, &DecodeOptions::default()).unwrap();
            prop_assert_eq!(read.framing, framing);
            let again = encode_framed(&read.entries, framing, Secrets::Sealed).unwrap();
            prop_assert_eq!(&again, &text, "what was read is written byte for byte");
            let expected = replay(base.clone(), entries.clone(), Manifest::default()).unwrap();
            let found = replay(base.clone(), read.entries, Manifest::default()).unwrap();
            prop_assert_eq!(stored(found), stored(expected));
        }
    }

    #[test]
    fn a_journal_may_be_compacted_anywhere_and_go_on_on_the_new_base(
        count in 0..4usize,
        first in choices(),
        second in choices(),
    ) {
        let names: Vec<String> = (0..count).map(|number| format!("B{number}")).collect();
        let base = snapshot(&names.join(" "));
        let before = engine(&base, &first);
        let compacted = compact(base, before.entries.clone(), Manifest::default(), "tool").unwrap();
        prop_assert!(!compacted.is_broken);
        prop_assert_eq!(compacted.through, before.entries.last().map(|entry| entry.sequence));
        prop_assert_eq!(show_all(&compacted.base), before.list());
        let mut after = Engine::on(&compacted.base);
        after.made = before.made;
        second.iter().for_each(|choice| after.choose(*choice));
        let end = compact(compacted.base, after.entries.clone(), Manifest::default(), "tool").unwrap();
        prop_assert_eq!(show_all(&end.base), after.list());
        // Nothing happened since, so nothing changes.
        let again = compact(end.base.clone(), Vec::<Arc<Entry>>::new(), Manifest::default(), "tool").unwrap();
        prop_assert_eq!(again.base, end.base);
        prop_assert_eq!(again.through, None);
    }
}
