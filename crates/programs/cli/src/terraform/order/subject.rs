//! What is asked about: the destruction of a state, or the changes of a plan.

use std::collections::BTreeSet;
use std::path::Path;

use groundstate_common::shell_command;
use groundstate_ordering::{
    BuildError, BuildErrors, CycleReport, Input, NodeKey, OperationGraph, Options, Part, PlanError, Planned,
    Product, Profile, Undecided, build,
};
use groundstate_statefile::version;
use groundstate_states::State as Model;
use groundstate_states::addr::{AbsResourceInstance, Target};

use super::refusal::refused;
use crate::args::{ProfileArg, RulesArgs};
use crate::input::foreign;
use crate::input::source::Source;
use crate::input::state::State;
use crate::input::terraform::{TerraformState, load};
use crate::report::error::{Failure, Kind, Result};
use crate::report::messages::Messages;
use crate::terraform::select;

/// Notes on a plan that are printed one by one; the rest is counted.
const MOST: usize = 20;

/// Something whose operations have an order.
pub(super) struct Subject {
    pub(super) name: String,
    input: Input,
    options: Options,
    of: Of,
}

/// What the operations come from.
enum Of {
    /// A state that is destroyed.
    State(Model),
    Plan(Box<PlanFacts>),
}

/// What a plan says besides its operations.
struct PlanFacts {
    planned: Planned,
    /// The product whose rules are followed, if not those of groundstate.
    follows: Option<Product>,
}

impl PlanFacts {
    /// Returns `true` if the operation destroys an object and nothing says whether its successor was to come first.
    fn is_unknown(&self, key: &NodeKey) -> bool {
        key.part() == Some(Part::Destroy)
            && key.addr().is_some_and(|addr| self.planned.unknown_flags.contains(addr))
    }
}

/// A graph, and what stands against an order of it.
pub(super) struct Whole {
    pub(super) graph: OperationGraph,
    pub(super) cycles: Option<Cycles>,
}

/// Operations that wait for each other.
pub(super) struct Cycles {
    members: BTreeSet<NodeKey>,
    pub(super) failure: Failure,
}

impl Cycles {
    pub(super) fn contain(&self, key: &NodeKey) -> bool {
        self.members.contains(key)
    }
}

fn members(errors: &BuildErrors) -> BTreeSet<NodeKey> {
    let of = |error: &BuildError| match error {
        BuildError::Cycle(report) => report.members.clone(),
        BuildError::SelfReference { node } => vec![node.clone()],
        _ => Vec::new(),
    };
    errors.errors.iter().flat_map(of).collect()
}

impl Subject {
    /// The destruction of everything in a state.
    pub(super) fn state(source: TerraformState) -> Result<Self> {
        let state = load(&source)?.file.state;
        Ok(Self::destruction(source.name.clone(), state))
    }

    /// The changes of a plan; flags and providers come from the state, if there is one.
    pub(super) fn plan(path: &Path, state: Option<&Path>) -> Result<Self> {
        let state = before(state)?;
        let source = Source::beside(path)?;
        let text = source.text()?;
        let planned =
            Planned::read(&text, state.as_ref()).map_err(|error| no_plan(&error, &source, &text))?;
        Ok(Self::planned(source.name, planned))
    }

    /// The one or the other: what a file holds is found from its content.
    pub(super) fn any(source: TerraformState, state: Option<&Path>) -> Result<Self> {
        let failure = match load(&source) {
            Ok(_) if state.is_some() => {
                let message = format!("{} is a state, and `--state` goes with a plan", source.name);
                return Err(Failure::new(Kind::Usage, message));
            }
            Ok(loaded) => return Ok(Self::destruction(source.name.clone(), loaded.file.state)),
            Err(failure) => failure,
        };
        match Planned::read(&source.text()?, before(state)?.as_ref()) {
            Ok(planned) => Ok(Self::planned(source.name.clone(), planned)),
            Err(PlanError::NotAPlan | PlanError::Syntax { .. }) => Err(failure),
            Err(error) => Err(unread(&error, &source)),
        }
    }

    fn destruction(name: String, state: Model) -> Self {
        Self { name, input: Input::destroy(&state), options: Options::destroy(), of: Of::State(state) }
    }

    fn planned(name: String, planned: Planned) -> Self {
        let mut messages = Messages::stderr();
        for note in planned.notes.iter().take(MOST) {
            messages.note(&note.to_string());
        }
        if planned.notes.len() > MOST {
            messages.note(&format!("and {} more", planned.notes.len() - MOST));
        }
        let (input, options) = (planned.input.clone(), planned.options.clone());
        Self { name, input, options, of: Of::Plan(Box::new(PlanFacts { planned, follows: None })) }
    }

    /// Follows the rules that the command line asks for.
    pub(super) fn rules(mut self, rules: &RulesArgs) -> Result<Self> {
        match &mut self.of {
            Of::State(_) => {
                self.options.profile = rules.profile.map_or(Profile::Fixed, ProfileArg::profile);
            }
            Of::Plan(plan) => {
                plan.follows = match rules.profile {
                    Some(ProfileArg::Fixed) => None,
                    Some(ProfileArg::Terraform) => Some(Product::Terraform),
                    Some(ProfileArg::Opentofu) => Some(Product::OpenTofu),
                    Some(ProfileArg::Classic) | None => Some(plan.planned.product),
                };
                if let Some(product) = plan.follows {
                    (self.input, self.options) = plan.planned.under(product);
                }
            }
        }
        self.options.targets = select::parse(&rules.targets)?;
        self.options.excludes = select::parse(&rules.excludes)?;
        for target in self.options.targets.iter().chain(&self.options.excludes) {
            self.check(target)?;
        }
        Ok(self)
    }

    pub(super) fn graph(&self, reduce: bool) -> Result<OperationGraph, BuildErrors> {
        let mut options = self.options.clone();
        options.reduce = reduce;
        build(&self.input, &options)
    }

    /// The graph for questions about single instances. One with cycles still answers what they leave open.
    pub(super) fn whole_graph(&self) -> Result<Whole> {
        let graph = match self.graph(false) {
            Ok(graph) => graph,
            Err(mut errors) => {
                let failure = self.refused(&errors);
                if self.is_in_doubt(&errors) {
                    return Err(failure);
                }
                let Some(graph) = errors.cyclic.take() else { return Err(failure) };
                return Ok(Whole {
                    graph: *graph,
                    cycles: Some(Cycles { members: members(&errors), failure }),
                });
            }
        };
        self.decided(&graph)?;
        Ok(Whole { graph, cycles: None })
    }

    /// The state that an edit changes: the one that is destroyed. Which state a plan was made for is not known.
    pub(super) fn edited(&self) -> Option<&str> {
        matches!(self.of, Of::State(_)).then_some(self.name.as_str())
    }

    /// Refuses an order that hangs on flags which only the state knows.
    pub(super) fn decided(&self, graph: &OperationGraph) -> Result<()> {
        let Of::Plan(plan) = &self.of else { return Ok(()) };
        match graph.undecided(&plan.planned.unknown_flags).as_slice() {
            [] => Ok(()),
            undecided => Err(self.undecided(undecided)),
        }
    }

    fn undecided(&self, undecided: &[Undecided]) -> Failure {
        let pairs = undecided.iter().map(|it| format!("{} and {}", it.change, it.destruction));
        self.needs_state(pairs.collect())
    }

    /// Says everything that stands against an order. A cycle through a destruction whose flag is not known is a doubt, since
    /// the flag turns its edges round, and no reason to edit anything.
    pub(super) fn refused(&self, errors: &BuildErrors) -> Failure {
        if !self.is_in_doubt(errors) {
            return refused(errors, &self.name, self.edited(), |report| self.doubts(report));
        }
        let Of::Plan(plan) = &self.of else { return refused(errors, &self.name, self.edited(), |_| false) };
        let members = members(errors);
        let unknown = members.iter().filter(|key| plan.is_unknown(key));
        self.needs_state(unknown.map(ToString::to_string).collect())
    }

    /// Returns `true` if everything that stands against an order is in doubt.
    fn is_in_doubt(&self, errors: &BuildErrors) -> bool {
        let is_doubtful =
            |error: &BuildError| matches!(error, BuildError::Cycle(report) if self.doubts(report));
        errors.errors.iter().all(is_doubtful)
    }

    fn doubts(&self, report: &CycleReport<NodeKey>) -> bool {
        matches!(&self.of, Of::Plan(plan) if report.members.iter().any(|key| plan.is_unknown(key)))
    }

    fn needs_state(&self, operations: Vec<String>) -> Failure {
        let message = format!(
            "{} does not determine the order of these operations: a plan lacks the create-before-destroy flag of what is removed",
            self.name
        );
        let more = operations.len().saturating_sub(MOST);
        let failure = Failure::new(Kind::Unusable, message)
            .details(operations.into_iter().take(MOST))
            .details((more > 0).then(|| format!("and {more} more")));
        failure.hint(
            "give the state it was made from with `--state`; the plan file holds it: `unzip -p PLANFILE tfstate > before.tfstate`",
        )
    }

    /// Whether this is a plan some of whose flags are not known.
    pub(super) fn lacks_flags(&self) -> bool {
        matches!(&self.of, Of::Plan(plan) if !plan.planned.unknown_flags.is_empty())
    }

    /// The name of the product whose rules are followed.
    pub(super) fn product(&self) -> &'static str {
        match &self.of {
            Of::Plan(plan) => plan.follows.unwrap_or_default().name(),
            Of::State(_) => Product::default().name(),
        }
    }

    /// The reduced graph of a plan under the rules of groundstate; none if they are followed already.
    pub(super) fn fixed(&self) -> Option<Result<OperationGraph, BuildErrors>> {
        let Of::Plan(plan) = &self.of else { return None };
        plan.follows?;
        let mut options = plan.planned.options.clone();
        options.targets.clone_from(&self.options.targets);
        options.excludes.clone_from(&self.options.excludes);
        options.reduce = true;
        Some(build(&plan.planned.input, &options))
    }

    /// The instances that an address stands for.
    pub(super) fn instances(&self, address: &str) -> Result<(Target, Vec<AbsResourceInstance>)> {
        let target = select::parse_one(address)?;
        self.check(&target)?;
        let found = self.known().filter(|known| select::matches(&target, known)).cloned();
        let mut found: Vec<AbsResourceInstance> = found.collect();
        found.sort_unstable();
        found.dedup();
        Ok((target, found))
    }

    fn known(&self) -> impl Iterator<Item = &AbsResourceInstance> {
        let changes = self.input.changes.iter().map(|change| &change.addr);
        self.input.instances.iter().map(|instance| &instance.addr).chain(changes)
    }

    /// Refuses unknown addresses.
    fn check(&self, target: &Target) -> Result<()> {
        if self.known().any(|known| select::matches(target, known)) {
            return Ok(());
        }
        match &self.of {
            Of::State(state) if select::exists(state, target) => Ok(()),
            Of::State(state) => Err(select::unknown(target, &self.name, Some(state))),
            Of::Plan(_) => {
                let message = format!("{} has no {target}", self.name);
                Err(Failure::new(Kind::NotFound, message))
            }
        }
    }
}

/// The state that a plan was made from.
fn before(path: Option<&Path>) -> Result<Option<Model>> {
    path.map(|path| Ok(load(&State::find(path)?.terraform()?)?.file.state)).transpose()
}

/// Says what was given instead of a plan, if it is something known.
fn no_plan(error: &PlanError, source: &Source, text: &[u8]) -> Failure {
    let is_other = matches!(error, PlanError::NotAPlan | PlanError::Syntax { .. });
    let name = &source.name;
    let known = || {
        foreign::instead_of_plan(name, text).or_else(|| foreign::backend_record(name, text)).or_else(|| {
            let hint = format!(
                "`{}` shows in which order it is destroyed",
                shell_command("groundstate order destroy", &[name])
            );
            let message = format!("{name} is a state, and not a plan");
            let failure = || Failure::new(Kind::NotState, message).hint(hint).hint(foreign::PLAN_HINT);
            version(text).is_ok().then(failure)
        })
    };
    is_other.then(known).flatten().unwrap_or_else(|| unread(error, source))
}

fn unread(error: &PlanError, source: &Source) -> Failure {
    let kind = match error {
        PlanError::NotAPlan | PlanError::Syntax { .. } => Kind::NotState,
        _ => Kind::Unusable,
    };
    Failure::new(kind, format!("{}: {error}", source.name))
}
