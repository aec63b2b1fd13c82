//! Random lists, goals, options, failures and schedules.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use groundstate_pulumi_ordering::{
    DeletedWith, Deletes, Diff, Differ, Goal, Removal, StackOptions, StepKind, plan_stack,
};
use groundstate_pulumi_snapshot::Resource;
use proptest::prelude::*;

use crate::destruction::destruction_of;
use crate::notation::{damage, entries, goals, name, provider_deletes, urn};
use crate::runner::{How, run};

const RELATIONS: [&str; 6] = ["", "p:", "q:", "dw ", "rw ", "{}"];
const WORDS: [&str; 8] = ["", "", "", "protect", "retain", "pending", "delete", "external"];

/// A resource by number: what it refers to and how, and a word.
type Shape = (Vec<(usize, usize)>, usize, Option<usize>);

fn shapes(most: usize) -> impl Strategy<Value = Vec<Shape>> {
    let references = prop::collection::vec((0_usize..30, 0..RELATIONS.len()), 0..4);
    let shape = (references, 0..WORDS.len(), prop::option::weighted(0.2, 0_usize..30));
    prop::collection::vec(shape, 1..most)
}

/// The text of an item that refers to some of `known`.
fn item(number: usize, (references, word, parent): &Shape, known: &[usize], words: bool) -> String {
    let (mut inside, mut own) = (Vec::new(), String::new());
    for (to, relation) in references.iter().filter(|_| !known.is_empty()) {
        let to_number = *to;
        let to = format!("r{}", known[to % known.len()]);
        match RELATIONS[*relation] {
            // Components are no providers.
            "{}" if known[to_number % known.len()] % 5 == 4 => {}
            "{}" => own = format!("{{{to}}}"),
            relation => inside.push(format!("{relation}{to}")),
        }
    }
    let word = if words || WORDS[*word] == "protect" || WORDS[*word] == "retain" { WORDS[*word] } else { "" };
    // Every fifth is a component; those have no provider and no object.
    let component = if number % 5 == 4 { " component" } else { "" };
    let word = if component.is_empty() { word } else { "" };
    let parent = match parent.filter(|_| !known.is_empty()) {
        Some(parent) => format!(" parent r{}", known[parent % known.len()]),
        None => String::new(),
    };
    format!("r{number}({}){own}{component}{parent} {word}", inside.join(", "))
}

fn list_text(shapes: &[Shape]) -> String {
    let mut text = Vec::new();
    let mut known = Vec::new();
    for (number, shape) in shapes.iter().enumerate() {
        let entry = item(number, shape, &known, true);
        // A live entry beside some of the old ones.
        if entry.ends_with(" delete") && shape.0.len() > 1 {
            text.push(entry.trim_end_matches(" delete").to_owned());
        }
        text.push(entry);
        known.push(number);
    }
    text.join("; ")
}

pub(crate) fn lists() -> impl Strategy<Value = Vec<Arc<Resource>>> {
    shapes(10).prop_map(|shapes| entries(&list_text(&shapes)))
}

/// Answers that depend on nothing but the names.
#[derive(Clone, Debug)]
struct Dice(Vec<usize>);

impl Dice {
    fn roll(&self, text: &str, sides: usize) -> usize {
        let at = text.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
        (self.0[at % self.0.len()] + at) % sides
    }
}

impl Differ for Dice {
    fn diff(&mut self, old: &Resource, _: &Goal) -> Diff {
        match self.roll(old.urn.name(), 5) {
            0 => Diff::Same,
            1 | 2 => Diff::Update,
            3 => Diff::Replace { dbr: false },
            _ => Diff::Replace { dbr: true },
        }
    }

    fn replaces_if_unknown(&mut self, entry: &Resource, properties: &BTreeSet<String>) -> bool {
        properties.iter().any(|property| self.roll(&format!("{}.{property}", entry.urn.name()), 2) == 0)
    }

    fn provider_change_replaces(&mut self, old: &Resource, _: &Goal) -> bool {
        self.roll(&format!("{} provider", old.urn.name()), 2) == 0
    }
}

#[derive(Clone)]
struct Case {
    /// Base and goals in the notation, for messages.
    text: String,
    base: Vec<Arc<Resource>>,
    goals: Vec<Goal>,
    dice: Dice,
    options: StackOptions,
    ends: Vec<usize>,
    failing: Vec<usize>,
    partial: bool,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        let mut dice = self.dice.clone();
        for goal in &self.goals {
            writeln!(f, "{} {:?}", goal.urn().name(), dice.diff(&goal.resource, goal))?;
        }
        write!(f, "{:?} {:?} {} {:?}", self.failing, self.ends, self.partial, self.options)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let goal_order = Just((0..11_usize).collect::<Vec<_>>()).prop_shuffle();
    let flags = prop::collection::vec(any::<bool>(), 6);
    let picks = prop::collection::vec(0_usize..97, 12);
    let chosen = prop::collection::vec(prop::bool::weighted(0.7), 11);
    let selected = prop::collection::vec(prop::bool::weighted(0.25), 11);
    (shapes(9), shapes(11), goal_order, chosen, flags, picks, selected, 0_usize..4).prop_map(
        |(list, wanted, order, chosen, flags, picks, selected, mode)| {
            let base = entries(&list_text(&list));
            let mut known = Vec::new();
            let mut text = Vec::new();
            for number in order.into_iter().filter(|number| chosen[*number] && *number < wanted.len()) {
                text.push(item(number, &wanted[number], &known, false));
                known.push(number);
            }
            let mut options = StackOptions::default();
            options.deletes = if flags[0] { Deletes::Precise } else { Deletes::Batches };
            options.continue_on_error = flags[1];
            options.ignore_protect = flags[2];
            let names: BTreeSet<_> =
                (0..11).filter(|number| selected[*number]).map(|number| urn(&format!("r{number}"))).collect();
            match mode {
                0 => (options.targets, options.target_dependents) = (names, flags[3]),
                1 => (options.excludes, options.exclude_dependents) = (names, flags[3]),
                _ => {}
            }
            let failing = picks[..picks[0] % 3].to_vec();
            let text = text.join("; ");
            let (dice, goals) = (Dice(picks.clone()), goals(&text));
            let text = format!("{}\n{text}", list_text(&list));
            Case { text, base, goals, dice, options, ends: picks, failing, partial: flags[4] }
        },
    )
}

/// Only what exists can be selected.
fn existing(case: &mut Case) {
    let known: BTreeSet<_> =
        case.base.iter().map(|entry| &entry.urn).chain(case.goals.iter().map(Goal::urn)).cloned().collect();
    case.options.targets.retain(|urn| known.contains(urn));
    case.options.excludes.retain(|urn| known.contains(urn));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn lists_stay_valid_and_no_object_is_lost(mut case in cases()) {
        existing(&mut case);
        prop_assume!(damage(&case.base).is_empty());
        let Ok(graph) = plan_stack(&case.base, &case.goals, &mut case.dice.clone(), &case.options) else {
            return Ok(());
        };
        prop_assert!(graph.walk_graph().is_ok(), "{graph:?}");
        let count = graph.steps().len();
        let fails = case.failing.iter().filter(|_| count > 0).map(|at| name(&graph, at % count)).collect();
        let how = How { fails, partial: case.partial, parallelism: 1 + case.ends[1] % 4, ends: case.ends.clone(), crash_after: None };
        let ended = run(&case.base, &graph, &how);
        prop_assert_eq!(ended.lost(), Vec::<String>::new(), "{:?}", ended.ran);
        prop_assert_eq!(ended.ghosts(), Vec::<String>::new(), "{:?}", ended.ran);
        // What a crash leaves can be planned again.
        for crash in [1, 3, 6] {
            let crashed = run(&case.base, &graph, &How { crash_after: Some(crash), ..how.clone() });
            let left = crashed.entries();
            prop_assert_eq!(crashed.lost(), Vec::<String>::new());
            if let Ok(next) = plan_stack(&left, &case.goals, &mut case.dice.clone(), &case.options) {
                let end = run(&left, &next, &How::failing(&[]));
                prop_assert_eq!(end.ghosts(), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn backwards_through_the_list_is_an_order_of_deletions(shapes in shapes(12), batches: bool) {
        let base = entries(&list_text(&shapes));
        prop_assume!(damage(&base).is_empty());
        let mut options = StackOptions::default();
        options.deletes = if batches { Deletes::Batches } else { Deletes::Precise };
        options.deleted_with = DeletedWith::Compat;
        options.ignore_protect = true;
        let graph = plan_stack(&base, &[], &mut Dice(vec![1]), &options).unwrap();
        let order: Vec<usize> =
            graph.order().unwrap().into_iter().filter_map(|step| graph.step(step).entry).collect();
        if !batches {
            // One at a time and without failures, the order is exactly that.
            prop_assert_eq!(order, (0..base.len()).rev().collect::<Vec<_>>());
        } else {
            let batch_of = |at: usize| {
                let batches = graph.batches().unwrap();
                batches.iter().position(|batch| batch.iter().any(|step| graph.step(*step).entry == Some(at))).unwrap()
            };
            let index = groundstate_pulumi_ordering::StackIndex::new(&base);
            for at in 0..base.len() {
                for on in index.dependencies_of(at) {
                    prop_assert!(batch_of(at) < batch_of(on));
                }
            }
        }
        let ended = run(&base, &graph, &How::failing(&[]));
        prop_assert_eq!(ended.show(), "");
    }

    #[test]
    fn barriers_stand_for_the_pairs_of_the_list_and_no_others(shapes in shapes(14), apart: bool) {
        let base = entries(&list_text(&shapes));
        prop_assume!(damage(&base).is_empty());
        let mut options = StackOptions::default();
        options.deleted_with = if apart { DeletedWith::Compat } else { DeletedWith::Atomic };
        let destruction = destruction_of(&base, &options).unwrap();
        // What one deletion takes along counts as one with it.
        let one = |at: usize| {
            let removes = |removal: &&Removal| removal.entry == at || removal.members.contains(&at);
            destruction.removals().iter().find(removes).unwrap().entry
        };
        let entry = |node: usize| destruction.removals()[node].entry;
        let found: BTreeSet<(usize, usize)> =
            destruction.edges().map(|step| (entry(step.from), entry(step.to))).collect();
        let index = groundstate_pulumi_ordering::StackIndex::new(&base);
        let expected: BTreeSet<(usize, usize)> = (0..base.len())
            .flat_map(|at| index.dependencies_of(at).into_iter().map(move |on| (on, at)))
            .map(|(on, at)| (one(on), one(at)))
            .filter(|(on, at)| on != at)
            .collect();
        prop_assert_eq!(found, expected, "{}", list_text(&shapes));
    }

    #[test]
    fn what_is_kept_whole_waits_for_what_depends_on_it(shapes in shapes(12)) {
        let base = entries(&list_text(&shapes));
        prop_assume!(damage(&base).is_empty());
        let graph = plan_stack(&base, &[], &mut Dice(vec![1]), &StackOptions::default()).unwrap();
        let mut position = vec![0; graph.steps().len()];
        for (place, step) in graph.order().unwrap().into_iter().enumerate() {
            position[step.index()] = place;
        }
        let index = groundstate_pulumi_ordering::StackIndex::new(&base);
        let step_of = |at: usize| graph.steps().iter().position(|step| step.entries().any(|entry| entry == at)).unwrap();
        for at in 0..base.len() {
            for on in index.dependencies_of(at) {
                let (first, then) = (step_of(at), step_of(on));
                prop_assert!(first == then || position[first] < position[then]);
            }
        }
        let deletes = provider_deletes(&graph);
        let calls = graph.steps().iter().filter(|step| step.kind == StepKind::Delete && step.calls_provider).count();
        prop_assert!(deletes.len() >= calls);
    }
}
