//! Arguments of `groundstate audit`.

use clap::{Args, Subcommand, ValueEnum};
use groundstate_server::audit::{Checkpoint, Outcome};
use groundstate_server::auth::Pattern;

use super::serve::ServerArgs;

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
    /// Shows the newest entries, the last one at the end: number, time, outcome, actor, action, object, reason, and the address of the client. An
    /// entry without a number waits to be chained. Nothing is verified; `audit verify` does that.
    ///
    /// Entries that cannot be read are counted, and the code is 1.
    Show(AuditShowArgs),
    /// Verifies the audit log, and prints a checkpoint
    ///
    /// Verifies that no entry was changed, removed, moved or inserted, from the store alone, while servers run or not. What is wrong is listed,
    /// the first place of the log first, and the code is 1.
    ///
    /// Of an intact log it prints a checkpoint. Keep it where those who can write to the store cannot change it: a later
    /// `--since` with it finds a log that was written anew, or whose end was cut off.
    Verify(AuditVerifyArgs),
}

/// The outcomes as the command line has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomeArg {
    /// Carried out
    Done,
    /// Not permitted
    Denied,
    /// Permitted, but not what is stored or the policies allow
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
    /// Shows at most this many entries
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
    pub(crate) server: ServerArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArgs {
    /// The checkpoint that an earlier `audit verify` printed, as COUNT:HASH
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) since: Option<Checkpoint>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
