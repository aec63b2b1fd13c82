//! The grammar of the command line.

mod change;
mod journal;
mod order;
mod places;
mod pulumi;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use groundstate_statefile::Dialect;
use groundstate_statemgr::WorkspaceName;

use crate::place::workspace_name;

pub(crate) use change::{
    AddressesArgs, ChangeArgs, EditArgs, LockArgs, LockCommandArgs, LocksArgs, MergeErroredArgs, MvArgs,
    PullArgs, PushArgs, RecoverArgs, ReplaceProviderArgs, SalvageArgs, UndoArgs, UnlockArgs,
};

pub(crate) use journal::{EntriesArgs, InspectArgs, JournalArgs, JournalCommand, ReplayArgs, VerifyArgs};

pub(crate) use order::{
    GraphFormat, OrderArgs, OrderBlastArgs, OrderQuestion, OrderWhyArgs, PictureArgs, ProfileArg, RulesArgs,
    SubjectArg,
};

pub(crate) use places::{
    BackendArg, HistoryArgs, MigrateArgs, MigrateLockArgs, RepairDigestArgs, RollbackArgs, WorkspacesArgs,
    WorkspacesCommand, WorkspacesDeleteArgs, WorkspacesListArgs, WorkspacesNewArgs,
};

pub(crate) use pulumi::{
    CryptArgs, DependencyGraphArgs, DependencyGraphFormat, PendingArgs, PendingClearArgs, PendingCommand,
    PendingListArgs, PendingResolveArgs, RepairArgs, RmArgs,
};

const EXIT_CODES: &str = "\
Exit codes:
  0  done, and nothing to report
  1  `check` has findings, `diff` found differences, or `salvage` lost something
  2  the command line or a script is wrong, or asks for something that cannot be
  3  there is no state: a file is missing, empty or unreadable; or a file cannot be written
  4  the input is not a state file
  5  the input is a state file that cannot be used
  6  refused, because something would be lost
  7  no such address or output
  8  somebody else holds the lock
  9  what is stored does not go with the change, or was changed by somebody else meanwhile
Ended by signal N, or running a command that was: 128 + N. `lock` passes the code of its command on.";

const STATE_HELP: &str = "\
STATE is a file, a directory, a URL, or `-` for standard input. What is stored there is found from its content, \
never from its name: a state of Terraform or OpenTofu, or an export or checkpoint of Pulumi, each of any version and possibly \
compressed by gzip. A directory stands for the state that Terraform and OpenTofu use there: that of the \
selected workspace, in the backend that `init` chose. Options of a backend stand in the query of a URL, by Terraform's names.";

/// Reads, checks, compares and changes state of Terraform, OpenTofu and Pulumi, without any of them.
#[derive(Debug, Parser)]
#[command(name = "groundstate", version, max_term_width = 100, after_help = EXIT_CODES)]
#[command(after_long_help = format!("{STATE_HELP}\n\n{EXIT_CODES}"), disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Takes this workspace of a directory or a backend instead of the selected one
    #[arg(long, global = true, value_name = "NAME", value_parser = workspace_name)]
    pub(crate) workspace: Option<WorkspaceName>,
    /// Takes the backend that `.terraform` records although the configuration does not confirm it
    #[arg(long, global = true)]
    pub(crate) trust_directory: bool,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists resource instances, one address a line
    ///
    /// Prints the addresses that `terraform state list` prints, in the same order; of Pulumi, the URNs of all resources in
    /// the order of the file.
    ///
    /// An address of a module stands for everything inside it, one of a resource for all its instances. Matches come
    /// in the order of the addresses. If one of them matches nothing, nothing is listed. Of Pulumi, an address is a URN or a
    /// name.
    List(ListArgs),
    /// Shows resource instances with their attributes
    ///
    /// Shows what the state knows of resource instances, in the manner of `terraform show`, and the outputs. Of Pulumi, all
    /// that it knows of resources, pending operations and the outputs of the stack.
    ///
    /// Values that the state marks as sensitive are hidden. No provider schema is at hand, so attributes that only a
    /// schema calls sensitive are shown. Secrets of Pulumi are shown with `--show-secrets`, if `PULUMI_CONFIG_PASSPHRASE` or
    /// the file that `PULUMI_CONFIG_PASSPHRASE_FILE` names has the passphrase, or somebody at the terminal knows it.
    Show(ShowArgs),
    /// Prints output values
    ///
    /// Prints the outputs of the root module; of Pulumi, those of the stack.
    ///
    /// Sensitive values are hidden in the list of all outputs, and printed if asked for by name or as JSON. Secrets of Pulumi
    /// are hidden everywhere without `--show-secrets`, which needs the passphrase as `show` does.
    Outputs(OutputsArgs),
    /// Rewrites a state of any version in the current one
    ///
    /// Reads a state of any version and writes it in version 4, canonically. What is Pulumi's is written in version 3, or 4 if
    /// it has features, in the envelope that it has.
    ///
    /// `terraform_version` stays that of the last writer. What was left out or changed on the way is listed on standard
    /// error. If something would be lost, nothing is written.
    Upgrade(UpgradeArgs),
    /// Checks states and says what is wrong with them
    ///
    /// Looks for everything that is wrong or risky in states, and says what to do about it.
    Check(CheckArgs),
    /// Compares two states by meaning
    ///
    /// Compares two states: metadata, resources, instances, attributes and outputs.
    ///
    /// Order and layout of the files do not matter. Values that a state marks as sensitive are not shown. Secrets of Pulumi
    /// are the same if they are stored the same; with `--show-secrets` they are compared by their values.
    Diff(DiffArgs),
    /// Draws who needs whom in a state
    ///
    /// Draws the resources of a state with the dependencies that it records, grouped by module, of Pulumi by parent.
    ///
    /// Of Terraform there is a node for each resource, because dependencies are recorded without keys. Of Pulumi there is one
    /// for each copy of a resource; arrows to providers, and to what is deleted or replaced with something, are dashed. What is
    /// named and not there is red.
    Graph(DependencyGraphArgs),
    /// Says in which order things go, what can go at the same time, and why
    ///
    /// Answers questions about order: what goes first, what can go at the same time, why something has to wait, and what
    /// must go along.
    Order(OrderArgs),
    /// Moves resources, instances and modules to other addresses
    ///
    /// Moves a resource, an instance or a module to another address, with everything that belongs to it.
    ///
    /// Of Pulumi, it gives a resource another name: DST is a name, or a URN that differs in nothing else.
    ///
    /// Dependencies that other objects have recorded follow what is moved. A module without a key stands for all its
    /// instances, a resource without a key for its instance without a key, or for all of it.
    #[command(visible_alias = "rename")]
    Mv(MvArgs),
    /// Forgets resources, instances and modules without destroying them
    ///
    /// Forgets what stands at these addresses, of Pulumi URNs or names. The real objects stay as they are, and nobody manages
    /// them any more.
    Rm(RmArgs),
    /// Replaces a provider by another one in all resources that have it
    ReplaceProvider(ReplaceProviderArgs),
    /// Marks resource instances, so that the next apply replaces them
    Taint(AddressesArgs),
    /// Takes back that resource instances are to be replaced
    Untaint(AddressesArgs),
    /// Protects resources of Pulumi, so that nothing deletes them
    Protect(AddressesArgs),
    /// Takes back that resources of Pulumi are protected
    Unprotect(AddressesArgs),
    /// Repairs a deployment of Pulumi that breaks its rules
    ///
    /// Works out a plan after which `check` finds no error: orders resources, drops references that lead nowhere, resolves
    /// duplicate names, unknown providers and circles. Nothing is dropped that no step of the plan names.
    ///
    /// The plan is shown, and carried out with `--yes`. Where it could go another way it has questions, and `--answer` answers
    /// them.
    Repair(RepairArgs),
    /// Deals with operations of Pulumi whose outcome is not known
    Pending(PendingArgs),
    /// Reads journals of Pulumi's snapshots
    ///
    /// Reads journals: entries that say what happened to a deployment, in place of a whole snapshot for each step.
    Journal(JournalArgs),
    /// Encrypts a value by the secrets manager of a stack of Pulumi
    ///
    /// Encrypts what stands on standard input, and prints the ciphertext. In a state a secret is JSON, so a text needs its
    /// quotes; in a configuration it is the text itself. One line break at the end does not count.
    Encrypt(CryptArgs),
    /// Decrypts a value by the secrets manager of a stack of Pulumi
    ///
    /// Decrypts the ciphertext that stands on standard input, and prints what it says, without a line break.
    Decrypt(CryptArgs),
    /// Makes many changes from a script, under one lock and in one write
    ///
    /// Makes the changes of a script: all of them or, if one is refused, none. They are made under one lock and
    /// written at once.
    ///
    /// A line is `mv FROM TO`, `rm ADDR…`, `replace-provider FROM TO`, `taint ADDR…` or `untaint ADDR…`; `#` begins a
    /// comment. `*` and `**` in an address match, and `$1`, `$2` … in a destination stand for what they matched.
    Edit(EditArgs),
    /// Brings the state back to the last backup, under a new serial
    ///
    /// Stores the content of the last backup once more, under a serial higher than all before it, so that everybody
    /// takes it for the newest state. The state that is replaced is kept beside it with `.undone` after its name.
    ///
    /// Pulumi's states have no serials: of those the deployment comes back, and the configuration of a checkpoint stays.
    Undo(UndoArgs),
    /// Prints the stored state in the current format
    Pull(PullArgs),
    /// Stores a state file in place of the stored state
    ///
    /// Stores a state file, if it continues what is stored: the same lineage, and a serial that is not lower.
    Push(PushArgs),
    /// Reads what can be read of a truncated or damaged state
    ///
    /// Reads what can be read of a truncated or damaged state, prints a new state with it, and lists what was lost.
    ///
    /// Nothing is invented: every object of the new state stands whole in the damaged one.
    Salvage(SalvageArgs),
    /// Merges what an apply could not store into the stored state
    ///
    /// Merges `errored.tfstate`, which Terraform leaves where it cannot store a state, into the stored state.
    ///
    /// Whatever only one side changed since both parted is taken over. Where both changed the same thing, nothing is
    /// merged, and all such things are listed.
    MergeErrored(MergeErroredArgs),
    /// Stores what an interrupted run has journaled beside a state
    ///
    /// A run that journals its changes makes each of them durable beside the state, and stores the state when it ends. If it is
    /// interrupted, the next command that takes the lock stores them; this one does nothing else.
    ///
    /// If somebody else has written the state in between, nothing is stored: `--export` shows what the journal leads to, and
    /// `--discard` removes it.
    Recover(RecoverArgs),
    /// Holds the lock of a state while a command runs
    ///
    /// Takes the lock, runs COMMAND, and releases the lock when it has ended. The exit code is that of COMMAND.
    ///
    /// SIGTERM and SIGHUP are passed on to COMMAND, SIGINT as well unless the terminal has sent it to both. The lock is
    /// held until COMMAND has ended. Terraform inside COMMAND needs `-lock=false`.
    Lock(LockCommandArgs),
    /// Releases the lock that somebody else holds
    ///
    /// Releases a lock whose holder is gone. The lock of a state in a file ends with the process that holds it, so
    /// there it is told which one that is.
    Unlock(UnlockArgs),
    /// Shows who holds the locks of states
    Locks(LocksArgs),
    /// Lists, makes and deletes the workspaces of a place
    Workspaces(WorkspacesArgs),
    /// Copies states to another place, with lineage and serial
    ///
    /// Copies states from one place to another, each under the locks of both sides. Lineage and serial stay, and so does every
    /// byte, unless what is overwritten has a serial that is not lower: then the copy gets a higher one.
    ///
    /// What is copied is read back and compared. A receipt is written after each state. If the command is interrupted, the
    /// same command goes on where it was: what has arrived already is passed over. FROM stays as it is.
    Migrate(MigrateArgs),
    /// Moves the locks of states in S3 from a table of DynamoDB to objects
    ///
    /// Takes both locks of each state, makes sure that the digest in the table is that of the state, takes the digest out of the
    /// table, and releases both. Nothing of the state is left in the table then.
    ///
    /// PLACE is configured with its table still (`dynamodb_table`). While some of a team use only the table, set `use_lockfile`
    /// as well and keep both, until everybody has it.
    MigrateLock(MigrateLockArgs),
    /// Makes the digest of a state in a table of DynamoDB that of the state
    ///
    /// Terraform refuses to read a state whose digest is another one. That happens when the digest could not be written, or when
    /// somebody has changed the object by other means. Be sure that the stored state is the right one before.
    RepairDigest(RepairDigestArgs),
    /// Lists the earlier snapshots of a state, the newest first
    ///
    /// Lists the snapshots that a place keeps of a state, the newest first. `show --at`, `diff --at` and `rollback --to` take
    /// their ids.
    History(HistoryArgs),
    /// Brings an earlier snapshot back, under a new serial
    ///
    /// Stores an earlier snapshot once more, under a serial higher than all before it, so that everybody takes it for the newest
    /// state. What it replaces stays in the history.
    Rollback(RollbackArgs),
    /// Prints the version, and the formats it reads and writes
    Version(VersionArgs),
    /// Prints a completion script for a shell
    Completions(CompletionsArgs),
    /// Prints the manual page
    Man,
}

/// The state to read.
#[derive(Clone, Debug, Args)]
pub(crate) struct StateArg {
    /// State to read: a file, a directory, a URL such as `s3://bucket/key`, or `-` for standard input
    #[arg(value_name = "STATE")]
    pub(crate) state: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// Modules, resources or instances to list, of Pulumi URNs or names; all if there are none
    #[arg(value_name = "ADDR")]
    pub(crate) addresses: Vec<String>,
    /// Lists only instances whose current object has this `id` attribute, of Pulumi resources with this identifier
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// Shows the snapshot of this id in the history
    #[arg(long, value_name = "ID")]
    pub(crate) at: Option<String>,
    /// A module, resource or instance to show, of Pulumi a URN or name; the whole state if there is none
    #[arg(value_name = "ADDR")]
    pub(crate) address: Option<String>,
    /// Prints JSON, of Terraform in the form of `terraform show -json`
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows sensitive values. Those of Pulumi need the passphrase of the stack
    #[arg(long, visible_alias = "show-secrets")]
    pub(crate) reveal: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutputsArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// The output to print; all if there is none
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Prints JSON in the form of `terraform output -json`, or of `pulumi stack output --json`
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
    /// Prints a string, number or bool as it is, without a line break
    #[arg(long, requires = "name")]
    pub(crate) raw: bool,
    /// Shows sensitive values. Those of Pulumi need the passphrase of the stack
    #[arg(long, visible_alias = "show-secrets")]
    pub(crate) reveal: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    #[command(flatten)]
    pub(crate) state: StateArg,
    /// Replaces this file, all at once; standard output if there is none, or with `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Writes in the manner of this product; the one whose manner the file has if there is none
    #[arg(long, value_enum, value_name = "PRODUCT")]
    pub(crate) dialect: Option<DialectArg>,
    /// Writes although something is lost, and lists what
    #[arg(long)]
    pub(crate) lossy: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// States to check: files, directories, URLs, or `-` for standard input
    #[arg(value_name = "STATE", required = true)]
    pub(crate) states: Vec<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// State to compare from: a file, a directory, a URL such as `s3://bucket/key`, or `-` for standard input
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// State to compare to; with `--at`, A as it is now
    #[arg(value_name = "B", required_unless_present = "at")]
    pub(crate) after: Option<PathBuf>,
    /// Compares from the snapshot of A of this id in the history; a second one is what it is compared to
    #[arg(long, value_name = "ID", conflicts_with = "after")]
    pub(crate) at: Vec<String>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows sensitive values. Those of Pulumi need the passphrase of the stack
    #[arg(long, visible_alias = "show-secrets")]
    pub(crate) reveal: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to print for
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
