//! Makes the changes of a script.

use groundstate_states::addr::{AbsResourceInstance, InstanceKey, ProviderSource, Target};

use super::error::{ScriptError, ScriptFault};
use super::pattern::{Capture, Pattern, Source};
use super::words::{Misplaced, Word};
use super::{Argument, DependencyStatement, MoveStatement, Script, Statement, Verb};
use crate::{Editor, MoveError, MoveOptions, RemoveError, ReplaceProviderError, Summary, TaintError};

/// Options of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptOptions {
    /// How its moves are made.
    pub moves: MoveOptions,
    /// Passes over statements whose addresses match nothing, so that one script fits many states.
    pub skip_missing: bool,
}

impl ScriptOptions {
    /// Chooses how moves are made.
    #[must_use]
    pub fn moves(mut self, options: MoveOptions) -> Self {
        self.moves = options;
        self
    }

    /// Passes over statements whose addresses match nothing.
    #[must_use]
    pub fn skip_missing(mut self, yes: bool) -> Self {
        self.skip_missing = yes;
        self
    }
}

/// What a script did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptReport {
    /// Each statement in its order.
    pub statements: Vec<StatementReport>,
}

/// What one statement did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementReport {
    /// Its line in the script, from 1.
    pub line: usize,
    /// What it did; empty if it was passed over.
    pub summary: Summary,
    /// It was passed over, because this is what its addresses match: nothing.
    pub skipped: Option<ScriptFault>,
}

impl ScriptReport {
    /// How many changes were made.
    pub fn changes(&self) -> usize {
        self.statements.iter().map(|done| done.summary.len()).sum()
    }
}

impl Editor<'_> {
    /// Makes the changes of a script, one statement after the other; each sees what those before it did.
    ///
    /// # Errors
    ///
    /// Why a statement was refused, with its place. Then no statement has changed anything.
    pub fn run(&mut self, script: &Script, options: &ScriptOptions) -> Result<ScriptReport, ScriptError> {
        self.attempt(|editor| {
            let mut report = ScriptReport::default();
            for Statement { line, verb } in &script.statements {
                let done = match editor.statement(verb, options) {
                    Ok(summary) => StatementReport { line: *line, summary, skipped: None },
                    Err((_, fault)) if options.skip_missing && fault.is_missing() => {
                        StatementReport { line: *line, summary: Summary::default(), skipped: Some(fault) }
                    }
                    Err((column, fault)) => return Err(ScriptError { line: *line, column, fault }),
                };
                report.statements.push(done);
            }
            Ok(report)
        })
    }

    fn statement(&mut self, verb: &Verb, options: &ScriptOptions) -> Result<Summary, Misplaced> {
        match verb {
            Verb::Move(between) => {
                let MoveStatement { from, to } = &**between;
                let mut pairs = Vec::new();
                for (source, captures) in self.meant(from)? {
                    let dest = to.value.expand(&source, &captures).map_err(|fault| (to.column, fault))?;
                    pairs.push((source, dest));
                }
                self.move_all(&pairs, options.moves).map_err(|error| match error {
                    MoveError::Read(error) => (from.column, ScriptFault::Read(error)),
                    error => (from.column, ScriptFault::Move(error)),
                })
            }
            Verb::Remove(sources) => self.remove_sources(sources, options),
            Verb::RemoveIdentity(sources) => self.remove_identities(sources, options),
            Verb::RemoveDependency(statement) => {
                let DependencyStatement { from, on } = statement.as_ref();
                let targets: Vec<Target> = self.meant(from)?.into_iter().map(|(target, _)| target).collect();
                let summary = self
                    .remove_dependency(&targets, on)
                    .map_err(|error| (from.column, ScriptFault::Read(error)))?;
                if summary.is_empty() {
                    let address = from.value.text(&targets);
                    return Err((from.column, ScriptFault::NoDependency { address, dependency: on.clone() }));
                }
                Ok(summary)
            }
            Verb::ReplaceProvider { from, to } => {
                let (old, new) = (self.provider(from)?, self.provider(to)?);
                self.replace_provider(&old, &new).map_err(|error| match error {
                    ReplaceProviderError::Read(error) => (from.column, ScriptFault::Read(error)),
                    error => (from.column, ScriptFault::ReplaceProvider(error)),
                })
            }
            Verb::Taint(sources) => self.each(sources, options, Self::taint),
            Verb::Untaint(sources) => self.each(sources, options, Self::untaint),
        }
    }

    fn remove_sources(
        &mut self,
        sources: &[Argument<Source>],
        options: &ScriptOptions,
    ) -> Result<Summary, Misplaced> {
        let misplaced = |column, error| match error {
            RemoveError::Read(error) => (column, ScriptFault::Read(error)),
            error => (column, ScriptFault::Remove(error)),
        };
        let mut all = Summary::default();
        let mut targets = Vec::new();
        for source in sources {
            let done = match &source.value {
                Source::Deposed(object) => {
                    let removed =
                        self.remove_deposed(object).map_err(|error| misplaced(source.column, error));
                    removed.map(|removed| all.changes.extend(removed.changes))
                }
                _ => self
                    .meant(source)
                    .map(|found| targets.extend(found.into_iter().map(|(target, _)| target))),
            };
            match done {
                Err((_, fault)) if options.skip_missing && fault.is_missing() => {}
                done => done?,
            }
        }
        if targets.is_empty() && !all.is_empty() {
            return Ok(all);
        }
        let column = sources.first().map_or(1, |source| source.column);
        let removed = self.remove(&targets).map_err(|error| misplaced(column, error))?;
        all.changes.extend(removed.changes);
        Ok(Summary { changes: all.changes, ..removed })
    }

    fn remove_identities(
        &mut self,
        sources: &[Argument<Source>],
        options: &ScriptOptions,
    ) -> Result<Summary, Misplaced> {
        let mut all = Summary::default();
        let mut skipped = None;
        for source in sources {
            let removed = self.meant(source).and_then(|found| {
                let targets: Vec<Target> = found.into_iter().map(|(target, _)| target).collect();
                let removed = self.remove_identity(&targets);
                let removed = removed.map_err(|error| (source.column, ScriptFault::Read(error)))?;
                let address = source.value.text(&targets);
                let none = (source.column, ScriptFault::NoIdentity { address });
                if removed.is_empty() { Err(none) } else { Ok(removed) }
            });
            match removed {
                Ok(removed) => all.changes.extend(removed.changes),
                Err(fault) if options.skip_missing && fault.1.is_missing() => skipped = Some(fault),
                Err(fault) => return Err(fault),
            }
        }
        skipped.filter(|_| all.is_empty()).map_or(Ok(all), Err)
    }

    fn provider(&self, text: &Argument<String>) -> Result<ProviderSource, Misplaced> {
        let host = self.dialect().default_registry();
        ProviderSource::parse(&text.value, host).map_err(|error| (text.column, ScriptFault::Address(error)))
    }

    /// What an address means, or everything that matches it if it is a pattern with wildcards, as in [`Script`]s.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is a pattern that matches nothing. An address is not looked for, unless it has stars:
    /// one that is in the state, and as a pattern matches more, is [`ScriptFault::Ambiguous`].
    pub fn select(&self, pattern: &str) -> Result<Vec<Target>, ScriptError> {
        let word = Word { text: pattern, column: 1 };
        let found = Source::parse(&word).and_then(|value| self.meant(&Argument { value, column: 1 }));
        let found = found.map_err(|(column, fault)| ScriptError { line: 1, column, fault })?;
        Ok(found.into_iter().map(|(target, _)| target).collect())
    }

    /// What a source means in the state as it is now.
    fn meant(&self, source: &Argument<Source>) -> Result<Vec<(Target, Vec<Capture>)>, Misplaced> {
        match &source.value {
            Source::Plain(target) => Ok(vec![(target.clone(), Vec::new())]),
            Source::Deposed(object) => Ok(vec![(Target::Instance(object.instance.clone()), Vec::new())]),
            Source::Pattern(pattern) => {
                let found = pattern.matches(&self.working_set);
                if found.is_empty() {
                    let nothing = ScriptFault::NothingMatched { pattern: pattern.text().to_owned() };
                    return Err((source.column, nothing));
                }
                // An address that was copied from a list means itself, and not its siblings.
                let address = pattern.existing(&self.working_set);
                let others = found.iter().filter(|(target, _)| address != Some(target)).count();
                if address.is_some() && others > 0 {
                    return Err((source.column, ambiguous(pattern, others)));
                }
                Ok(found)
            }
        }
    }

    /// Changes the status of all instances that are meant.
    fn each(
        &mut self,
        sources: &[Argument<Source>],
        options: &ScriptOptions,
        change: impl Fn(&mut Self, &AbsResourceInstance) -> Result<Summary, TaintError>,
    ) -> Result<Summary, Misplaced> {
        let mut all = Summary::default();
        let mut skipped = None;
        for source in sources {
            match self.each_of(source, &change) {
                Ok(changes) => all.changes.extend(changes),
                Err(fault) if options.skip_missing && fault.1.is_missing() => skipped = Some(fault),
                Err(fault) => return Err(fault),
            }
        }
        skipped.filter(|_| all.is_empty()).map_or(Ok(all), Err)
    }

    fn each_of(
        &mut self,
        source: &Argument<Source>,
        change: &impl Fn(&mut Self, &AbsResourceInstance) -> Result<Summary, TaintError>,
    ) -> Result<Vec<crate::Change>, Misplaced> {
        let by_pattern = match &source.value {
            Source::Plain(_) | Source::Deposed(_) => false,
            Source::Pattern(pattern) => pattern.existing(&self.working_set).is_none(),
        };
        let mut changes = Vec::new();
        let mut met = false;
        for (target, _) in self.meant(source)? {
            let instance = match target {
                Target::Module(_) => continue,
                Target::Resource(resource) => resource.instance(InstanceKey::None),
                Target::Instance(instance) => instance,
            };
            match change(self, &instance) {
                Ok(summary) => {
                    met = true;
                    changes.extend(summary.changes);
                }
                // A pattern means those of its matches that the verb is for.
                Err(
                    TaintError::Missing { .. }
                    | TaintError::NoCurrentObject { .. }
                    | TaintError::NotTainted { .. },
                ) if by_pattern => {}
                Err(TaintError::Read(error)) => return Err((source.column, ScriptFault::Read(error))),
                Err(error) => return Err((source.column, ScriptFault::Taint(error))),
            }
        }
        match &source.value {
            Source::Pattern(pattern) if !met => {
                Err((source.column, ScriptFault::NothingMatched { pattern: pattern.text().to_owned() }))
            }
            _ => Ok(changes),
        }
    }
}

fn ambiguous(pattern: &Pattern, others: usize) -> ScriptFault {
    ScriptFault::Ambiguous {
        text: pattern.text().to_owned(),
        others,
        address: pattern.spelled_as_address(),
        pattern: pattern.spelled_as_pattern(),
    }
}
