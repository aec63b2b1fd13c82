//! Arguments of `groundstate token`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use groundstate_server::auth::{Pattern, Role, TokenName, name_or_id};

use super::change::age;
use super::serve::ServerArgs;

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
    /// A server accepts it at once. While there is no token, clients on the machine of the server need none; from the first one on every
    /// client needs one.
    Create(TokenCreateArgs),
    /// Lists the tokens, also those that have ended
    ///
    /// Lists tokens by id and name, with their status, what they are for, when they expire, and the day of their last use. No token is
    /// shown.
    List(TokenListArgs),
    /// Revokes a token
    ///
    /// Revokes the token of this name or id. A server that has just seen it accepts it for up to 30 seconds longer.
    Revoke(TokenRevokeArgs),
}

/// The roles as the command line has them. Each has what those before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Reads outputs
    Outputs,
    /// And reads states, their history, and locks
    Read,
    /// And takes and releases locks: `terraform plan`
    Lock,
    /// And stores states: `terraform apply`
    Write,
    /// And ends locks of other holders, and deletes states
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
    /// The name that lists and the audit log show: letters, digits and `-_.@`
    #[arg(value_name = "NAME", value_parser = TokenName::parse)]
    pub(crate) name: TokenName,
    /// What the token may do
    #[arg(long, value_name = "ROLE", value_enum)]
    pub(crate) role: RoleArg,
    /// The projects that it is for, for Pulumi the organisations; `*` for any text; may be given several times
    #[arg(long, value_name = "PATTERN", default_value = "*", value_parser = Pattern::parse)]
    pub(crate) project: Vec<Pattern>,
    /// The states in these projects, as `STATE` or `STATE/WORKSPACE`, for Pulumi `PROJECT/STACK`; may be given several times
    #[arg(long, value_name = "PATTERN", default_value = "*", value_parser = Pattern::parse)]
    pub(crate) state: Vec<Pattern>,
    /// Ends the token after this time, such as `90d` or `12h`; never if missing
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) expires: Option<Duration>,
    /// Makes a new store where there is none, as `serve --init` does
    #[arg(long)]
    pub(crate) init: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Prints JSON, with the token in it
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenListArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArgs {
    /// The name of the token, or its id
    #[arg(value_name = "TOKEN", value_parser = name_or_id)]
    pub(crate) token: String,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
