//! Arguments of the commands that look at states.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use groundstate_common::Severity;
use groundstate_statefile::Dialect;

/// The state to read.
#[derive(Clone, Debug, Args)]
pub(crate) struct StateArg {
    /// State to read: a file, a directory, a URL such as `s3://bucket/key`, or `-` for standard input
    #[arg(value_name = "STATE", default_value = ".")]
    pub(crate) state: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// Modules, resources or instances to list, for Pulumi URNs or names; all if missing
    #[arg(value_name = "ADDR")]
    pub(crate) addresses: Vec<String>,
    /// Lists only instances whose current object has this `id` attribute, for Pulumi resources with this identifier
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// For Terraform: lists deposed objects too, as `ADDR (deposed KEY)`
    #[arg(long)]
    pub(crate) deposed: bool,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// Shows the snapshot with this id in the history
    #[arg(long, value_name = "ID")]
    pub(crate) at: Option<String>,
    /// Module, resource, instance or `ADDR (deposed KEY)` to show, for Pulumi a URN or name; the whole state if missing
    #[arg(value_name = "ADDR")]
    pub(crate) address: Option<String>,
    /// Prints JSON, for Terraform in the form of `terraform show -json`
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows sensitive values; Pulumi secrets need the passphrase or the key service of the stack
    #[arg(long, visible_alias = "show-secrets")]
    pub(crate) reveal: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutputsArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// The output to print; all if missing
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Prints JSON in the form of `terraform output -json`, or of `pulumi stack output --json`
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
    /// Prints a string, number or bool without quotes and line break
    #[arg(long, requires = "name")]
    pub(crate) raw: bool,
    /// Shows sensitive values; Pulumi secrets need the passphrase or the key service of the stack
    #[arg(long, visible_alias = "show-secrets")]
    pub(crate) reveal: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// Writes this file, all at once; standard output if missing, or with `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Writes as this product does; as the product that wrote the file if missing
    #[arg(long, value_enum, value_name = "PRODUCT")]
    pub(crate) dialect: Option<DialectArg>,
    /// Writes even if something is lost, and lists what
    #[arg(long)]
    pub(crate) lossy: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// States to check: files, directories, URLs, or `-` for standard input
    #[arg(value_name = "STATE", default_value = ".")]
    pub(crate) states: Vec<PathBuf>,
    /// Ends with code 1 for findings of this severity and above
    #[arg(long, value_enum, value_name = "SEVERITY", default_value = "warning")]
    pub(crate) fail_on: SeverityArg,
    /// Ignores findings of this code; may be repeated. `.groundstate-ignore` in the repository names more
    #[arg(long = "ignore", value_name = "CODE", value_parser = code)]
    pub(crate) ignored: Vec<String>,
    /// The output format
    #[arg(short, long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: CheckFormat,
    /// Prints JSON; the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// From which severity on findings fail a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeverityArg {
    /// The state cannot be used as it is
    Error,
    /// Something will go wrong, or be lost, in circumstances that are not unusual
    Warning,
    /// Worth knowing; nothing has to be done
    Info,
}

impl From<SeverityArg> for Severity {
    fn from(arg: SeverityArg) -> Self {
        match arg {
            SeverityArg::Error => Self::Error,
            SeverityArg::Warning => Self::Warning,
            SeverityArg::Info => Self::Info,
        }
    }
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Each finding with the line it is about
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for test reports
    Junit,
}

/// Reads the code of a finding, in upper or lower case.
pub(crate) fn code(text: &str) -> Result<String, String> {
    let code = text.to_ascii_uppercase();
    let is_code = code
        .strip_prefix("GS")
        .is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_code { Ok(code) } else { Err("expected a code such as GS0031".to_owned()) }
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// State to compare from: a file, a directory, a URL such as `s3://bucket/key`, or `-` for standard input
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// State to compare to; with `--at`, A as it is now
    #[arg(value_name = "B", required_unless_present = "at")]
    pub(crate) after: Option<PathBuf>,
    /// Compares from the snapshot of A with this id in the history; a second `--at` is what it is compared to
    #[arg(long, value_name = "ID", conflicts_with = "after")]
    pub(crate) at: Vec<String>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows sensitive values; Pulumi secrets need the passphrase or the key service of the stack
    #[arg(long, visible_alias = "show-secrets")]
    pub(crate) reveal: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// The command to explain; all commands if missing
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// A product whose manner of writing can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArg {
    /// HashiCorp Terraform
    Terraform,
    /// OpenTofu
    Opentofu,
}

impl From<DialectArg> for Dialect {
    fn from(arg: DialectArg) -> Self {
        match arg {
            DialectArg::Terraform => Self::Terraform,
            DialectArg::Opentofu => Self::OpenTofu,
        }
    }
}
