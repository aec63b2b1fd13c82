//! Arguments of `groundstate encryption`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use groundstate_encryption::Target;

use super::change::LockArgs;

#[derive(Debug, Args)]
pub(crate) struct EncryptionArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: EncryptionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EncryptionCommand {
    /// Shows which states are encrypted, with which keys
    ///
    /// Shows for each state whether it is encrypted, the key providers, and the serial. With keys it also shows the method, and
    /// whether the next write changes it: the primary method, or a fallback. Without keys it shows what the envelope says, which
    /// nothing authenticates.
    ///
    /// The configuration is that of the directory; `TF_ENCRYPTION` is merged over it, and `--encryption FILE` over both.
    Status(EncryptionStatusArgs),
    /// Encrypts states that are in the clear
    ///
    /// Encrypts states with the primary method, each under its lock. What is written is decrypted once more before, with
    /// keys that are asked for anew, and read back afterwards. No copy of the plain state is kept.
    ///
    /// States that are encrypted already stay as they are, so that the same command goes on where it was stopped.
    Encrypt(EncryptionChangeArgs),
    /// Writes encrypted states in the clear
    ///
    /// Writes encrypted states in the clear, each under its lock. The configuration has to have a method of the type
    /// `unencrypted`, without which OpenTofu could not read them.
    ///
    /// With `--target` it decrypts a plan, or a state of another configuration, into another file, and changes nothing in
    /// its place. The keys of a plan are those of its folder, and those of another configuration's state are those of the
    /// present directory.
    Decrypt(EncryptionDecryptArgs),
    /// Re-encrypts states that the primary method has not encrypted
    ///
    /// Encrypts states with the primary method that a fallback has encrypted, or that are in the clear, each under its lock.
    /// What is written is decrypted once more before, with keys that are asked for anew, and read back afterwards.
    ///
    /// States that the primary method has encrypted stay as they are, so that the same command goes on where it was stopped.
    /// `--renew` gives them a new key too.
    Rotate(EncryptionRotateArgs),
}

/// The states that are meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct StatesArg {
    /// States: files, directories, or URLs such as `s3://bucket/key`
    #[arg(value_name = "STATE")]
    pub(crate) states: Vec<PathBuf>,
    /// Takes the states of all workspaces of each directory or backend
    #[arg(long)]
    pub(crate) all_workspaces: bool,
    /// Takes further states from this file, one a line, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) list: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EncryptionStatusArgs {
    #[command(flatten)]
    pub(crate) states: StatesArg,
}

#[derive(Debug, Args)]
pub(crate) struct EncryptionChangeArgs {
    #[command(flatten)]
    pub(crate) states: StatesArg,
    /// Does everything but write
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EncryptionDecryptArgs {
    #[command(flatten)]
    pub(crate) change: EncryptionChangeArgs,
    /// Takes STATE for what this block encrypts: `plan`, or `remote_state_data_sources.NAME` for a state that the data source
    /// `terraform_remote_state.NAME` reads
    #[arg(long, value_name = "BLOCK", value_parser = target, requires = "output", conflicts_with_all = ["all_workspaces", "list", "json", "dry_run"])]
    pub(crate) target: Option<Target>,
    /// Writes what `--target` names into this file, or to standard output with `-`
    #[arg(long, short, value_name = "FILE", requires = "target")]
    pub(crate) output: Option<PathBuf>,
}

fn target(text: &str) -> Result<Target, String> {
    match text.strip_prefix("remote_state_data_sources.") {
        Some(name) if !name.is_empty() => Ok(Target::RemoteState(name.to_owned())),
        _ if text == "plan" => Ok(Target::Plan),
        _ => Err("it has to be `plan` or `remote_state_data_sources.NAME`".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct EncryptionRotateArgs {
    #[command(flatten)]
    pub(crate) change: EncryptionChangeArgs,
    /// Gives a new key also to states that the primary method has already encrypted
    #[arg(long)]
    pub(crate) renew: bool,
}
