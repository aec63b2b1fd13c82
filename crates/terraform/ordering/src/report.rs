//! Reports of cycles.

use std::fmt;

use groundstate_common::one_line;

use crate::edge::{EdgeReason, Reasons};

/// How many members and how many steps a message shows.
const SHOWN: usize = 50;

/// Nodes that wait for each other, with an actual walk and with what would break it.
///
/// `Display` prints the members, and below them a line for each step of the walk. Long ones are cut; the structure is
/// whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct CycleReport<N> {
    /// All nodes that lie on cycles with each other, in order.
    pub members: Vec<N>,
    /// A shortest closed walk through the first member.
    pub path: Vec<CycleStep<N>>,
    /// The edges of the walk that come from what a state records.
    pub cut: Vec<CycleStep<N>>,
    /// A smallest set of edges among the members without which none of them lie on a cycle.
    pub smallest_cut: Vec<CycleStep<N>>,
    /// Whether that set is proven to be a smallest one. In large components it is only one without superfluous edges.
    pub cut_is_smallest: bool,
    /// Whether configuration says the reverse of what the state records on the walk.
    pub state_is_stale: bool,
}

/// One edge of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct CycleStep<N> {
    /// The node that waits.
    pub from: N,
    /// The node that is waited for.
    pub to: N,
    /// What makes the one wait for the other.
    pub reasons: Reasons,
    /// Turned round, since the new object comes before the old one goes.
    #[cfg_attr(feature = "serde", serde(default))]
    pub inverted: bool,
}

/// What has to be changed for the edge of a cycle to go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CutEdit<'a, N> {
    /// The state must not record that `dependent` depends on `dependency`.
    State {
        /// What records it.
        dependent: &'a N,
        /// What is recorded.
        dependency: &'a N,
    },
    /// The configuration of `dependent` must not refer to `dependency`.
    Configuration {
        /// What refers.
        dependent: &'a N,
        /// What is referred to.
        dependency: &'a N,
    },
}

impl<N> CycleReport<N> {
    /// The same report with other names for the nodes.
    #[must_use]
    pub fn map<M>(&self, name: impl Fn(&N) -> M) -> CycleReport<M> {
        let step = |step: &CycleStep<N>| CycleStep {
            from: name(&step.from),
            to: name(&step.to),
            reasons: step.reasons,
            inverted: step.inverted,
        };
        let steps = |all: &[CycleStep<N>]| all.iter().map(step).collect();
        CycleReport {
            members: self.members.iter().map(&name).collect(),
            path: steps(&self.path),
            cut: steps(&self.cut),
            smallest_cut: steps(&self.smallest_cut),
            cut_is_smallest: self.cut_is_smallest,
            state_is_stale: self.state_is_stale,
        }
    }
}

impl<N> CycleStep<N> {
    /// Whether the edge comes from what a state records, and from nothing else.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        !self.reasons.is_empty() && self.reasons.iter().all(EdgeReason::is_stored)
    }

    /// The edits that together remove the edge; none where no edit of state or references does, as between the two objects
    /// of a replacement.
    #[must_use]
    pub fn edits(&self) -> Option<Vec<CutEdit<'_, N>>> {
        self.reasons.iter().map(|reason| self.edit(reason)).collect()
    }

    fn edit(&self, reason: EdgeReason) -> Option<CutEdit<'_, N>> {
        use EdgeReason as R;
        // Which end depends on the other; the order of a replacement turns some of them round.
        let from_depends = match reason {
            R::Config | R::StoredCreate | R::ConfigCreate => !self.inverted,
            R::StoredUpdate | R::ConfigUpdate => self.inverted,
            R::StoredDestroy | R::ConfigDestroy => false,
            R::ProviderConfig => true,
            R::Own | R::ForgetFirst | R::ProviderUse | R::ProviderClose => return None,
        };
        let (dependent, dependency) =
            if from_depends { (&self.from, &self.to) } else { (&self.to, &self.from) };
        Some(match reason.is_stored() {
            true => CutEdit::State { dependent, dependency },
            false => CutEdit::Configuration { dependent, dependency },
        })
    }
}

impl<N: fmt::Display> fmt::Display for CycleReport<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cycle: ")?;
        for (at, member) in self.members.iter().take(SHOWN).enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            f.write_str(&one_line(&member.to_string()))?;
        }
        if let Some(more) = more(self.members.len()) {
            write!(f, ", {more}")?;
        }
        for step in self.path.iter().take(SHOWN) {
            write!(f, "\n  {step}")?;
        }
        if let Some(more) = more(self.path.len()) {
            write!(f, "\n  {more}")?;
        }
        if !self.smallest_cut.is_empty() && self.smallest_cut.len() <= SHOWN {
            f.write_str("\n  without these it could be done:")?;
            for step in &self.smallest_cut {
                write!(f, "\n    {step}")?;
            }
        }
        if self.state_is_stale && !self.cut.is_empty() {
            f.write_str(
                "\n  configuration says the reverse of what the state records: refresh, or edit the dependencies in the state",
            )?;
        }
        Ok(())
    }
}

fn more(count: usize) -> Option<String> {
    (count > SHOWN).then(|| format!("… and {} more", count - SHOWN))
}

impl<N: fmt::Display> fmt::Display for CycleStep<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{} waits for {} ({})", self.from, self.to, self.reasons);
        f.write_str(&one_line(&text))
    }
}
