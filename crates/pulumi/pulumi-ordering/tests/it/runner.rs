//! Runs plans against a world of objects, and checks the list after every step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundstate_pulumi_ordering::{StackGraph, StackIndex, StepId, StepKind};
use groundstate_pulumi_snapshot::Resource;
use groundstate_schedule::walk::{OnFailure, Outcome, WalkReport, Walker};

use crate::engine::{Ended, Engine};
use crate::notation::{damage_by_name, name};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) list: Vec<Arc<Resource>>,
    /// The steps that ran, in order.
    pub(crate) ran: Vec<String>,
    /// The objects that providers deleted.
    pub(crate) deleted: Vec<String>,
    pub(crate) report: WalkReport,
    world: World,
}

/// Which objects exist, and which of them need no record any more.
#[derive(Clone, Debug, Default)]
struct World {
    live: BTreeSet<String>,
    released: BTreeSet<String>,
    /// Removed from the list because the deletion of another object takes them along.
    covered: BTreeMap<String, String>,
    made: usize,
}

/// How to run.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    /// Steps that fail, by name.
    pub(crate) fails: BTreeSet<String>,
    /// Whether failing steps that make or change an object leave one behind.
    pub(crate) partial: bool,
    /// The process dies after so many steps.
    pub(crate) crash_after: Option<usize>,
    /// How many run at once, and which of them ends next.
    pub(crate) parallelism: usize,
    pub(crate) ends: Vec<usize>,
}

impl How {
    pub(crate) fn failing(names: &[&str]) -> Self {
        let fails = names.iter().map(|name| (*name).to_owned()).collect();
        Self { fails, parallelism: 1, ..Self::default() }
    }
}

pub(crate) fn run(base: &[Arc<Resource>], graph: &StackGraph, how: &How) -> Run {
    let walked = graph.walk_graph().unwrap();
    let on_failure = if graph.walk_options().on_failure == OnFailure::Stop {
        OnFailure::Stop
    } else {
        OnFailure::Continue
    };
    let mut walker = Walker::new(&walked, how.parallelism.max(1), on_failure);
    let mut state = State {
        graph,
        base,
        engine: Engine::new(base, graph),
        world: World::of(base),
        ran: Vec::new(),
        deleted: Vec::new(),
    };
    let ids: BTreeMap<usize, StepId> =
        graph.order().unwrap().into_iter().map(|step| (step.index(), step)).collect();
    let (mut running, mut ends) = (Vec::new(), how.ends.iter().cycle());
    let mut crashed = false;
    while !crashed {
        while let Some(node) = walker.start_next() {
            state.engine.begin(ids[&node]);
            state.check("begin", node);
            running.push(node);
        }
        if running.is_empty() {
            break;
        }
        let pick = ends.next().map_or(0, |end| end % running.len());
        let node = running.remove(pick);
        let outcome = state.step(ids[&node], how);
        state.check("end", node);
        walker.finish(node, outcome).unwrap();
        crashed = how.crash_after.is_some_and(|steps| state.ran.len() >= steps);
    }
    let State { mut engine, ran, deleted, world, .. } = state;
    Run { list: engine.list(), ran, deleted, world, report: walker.into_report() }
}

struct State<'a> {
    graph: &'a StackGraph,
    base: &'a [Arc<Resource>],
    engine: Engine<'a>,
    world: World,
    ran: Vec<String>,
    deleted: Vec<String>,
}

impl State<'_> {
    fn step(&mut self, id: StepId, how: &How) -> Outcome {
        let step = self.graph.step(id);
        let label = name(self.graph, id.index());
        if step.refused {
            self.engine.end(id, &Ended::Failed);
            return Outcome::Refused(format!("{label} is refused"));
        }
        self.ran.push(label.clone());
        // An operation without a provider call cannot fail.
        let fails = step.calls_provider && how.fails.contains(&label);
        let outcome = if fails { self.fail(id, how.partial) } else { self.succeed(id) };
        self.engine.end(id, &outcome);
        if fails { Outcome::Failed(label) } else { Outcome::Succeeded }
    }

    fn succeed(&mut self, id: StepId) -> Ended {
        let step = self.graph.step(id);
        let old = step.entry.map(|at| &self.base[at]);
        match step.kind {
            StepKind::Create | StepKind::CreateReplacement => {
                if step.drops_old {
                    self.world.released.extend(old.and_then(|entry| id_of(entry)));
                }
                let custom = step.goal.is_some_and(|goal| self.graph.goals()[goal].resource.custom);
                Ended::Succeeded(custom.then(|| self.world.make(step.urn.name())))
            }
            StepKind::Read => Ended::Succeeded(Some(format!("{}-read", step.urn.name()))),
            kind => {
                if matches!(kind, StepKind::Delete | StepKind::DeleteReplaced) {
                    self.delete(id);
                }
                Ended::Succeeded(None)
            }
        }
    }

    fn fail(&mut self, id: StepId, partial: bool) -> Ended {
        let step = self.graph.step(id);
        match step.kind {
            StepKind::Create | StepKind::CreateReplacement if partial => {
                if step.drops_old {
                    self.world.released.extend(step.entry.and_then(|at| id_of(&self.base[at])));
                }
                Ended::InPart(self.world.make(step.urn.name()))
            }
            StepKind::Update if partial => {
                let id = step.entry.and_then(|at| id_of(&self.base[at]));
                id.map_or(Ended::Failed, Ended::InPart)
            }
            _ => Ended::Failed,
        }
    }

    fn delete(&mut self, id: StepId) {
        let step = self.graph.step(id);
        for at in step.entries() {
            let entry = &self.base[at];
            let Some(object) = id_of(entry) else { continue };
            if step.calls_provider {
                self.world.delete(&object);
                self.take_along(at, &step.entries().collect());
                if step.entry == Some(at) {
                    self.deleted.push(object);
                }
            } else if entry.retain_on_delete || !is_managed(entry) {
                self.world.released.insert(object);
            } else if let Some(on) = &entry.deleted_with {
                let target = self.base.iter().find(|other| other.urn == *on).and_then(|other| id_of(other));
                self.world.covered.extend(target.map(|target| (object, target)));
            }
        }
    }

    /// Objects that were replaced earlier in this run go with the one that takes them along.
    fn take_along(&mut self, at: usize, own: &BTreeSet<usize>) {
        let index = StackIndex::new(self.base);
        let list = self.engine.list();
        let mut gone = BTreeSet::from([at]);
        for (place, entry) in self.base.iter().enumerate().skip(at) {
            let with = entry.deleted_with.as_ref().and_then(|urn| index.resolve(place, urn));
            let old = list.iter().any(|other| other.id == entry.id && other.delete);
            let managed = is_managed(entry) && !entry.retain_on_delete;
            if old && managed && !own.contains(&place) && with.is_some_and(|on| gone.contains(&on)) {
                gone.insert(place);
                self.world.live.remove(&id_of(entry).unwrap_or_default());
            }
        }
    }

    /// The list is valid, whatever has run so far.
    fn check(&mut self, when: &str, node: usize) {
        let list = self.engine.list();
        let damage = damage_by_name(&list);
        if !damage.is_empty() {
            let entries: Vec<String> = list.iter().map(|entry| format!("{entry:?}")).collect();
            let at = name(self.graph, node);
            unreachable!("after the {when} of {at}: {damage:?}\n{:?}\n{}", self.ran, entries.join("\n"));
        }
    }
}

fn id_of(resource: &Resource) -> Option<String> {
    resource.id().map(ToString::to_string)
}

/// Whether a provider has an object for it that the stack manages.
fn is_managed(resource: &Resource) -> bool {
    resource.custom && !resource.external
}

impl World {
    fn of(base: &[Arc<Resource>]) -> Self {
        let exists = |entry: &&Arc<Resource>| is_managed(entry) && !entry.pending_replacement;
        // Ids of an earlier run do not come again.
        let number = |entry: &Arc<Resource>| entry.id()?.as_str().rsplit("new").next()?.parse::<usize>().ok();
        Self {
            live: base.iter().filter(exists).filter_map(|entry| id_of(entry)).collect(),
            made: base.iter().filter_map(number).max().unwrap_or_default(),
            ..Self::default()
        }
    }

    fn make(&mut self, urn: &str) -> String {
        self.made += 1;
        let id = format!("{urn}-new{}", self.made);
        self.live.insert(id.clone());
        id
    }

    fn delete(&mut self, id: &str) {
        assert!(self.live.remove(id), "{id} is deleted a second time");
        // What was removed from the list in the expectation of this goes now.
        let along: Vec<String> =
            self.covered.iter().filter(|(_, on)| *on == id).map(|(member, _)| member.clone()).collect();
        for member in along {
            self.covered.remove(&member);
            self.live.remove(&member);
            let further: Vec<String> =
                self.covered.iter().filter(|(_, on)| **on == member).map(|(id, _)| id.clone()).collect();
            for id in further {
                self.covered.remove(&id);
                self.live.remove(&id);
            }
        }
    }
}

impl Run {
    /// The list in words: names, with marks for old and pending entries.
    pub(crate) fn show(&self) -> String {
        show(&self.list)
    }

    /// Objects that exist and that the list should have and does not.
    pub(crate) fn lost(&self) -> Vec<String> {
        let recorded: BTreeSet<String> = self.list.iter().filter_map(|entry| id_of(entry)).collect();
        let lost = |id: &&String| !recorded.contains(*id) && !self.world.released.contains(*id);
        self.world.live.iter().filter(lost).cloned().collect()
    }

    /// Entries that are live and whose object does not exist. Old ones may be gone along with others.
    pub(crate) fn ghosts(&self) -> Vec<String> {
        let counts =
            |entry: &&Arc<Resource>| is_managed(entry) && !entry.pending_replacement && !entry.delete;
        let recorded = self.list.iter().filter(counts).filter_map(|entry| id_of(entry));
        recorded.filter(|id| !self.world.live.contains(id)).collect()
    }

    pub(crate) fn entries(&self) -> Vec<Arc<Resource>> {
        self.list.clone()
    }
}

pub(crate) fn show(entries: &[Arc<Resource>]) -> String {
    let word = |entry: &Arc<Resource>| {
        let mark = match (entry.delete, entry.pending_replacement) {
            (true, _) => " delete",
            (_, true) => " pending",
            _ => "",
        };
        format!("{}{mark}", entry.urn.name())
    };
    entries.iter().map(word).collect::<Vec<_>>().join("; ")
}
