//! Plans that mend a state: one object of each instance, dependencies that make sense, a serial and a lineage.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

use groundstate_dag::{Graph, NodeIndex};
use groundstate_statefile::{
    DecodeOptions, Duplicate, DuplicateObject, File, ReadError, decode, duplicates, without_bad_serial,
    without_objects,
};
use groundstate_states::addr::{ConfigResource, Target};
use groundstate_states::{DeposedObject, Lineage, Serial};

use crate::Editor;

/// Cycles that are broken in one plan, at most.
const MOST_CYCLES: usize = 10_000;

/// Steps that mend a state, and the state with them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RepairPlan {
    /// Steps in their order.
    pub steps: Vec<RepairStep>,
    /// Questions with more than one answer. The steps follow the answers, and the first choice of open questions.
    pub questions: Vec<RepairQuestion>,
    /// The state after all steps.
    pub file: File,
}

impl RepairPlan {
    /// Returns `true` if every question has an answer.
    pub fn is_decided(&self) -> bool {
        self.questions.iter().all(|question| question.answer.is_some())
    }
}

/// One step of a plan. `Display` says in words what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairStep {
    /// Stable name of what it does: `remove_duplicate`, `remove_dependency`, `set_serial` or `set_lineage`.
    pub action: &'static str,
    /// Address of the resource or object, if it is about one.
    pub address: Option<String>,
    text: String,
}

impl fmt::Display for RepairStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A question of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairQuestion {
    /// The question.
    pub text: String,
    /// The possible answers.
    pub choices: Vec<String>,
    /// Index of the answer that was given.
    pub answer: Option<usize>,
}

/// A state that cannot be mended, or an answer to no question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// Something else is wrong with the state.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The plan has no such question, or the question no such answer.
    #[error("the plan has no question {question} with an answer {answer}")]
    NoAnswer {
        /// Number of the question, from 1.
        question: usize,
        /// Number of the answer, from 1.
        answer: usize,
    },
}

/// Plans the repair of a state of any version, without writing anything.
///
/// Of several objects of one instance, equal ones are repeated and one of them stays; of others a question decides.
/// Dependencies on the resource itself, and on resources that are not in the state, are removed, and a question decides where
/// a cycle is broken. A serial that no reader takes becomes the number it means, and a state without a lineage gets `lineage`.
///
/// `answers` are pairs of numbers from 1: of a question, and of one of its choices.
///
/// ```
/// use groundstate_state_edit::repair;
///
/// let text = br#"{"version": 4, "serial": 1, "lineage": "l", "resources": [{"mode": "managed", "type": "t", "name": "a",
///     "provider": "provider[\"hashicorp/t\"]", "instances": [{"attributes": {"id": "1"}}, {"attributes": {"id": "2"}}]}]}"#;
/// let plan = repair(text, &[], "new")?;
/// assert_eq!((plan.questions.len(), plan.is_decided()), (1, false));
/// assert!(repair(text, &[(1, 2)], "new")?.is_decided());
/// # Ok::<(), groundstate_state_edit::RepairError>(())
/// ```
///
/// # Errors
///
/// [`RepairError::Read`] if anything else keeps the state from being read, which [`salvage`](groundstate_statefile::salvage)
/// may help with; [`RepairError::NoAnswer`] for an answer to no question.
pub fn repair(text: &[u8], answers: &[(usize, usize)], lineage: &str) -> Result<RepairPlan, RepairError> {
    let mut plan = Planning { answers, steps: Vec::new(), questions: Vec::new() };
    let mended = without_bad_serial(text);
    let serial = mended.as_ref().map(|(_, serial)| *serial);
    let text = mended.as_ref().map_or(text, |(text, _)| text);
    let mut text = Cow::Borrowed(text);
    // The keys of deposed objects in old formats are their numbers, so others may have one key when some are gone.
    for _ in 0..MOST_CYCLES {
        let gone: Vec<_> = duplicates(&text).iter().flat_map(|found| plan.duplicate(found)).collect();
        if gone.is_empty() {
            break;
        }
        text = Cow::Owned(without_objects(&text, &gone));
    }
    let mut file = decode(&text, &DecodeOptions::default())?;
    if let Some(serial) = serial {
        file.serial = Serial::new(serial);
        plan.step("set_serial", None, format!("take {serial} for the serial, which cannot be read"));
    }
    if file.lineage.is_empty() {
        file.lineage = Lineage::new(lineage);
        plan.step("set_lineage", None, format!("give the state the lineage {lineage}"));
    }
    let file = plan.dependencies(file)?;
    let asked = |(question, answer): &&(usize, usize)| {
        let question = question.checked_sub(1).and_then(|at| plan.questions.get(at));
        question.is_none_or(|question| *answer == 0 || *answer > question.choices.len())
    };
    if let Some((question, answer)) = answers.iter().find(asked) {
        return Err(RepairError::NoAnswer { question: *question, answer: *answer });
    }
    Ok(RepairPlan { steps: plan.steps, questions: plan.questions, file })
}

/// A plan that is being made.
struct Planning<'a> {
    answers: &'a [(usize, usize)],
    steps: Vec<RepairStep>,
    questions: Vec<RepairQuestion>,
}

impl Planning<'_> {
    fn step(&mut self, action: &'static str, address: Option<String>, text: String) {
        self.steps.push(RepairStep { action, address, text });
    }

    /// Asks a question, and returns the index of the answer or of the first choice.
    fn ask(&mut self, text: String, choices: Vec<String>) -> usize {
        let number = self.questions.len() + 1;
        let given = self.answers.iter().rev().find(|(question, _)| *question == number);
        let answer = given.and_then(|(_, answer)| answer.checked_sub(1)).filter(|at| *at < choices.len());
        self.questions.push(RepairQuestion { text, choices, answer });
        answer.unwrap_or(0)
    }

    /// The objects of an instance that go.
    fn duplicate(&mut self, found: &Duplicate) -> Vec<std::ops::Range<usize>> {
        let address = match found.deposed {
            Some(key) => DeposedObject { instance: found.instance.clone(), key }.to_string(),
            None => found.instance.to_string(),
        };
        let named = |object: &DuplicateObject| {
            let id = object.id.as_ref().map(|id| format!(", with the id {id:?}")).unwrap_or_default();
            format!("the object at line {}{id}", object.place.line)
        };
        let kept = match found.equal {
            true => 0,
            false => self.ask(
                format!("{address} has {} objects, which differ: which one stays?", found.objects.len()),
                found.objects.iter().map(named).collect(),
            ),
        };
        let mut gone = Vec::new();
        for (_, object) in found.objects.iter().enumerate().filter(|(at, _)| *at != kept) {
            let why = if found.equal { "which repeats another one" } else { "of several" };
            let text = format!("remove {} of {address}, {why}", named(object));
            self.step("remove_duplicate", Some(address.clone()), text);
            gone.push(object.range.clone());
        }
        gone
    }

    /// Removes dependencies that no state can have.
    fn dependencies(&mut self, mut file: File) -> Result<File, ReadError> {
        for _ in 0..MOST_CYCLES {
            let recorded = Recorded::of(&file);
            let mut removed = recorded.wrong.clone();
            for (from, on, why) in &removed {
                let text = format!("remove the dependency of {from} on {on}, {why}");
                self.step("remove_dependency", Some(from.to_string()), text);
            }
            if removed.is_empty() {
                removed.extend(recorded.cycle().and_then(|edges| self.broken(&edges)));
            }
            if removed.is_empty() {
                break;
            }
            file = without(&file, &removed)?;
        }
        Ok(file)
    }

    /// The dependency of a cycle that goes.
    fn broken(&mut self, edges: &[Edge]) -> Option<Wrong> {
        let choices = edges.iter().map(|(from, on)| format!("{from} no longer depends on {on}")).collect();
        let nodes = edges.iter().map(|(from, _)| from).chain(edges.first().map(|(from, _)| from));
        let path: Vec<String> = nodes.map(ToString::to_string).collect();
        let at = self.ask(format!("{} is a cycle: which dependency goes?", path.join(" -> ")), choices);
        let (from, on) = edges.get(at)?.clone();
        let text = format!("remove the dependency of {from} on {on}, which is a part of a cycle");
        self.step("remove_dependency", Some(from.to_string()), text);
        Some((from, on, ""))
    }
}

/// A resource, and what it depends on.
type Edge = (ConfigResource, ConfigResource);

/// A dependency that goes, and why.
type Wrong = (ConfigResource, ConfigResource, &'static str);

/// The dependencies that a state records.
struct Recorded {
    graph: Graph<ConfigResource>,
    /// Problems that no state can have, in the order of resources.
    wrong: Vec<Wrong>,
}

impl Recorded {
    fn of(file: &File) -> Self {
        let mut graph = Graph::with_capacity(0);
        let mut nodes: HashMap<ConfigResource, NodeIndex> = HashMap::new();
        for (module, name, _) in file.state.all_resources() {
            let config = name.clone().absolute(module.clone()).to_config();
            nodes.entry(config.clone()).or_insert_with(|| graph.add_node(config));
        }
        let mut wrong = BTreeSet::new();
        for (instance, _, object) in file.state.objects() {
            let from = instance.resource.to_config();
            for on in &object.dependencies {
                match (nodes.get(&from), nodes.get(on)) {
                    _ if *on == from => drop(wrong.insert((from.clone(), on.clone(), "which is itself"))),
                    (Some(from), Some(on)) => drop(graph.add_edge(*from, *on)),
                    _ => drop(wrong.insert((from.clone(), on.clone(), "which is not in the state"))),
                }
            }
        }
        Self { graph, wrong: wrong.into_iter().collect() }
    }

    /// The dependencies of a shortest cycle, if there is one.
    fn cycle(&self) -> Option<Vec<Edge>> {
        let cycle = self.graph.cycles().next()?;
        let nodes = cycle.nodes();
        let next = nodes.iter().cycle().skip(1);
        let edge =
            |(from, on): (&NodeIndex, &NodeIndex)| (self.graph[*from].clone(), self.graph[*on].clone());
        Some(nodes.iter().zip(next).map(edge).collect())
    }
}

/// The state without these dependencies.
fn without(file: &File, removed: &[Wrong]) -> Result<File, ReadError> {
    let mut editor = Editor::on_file(file);
    let all: Vec<Target> = file
        .state
        .all_resources()
        .map(|(module, name, _)| Target::Resource(name.clone().absolute(module.clone())))
        .collect();
    for (from, on, _) in removed {
        let is_from =
            |target: &&Target| matches!(target, Target::Resource(found) if found.to_config() == *from);
        let targets: Vec<Target> = all.iter().filter(is_from).cloned().collect();
        editor.remove_dependency(&targets, on)?;
    }
    editor.to_file()
}
