//! Arguments of `groundstate audit`.

use clap::{Args, Subcommand, ValueEnum};
use groundstate_audit::{Checkpoint, Outcome};
use groundstate_server::auth::Pattern;

use super::ServerStoreArgs;

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Shows the newest entries of the audit log
    ///
    /// Shows the newest entries, the last one at the end: number, time, outcome, who, what, on which object, why, and from where. An entry
    /// without a number waits to be chained. Nothing is checked: `audit verify` does that.
    Show(AuditShowArgs),
    /// Verifies the audit log, and prints a checkpoint
    ///
    /// Verifies that no entry was changed, removed, moved or inserted, from the store alone, while servers run or not. The first line that
    /// is wrong comes first, and the code is 1.
    ///
    /// Of an intact log it prints a checkpoint. Store it where those who can write the log cannot: a later `--since` finds a log that was
    /// written anew.
    Verify(AuditVerifyArgs),
}

/// The outcomes as the command line has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomeArg {
    /// Carried out
    Done,
    /// Not permitted
    Denied,
    /// Permitted, and does not fit what is stored
    Refused,
    /// Failed, without a change
    Failed,
    /// Not known
    Unknown,
}

impl From<OutcomeArg> for Outcome {
    fn from(outcome: OutcomeArg) -> Self {
        match outcome {
            OutcomeArg::Done => Self::Done,
            OutcomeArg::Denied => Self::Denied,
            OutcomeArg::Refused => Self::Refused,
            OutcomeArg::Failed => Self::Failed,
            OutcomeArg::Unknown => Self::Unknown,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct AuditShowArgs {
    /// Shows this many entries at most
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) last: usize,
    /// Shows entries of this actor only, `*` for any text
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(crate) actor: Option<Pattern>,
    /// Shows entries of this action only, such as `state.*`
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(crate) action: Option<Pattern>,
    /// Shows entries of this object only, such as `web/prod*`
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub(crate) object: Option<Pattern>,
    /// Shows entries with this outcome only
    #[arg(long, value_name = "OUTCOME", value_enum)]
    pub(crate) outcome: Option<OutcomeArg>,
    #[command(flatten)]
    pub(crate) at: ServerStoreArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArgs {
    /// The checkpoint that an earlier `audit verify` printed
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) since: Option<Checkpoint>,
    #[command(flatten)]
    pub(crate) at: ServerStoreArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
