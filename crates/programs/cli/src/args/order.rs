//! The arguments of `groundstate order`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use groundstate_ordering::Profile;

use super::StateArg;

#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// What to ask.
    #[command(subcommand)]
    pub(crate) question: OrderQuestion,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrderQuestion {
    /// In which order everything in a state can be destroyed
    ///
    /// Prints the order in which everything in a state can be destroyed, from the dependencies that it records.
    ///
    /// Operations with the same wave can run at the same time.
    Destroy(OrderGraphArgs),
    /// In which order the changes of a plan are made
    ///
    /// Prints the order in which the changes of a plan are made. PLAN is what `terraform show -json` prints of one.
    Plan(OrderPlanArgs),
    /// What can be done at the same time
    ///
    /// Prints the waves of destroying everything in a state, or of a plan's changes: everything in a wave can be done at the
    /// same time, as soon as the wave before it is done.
    Waves(OrderWavesArgs),
    /// Why one instance has to wait for another
    ///
    /// Prints the shortest chain of reasons for which the operations on one instance wait for those on another, when
    /// everything in a state is destroyed, or when the changes of a plan are made.
    Why(OrderWhyArgs),
    /// What must go if an instance goes
    ///
    /// Prints everything that has to be destroyed before an instance can be: what depends on it, and what depends on that.
    Blast(OrderBlastArgs),
}

/// Which graph is built, and from what.
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    /// Only these modules, resources and instances, with everything they wait for
    #[arg(long = "target", value_name = "ADDR", conflicts_with = "excludes")]
    pub(crate) targets: Vec<String>,
    /// Everything but these, and what waits for them
    #[arg(long = "exclude", value_name = "ADDR")]
    pub(crate) excludes: Vec<String>,
    /// The rules to follow: for a plan those of its product if missing, otherwise `fixed`
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) profile: Option<ProfileArg>,
}

/// How a graph is printed.
#[derive(Debug, Args)]
pub(crate) struct PictureArgs {
    /// How to print it
    #[arg(short, long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: GraphFormat,
    /// Keeps edges that follow from others
    #[arg(long)]
    pub(crate) all_edges: bool,
    /// Replaces this file, all at once; standard output if there is none, or with `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct OrderGraphArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OrderPlanArgs {
    /// Plan to read: what `terraform show -json PLANFILE` prints, as a file or `-` for standard input
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// The state the plan was made for, which knows what the plan does not: create-before-destroy flags
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OrderWavesArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArg,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// What is asked about.
#[derive(Debug, Args)]
pub(crate) struct SubjectArg {
    /// State whose destruction is asked about, or a plan as for `order plan`
    #[arg(value_name = "STATE|PLAN")]
    pub(crate) subject: PathBuf,
    /// The state a plan was made for, which knows what the plan does not: create-before-destroy flags
    #[arg(long = "state", value_name = "STATE")]
    pub(crate) before: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct OrderWhyArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArg,
    /// The instance that may have to wait
    #[arg(value_name = "A")]
    pub(crate) waits: String,
    /// The instance that may have to go first
    #[arg(value_name = "B")]
    pub(crate) goes_first: String,
    /// The rules to follow: for a plan those of its product if missing, otherwise `fixed`
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) profile: Option<ProfileArg>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OrderBlastArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// The module, resource or instance that is to go
    #[arg(value_name = "ADDR")]
    pub(crate) address: String,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Forms of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A line for each operation
    Text,
    /// Nodes, edges, order and waves as JSON
    Json,
    /// For Graphviz
    Dot,
    /// For Mermaid
    Mermaid,
    /// A picture
    Svg,
}

/// Sets of rules that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// Those of groundstate, which make no cycles of their own
    Fixed,
    /// Those of the product whose plan it is, with its defects
    Classic,
    /// Those of Terraform
    Terraform,
    /// Those of OpenTofu
    Opentofu,
}

impl ProfileArg {
    /// The kind of rules.
    pub(crate) fn profile(self) -> Profile {
        match self {
            Self::Fixed => Profile::Fixed,
            Self::Classic | Self::Terraform | Self::Opentofu => Profile::Classic,
        }
    }
}
