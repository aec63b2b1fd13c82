//! What is asked about: the destruction of a state, or the changes of a plan.

use std::path::Path;

use groundstate_ordering::{BuildErrors, Input, OperationGraph, Options, PlanError, Planned, build};
use groundstate_states::State;
use groundstate_states::addr::{AbsResourceInstance, Target};

use super::{RulesArgs, lines_of, refused};
use crate::error::{Failure, Kind, Result};
use crate::load::load;
use crate::output::Messages;
use crate::select;
use crate::source::Source;

/// Notes on a plan that are printed one by one; the rest is counted.
const MOST: usize = 20;

/// Something whose operations have an order.
pub(super) struct Subject {
    pub(super) name: String,
    input: Input,
    options: Options,
    /// The state that is destroyed; a plan is none.
    destroyed: Option<State>,
}

impl Subject {
    /// The destruction of everything in a state.
    pub(super) fn state(source: Source) -> Result<Self> {
        let state = load(&source)?.file.state;
        Ok(Self::destruction(source.name, state))
    }

    /// The changes of a plan; flags and providers come from the state, if there is one.
    pub(super) fn plan(path: &Path, state: Option<&Path>) -> Result<Self> {
        let state = match state {
            Some(path) => Some(load(&Source::find(path)?)?.file.state),
            None => None,
        };
        let source = Source::beside(path)?;
        let planned =
            Planned::read(&source.text()?, state.as_ref()).map_err(|error| unread(&error, &source))?;
        Ok(Self::planned(source.name, planned))
    }

    /// The one or the other: what a file holds is found from its content.
    pub(super) fn any(source: Source) -> Result<Self> {
        let failure = match load(&source) {
            Ok(loaded) => return Ok(Self::destruction(source.name.clone(), loaded.file.state)),
            Err(failure) => failure,
        };
        match Planned::read(&source.text()?, None) {
            Ok(planned) => Ok(Self::planned(source.name, planned)),
            Err(PlanError::NotAPlan | PlanError::Syntax { .. }) => Err(failure),
            Err(error) => Err(unread(&error, &source)),
        }
    }

    fn destruction(name: String, state: State) -> Self {
        Self { name, input: Input::destroy(&state), options: Options::destroy(), destroyed: Some(state) }
    }

    fn planned(name: String, planned: Planned) -> Self {
        let mut messages = Messages::stderr();
        for note in planned.notes.iter().take(MOST) {
            messages.note(&note.to_string());
        }
        if planned.notes.len() > MOST {
            messages.note(&format!("and {} more", planned.notes.len() - MOST));
        }
        Self { name, input: planned.input, options: planned.options, destroyed: None }
    }

    /// Follows the rules that the command line asks for.
    pub(super) fn rules(mut self, rules: &RulesArgs) -> Result<Self> {
        self.options.profile = rules.profile.into();
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

    /// The graph for questions about single nodes.
    pub(super) fn whole_graph(&self) -> Result<OperationGraph> {
        self.graph(false).map_err(|errors| refused(&errors.errors, &self.name, lines_of))
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

    /// Refuses addresses that nobody knows.
    fn check(&self, target: &Target) -> Result<()> {
        if self.known().any(|known| select::matches(target, known)) {
            return Ok(());
        }
        match &self.destroyed {
            Some(state) if select::exists(state, target) => Ok(()),
            Some(_) => Err(select::unknown(target, &self.name)),
            None => {
                let message = format!("{} knows nothing of {target}", self.name);
                Err(Failure::new(Kind::NotFound, message))
            }
        }
    }
}

fn unread(error: &PlanError, source: &Source) -> Failure {
    let kind = match error {
        PlanError::NotAPlan | PlanError::Syntax { .. } => Kind::NotState,
        _ => Kind::Unusable,
    };
    Failure::new(kind, format!("{}: {error}", source.name))
}
