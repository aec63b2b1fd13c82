//! The arguments of the commands that only Pulumi state has, and what it adds to those of both.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use groundstate_pulumi_integrity::PendingRule;

use super::change::{AddressesArgs, ChangeArgs, PlaceArg};
use super::look::StateArg;

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    #[command(flatten)]
    pub(crate) addresses: AddressesArgs,
    /// For Pulumi: removes protected resources as well
    #[arg(long)]
    pub(crate) force: bool,
    /// For Pulumi: removes what depends on the resources as well
    #[arg(long)]
    pub(crate) target_dependents: bool,
    #[command(flatten)]
    pub(crate) pick: PickArgs,
}

/// Which of several resources of one name is meant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PickArgs {
    /// For Pulumi: of several resources of one name, means the one with this identifier; `''` is one without any
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// For Pulumi: of several resources of one name, means the one with this number in the list of them
    #[arg(long, value_name = "NUMBER")]
    pub(crate) copy: Option<usize>,
}

impl PickArgs {
    /// The first of these options that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (&self.id, self.copy) {
            (Some(_), _) => Some("--id"),
            (_, Some(_)) => Some("--copy"),
            _ => None,
        }
    }
}

/// Resources of which a mark is set.
#[derive(Debug, Args)]
pub(crate) struct FlagArgs {
    #[command(flatten)]
    pub(crate) addresses: AddressesArgs,
    #[command(flatten)]
    pub(crate) pick: PickArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// Carries out the plan; without it the plan is shown, and nothing is written
    #[arg(long)]
    pub(crate) yes: bool,
    /// Writes the repaired state here instead, or to standard output with `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Answers a question of the plan, by the numbers of question and answer, such as `2=1`; it may lead to further questions
    #[arg(long = "answer", value_name = "QUESTION=ANSWER", value_parser = answer)]
    pub(crate) answers: Vec<(usize, usize)>,
    /// What happens to pending operations
    #[arg(long, value_enum, default_value_t = PendingArg::Keep)]
    pub(crate) pending: PendingArg,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// Which pending operations a repair forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PendingArg {
    /// Keeps all
    Keep,
    /// Clears all but creations, as Pulumi does at the next write
    ClearForgotten,
    /// Clears all
    ClearAll,
}

impl From<PendingArg> for PendingRule {
    fn from(arg: PendingArg) -> Self {
        match arg {
            PendingArg::Keep => Self::Keep,
            PendingArg::ClearForgotten => Self::ClearForgotten,
            PendingArg::ClearAll => Self::ClearAll,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CryptArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
}

#[derive(Debug, Args)]
pub(crate) struct ChangeSecretsProviderArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The new provider: `passphrase`, or the URL of a key such as `awskms://alias/NAME?region=REGION`
    #[arg(value_name = "PROVIDER")]
    pub(crate) provider: String,
    /// The configuration of the stack; that of the project directory if missing
    #[arg(long, value_name = "FILE")]
    pub(crate) config_file: Option<PathBuf>,
    /// Takes the new passphrase from this file
    #[arg(long, value_name = "FILE")]
    pub(crate) new_passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DependencyGraphArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// The output format
    #[arg(short, long, value_enum, default_value = "dot", value_name = "FORMAT")]
    pub(crate) format: DependencyGraphFormat,
    /// Prints JSON; the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Writes this file, all at once; standard output if missing, or with `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

/// Forms of a graph of dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DependencyGraphFormat {
    /// Graphviz
    Dot,
    /// Mermaid
    Mermaid,
    /// Nodes and edges as JSON, edges with their kinds
    Json,
    /// A picture
    Svg,
}

#[derive(Debug, Args)]
pub(crate) struct PendingArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: PendingCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PendingCommand {
    /// Lists pending operations, whose outcome is unknown
    List(PendingListArgs),
    /// Clears pending operations whose outcome no longer matters
    ///
    /// Clears pending operations: those of these resources, or all. A resource that was being created may exist, and nothing
    /// manages it then.
    Clear(PendingClearArgs),
    /// Records that a creation has succeeded
    ///
    /// Records that a resource that was being created exists, and its identifier. The next refresh takes it over, but not from
    /// an export: `pulumi stack import` clears pending operations.
    Resolve(PendingResolveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PendingListArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PendingClearArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The resources whose operations are cleared, by URN or name; all if missing
    #[arg(value_name = "URN")]
    pub(crate) addresses: Vec<String>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PendingResolveArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The resource that was being created, by URN or name
    #[arg(value_name = "URN")]
    pub(crate) address: String,
    /// The identifier that its provider has given it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

fn answer(text: &str) -> Result<(usize, usize), String> {
    let wrong = || format!("{text:?} is no answer; write the numbers of question and answer, such as `2=1`");
    let (question, answer) = text.split_once('=').ok_or_else(wrong)?;
    let number = |text: &str| text.parse().ok().filter(|number: &usize| *number > 0).ok_or_else(wrong);
    Ok((number(question)?, number(answer)?))
}
