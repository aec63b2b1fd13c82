//! The arguments of `groundstate order`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use groundstate_ordering::Profile;

use super::look::StateArg;

#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// What to ask.
    #[command(subcommand)]
    pub(crate) question: OrderQuestion,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrderQuestion {
    /// Shows the order in which everything in a state can be destroyed
    ///
    /// Prints the order in which everything in a state can be destroyed, from the dependencies that it records.
    ///
    /// Operations of the same wave can run in parallel.
    Destroy(OrderGraphArgs),
    /// Shows the order in which the changes of a plan are made
    ///
    /// Prints the order in which the changes of a plan are made. PLAN is the output of `terraform show -json PLANFILE`.
    Plan(OrderPlanArgs),
    /// Shows what can run in parallel
    ///
    /// Prints the waves of destroying everything in a state, or of the changes of a plan: the operations of a wave can run in
    /// parallel as soon as the wave before it is done.
    Waves(OrderWavesArgs),
    /// Shows why one thing waits for another
    ///
    /// Prints the shortest chain of direct reasons for which the operations on A wait for those on B, when everything in a
    /// state is destroyed, or when the changes of a plan are made. A state also records what follows from other dependencies;
    /// that is no reason of its own.
    ///
    /// A module stands for everything inside it, a resource without a key for all its instances. If there is a cycle, only
    /// operations outside it are answered for.
    Why(OrderWhyArgs),
    /// Shows what must be destroyed along with an instance
    ///
    /// Prints everything that has to be destroyed before an instance can be: what depends on it, and what depends on that, the
    /// nearest first. A module stands for everything inside it, a resource without a key for all its instances.
    Blast(OrderBlastArgs),
}

/// Which graph is built, and from what.
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    /// Only these modules, resources and instances, and what they wait for
    #[arg(long = "target", value_name = "ADDR", conflicts_with = "excludes")]
    pub(crate) targets: Vec<String>,
    /// Everything except these, and except what waits for them
    #[arg(long = "exclude", value_name = "ADDR")]
    pub(crate) excludes: Vec<String>,
    /// The rules to follow; if missing, those of the plan's product, and `fixed` for a state
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) profile: Option<ProfileArg>,
}

/// How a graph is printed.
#[derive(Debug, Args)]
pub(crate) struct PictureArgs {
    /// The output format
    #[arg(short, long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: GraphFormat,
    /// Prints JSON; the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Keeps edges that other edges imply
    #[arg(long)]
    pub(crate) all_edges: bool,
    /// Writes this file, all at once; standard output if missing, or with `-`
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
    /// The state that the plan was made for; it has create-before-destroy flags that the plan lacks
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OrderWavesArgs {
    /// State to destroy, or a plan as for `order plan`
    #[arg(value_name = "STATE|PLAN", default_value = ".")]
    pub(crate) subject: PathBuf,
    /// The state that a plan was made for; it has create-before-destroy flags that the plan lacks
    #[arg(long = "state", value_name = "STATE")]
    pub(crate) before: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OrderWhyArgs {
    /// State to destroy, or a plan as for `order plan`
    #[arg(value_name = "STATE|PLAN")]
    pub(crate) subject: PathBuf,
    /// The state that a plan was made for; it has create-before-destroy flags that the plan lacks
    #[arg(long = "state", value_name = "STATE")]
    pub(crate) before: Option<PathBuf>,
    /// The module, resource or instance that may wait
    #[arg(value_name = "A")]
    pub(crate) waits: String,
    /// The module, resource or instance that may come first
    #[arg(value_name = "B")]
    pub(crate) goes_first: String,
    /// The rules to follow; if missing, those of the plan's product, and `fixed` for a state
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) profile: Option<ProfileArg>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OrderBlastArgs {
    /// State to read: a file, a directory, a URL such as `s3://bucket/key`, or `-` for standard input
    #[arg(value_name = "STATE")]
    pub(crate) state: PathBuf,
    /// The module, resource or instance to destroy
    #[arg(value_name = "ADDR")]
    pub(crate) address: String,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl PictureArgs {
    /// The format that is asked for, in whichever way.
    pub(crate) fn format(&self) -> GraphFormat {
        if self.json { GraphFormat::Json } else { self.format }
    }
}

/// Forms of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// One line for each operation
    Text,
    /// Nodes, edges, order and waves as JSON
    Json,
    /// Graphviz
    Dot,
    /// Mermaid
    Mermaid,
    /// A picture
    Svg,
}

/// Sets of rules that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// The rules of groundstate, which cause no cycles of their own
    Fixed,
    /// The rules of the plan's product, with its defects
    Classic,
    /// The rules of Terraform
    Terraform,
    /// The rules of OpenTofu
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
