//! Arguments of `groundstate token`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use groundstate_server::auth::{Pattern, Role, TokenName, name_or_id};

use super::ServerStoreArgs;
use crate::args::change::age;

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Creates a token, and prints it
    ///
    /// Creates a token and prints it, alone on standard output and for the only time: the store has a hash of it. Clients send it as the
    /// password of any user, or as a bearer.
    ///
    /// Roles are, each with what those before it have: `outputs` (the outputs of a state), `read` (states, history, locks), `lock` (taking
    /// and releasing locks: a plan), `write` (storing states: an apply), `admin` (locks of other holders, deletion).
    ///
    /// While there is no token, clients on the machine of the server need none; from the first one on every client needs one.
    Create(TokenCreateArgs),
    /// Lists the tokens, those that have ended among them
    ///
    /// Lists tokens by id and name, with what they are for, when they end, and the day of their last use. No token is shown.
    List(TokenListArgs),
    /// Revokes a token
    ///
    /// Revokes the token of this name or id. A server that has just seen it accepts it for up to 30 seconds longer.
    Revoke(TokenRevokeArgs),
}

/// The roles as the command line has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Outputs only
    Outputs,
    /// States, history and locks
    Read,
    /// Taking and releasing locks
    Lock,
    /// Storing states
    Write,
    /// Everything
    Admin,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Outputs => Self::Outputs,
            RoleArg::Read => Self::Read,
            RoleArg::Lock => Self::Lock,
            RoleArg::Write => Self::Write,
            RoleArg::Admin => Self::Admin,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreateArgs {
    /// The name, which logs and the audit log have
    #[arg(value_name = "NAME", value_parser = TokenName::parse)]
    pub(crate) name: TokenName,
    /// What it may do
    #[arg(long, value_name = "ROLE", value_enum)]
    pub(crate) role: RoleArg,
    /// The projects it is for, `*` for any text; may be repeated
    #[arg(long, value_name = "PATTERN", default_value = "*", value_parser = Pattern::parse)]
    pub(crate) project: Vec<Pattern>,
    /// The states in these projects, as `STATE` or `STATE/WORKSPACE`; may be repeated
    #[arg(long, value_name = "PATTERN", default_value = "*", value_parser = Pattern::parse)]
    pub(crate) state: Vec<Pattern>,
    /// Ends it after this time, such as `90d` or `12h`
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) expires: Option<Duration>,
    #[command(flatten)]
    pub(crate) at: ServerStoreArgs,
    /// Prints JSON, the token in it
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenListArgs {
    #[command(flatten)]
    pub(crate) at: ServerStoreArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArgs {
    /// The name of the token, or its id
    #[arg(value_name = "NAME|ID", value_parser = name_or_id)]
    pub(crate) token: String,
    #[command(flatten)]
    pub(crate) at: ServerStoreArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
