//! The snapshot that an engine began with.

use groundstate_pulumi_snapshot::Snapshot;

use super::state::State;

/// The snapshot that an operation begins with. Its states are the engine's, which changes them.
#[derive(Clone, Debug, Default)]
pub struct Base {
    /// The states, in order.
    pub states: Vec<State>,
    /// All but the resources.
    pub rest: Snapshot,
}

impl Base {
    /// The base that a snapshot is.
    pub fn new(mut snapshot: Snapshot) -> Self {
        let states = std::mem::take(&mut snapshot.resources).into_iter().map(State::new).collect();
        Self { states, rest: snapshot }
    }

    /// What it is at this moment.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { resources: self.states.iter().map(State::get).collect(), ..self.rest.clone() }
    }
}
