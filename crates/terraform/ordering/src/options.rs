//! How an operation graph is built.

use groundstate_states::addr::Target;

/// Choices of [`build`](crate::build). The default is what a planner wants.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Our rules, or those of Terraform and OpenTofu with their defects.
    pub profile: Profile,
    /// From where create-before-destroy is passed on to dependencies.
    pub cbd_propagation: CbdPropagation,
    /// Leave the configuration out of recorded dependencies, as planning without refresh does.
    pub recorded_only: bool,
    /// Check conditions only of instances that have a planned change. Otherwise those of every instance that stays are checked.
    pub checks_as_planned: bool,
    /// What kind of plan this is.
    pub mode: PlanMode,
    /// Which pairs of instances a recorded dependency joins.
    pub scope: Scope,
    /// Applies the scope to edges of the configuration too; in the profile [`Classic`](Profile::Classic) to direct references
    /// alone, as OpenTofu does.
    pub scope_config_edges: bool,
    /// Orders what is dropped from the state as if it were destroyed, without regard to create before destroy. Terraform does
    /// so. Dropping an object changes nothing outside of the state, so the default gives it no order.
    pub ordered_forgets: bool,
    /// What becomes of edges between providers that close a cycle.
    pub cross_provider: CrossProvider,
    /// Leaves out every edge that a path of others implies. Where more than ten million edges would be left, only those of
    /// the compact form are reduced: [`edge_bound`](crate::OperationGraph::edge_bound) tells.
    pub reduce: bool,
    /// Keep only these, with all they wait for; empty for everything. Goes with no `excludes`.
    pub targets: Vec<Target>,
    /// Keep everything but these and what waits for them. Goes with no `targets`.
    pub excludes: Vec<Target>,
}

/// Which set of rules is followed; `docs/differences.md` lists the differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Ours: without cycles of its own making.
    #[default]
    Fixed,
    /// Those of Terraform and OpenTofu, for comparisons.
    Classic,
}

/// From where create-before-destroy is passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CbdPropagation {
    /// Along configuration and recorded dependencies.
    #[default]
    ConfigAndState,
    /// Along configuration.
    ConfigOnly,
    /// Not at all, which makes cycles.
    Off,
}

/// What kind of plan is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanMode {
    /// Changes towards the configuration.
    #[default]
    Normal,
    /// Destruction of all that is selected.
    Destroy,
}

/// Which pairs of instances a recorded dependency, which has no keys, joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All.
    None,
    /// Not those in different instances of one and the same module.
    #[default]
    SameModule,
    /// Not those whose module instances differ in the part of the path that both have.
    CommonPrefix,
}

/// What becomes of an edge between destroyers, or from a change to a destroyer, of different providers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossProvider {
    /// Of those on cycles, each is kept that closes none with those kept before it.
    #[default]
    GreedyKeep,
    /// All on cycles are dropped.
    DropInScc,
    /// All are kept; cycles are reported. Plans of destruction always do this.
    KeepAll,
}
