//! The command line: global options, and the commands.

use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use groundstate_statemgr::WorkspaceName;

#[cfg(feature = "server")]
use super::audit::AuditArgs;
use super::change::{
    EditArgs, LockCommandArgs, LocksArgs, LogArgs, MergeErroredArgs, MvArgs, PullArgs, PushArgs, RecoverArgs,
    ReplaceProviderArgs, SalvageArgs, SplitArgs, UndoArgs, UnlockArgs,
};
use super::encryption::EncryptionArgs;
use super::journal::JournalArgs;
use super::look::{
    CheckArgs, CompletionsArgs, DiffArgs, HelpArgs, ListArgs, OutputsArgs, ShowArgs, UpgradeArgs, VersionArgs,
};
use super::order::OrderArgs;
use super::places::{
    HistoryArgs, MigrateArgs, MigrateLockArgs, RepairDigestArgs, RollbackArgs, WorkspacesArgs,
    variable_value, workspace_name,
};
use super::pulumi::{
    ChangeSecretsProviderArgs, CryptArgs, DependencyGraphArgs, FlagArgs, PendingArgs, RepairArgs, RmArgs,
};
#[cfg(feature = "server")]
use super::serve::ServeArgs;
use super::stacks::StacksArgs;
#[cfg(feature = "server")]
use super::store::StoreArgs;
#[cfg(feature = "server")]
use super::token::TokenArgs;

const EXIT_CODES: &str = "\
Exit codes:
  0  done, and nothing to report
  1  `check` has findings of the severity of `--fail-on`, `diff` has differences, `repair` has a
     plan, `salvage` lost something, `journal verify` or `audit` finds damage, or `history` or
     `stacks` leaves out what it cannot read
  2  the command line or a script is wrong, or asks for something impossible
  3  there is no state: a file is missing or empty, or nothing is stored in the place
  4  the input is not a state file
  5  the input is a state file that cannot be used
  6  refused, because something would be lost
  7  no such address, output, lock or token
  8  another process holds the lock
  9  the change does not fit what is stored, or another process has changed the state meanwhile
 10  done, but the lock was lost meanwhile, or could not be released
 11  denied: credentials are missing or refused, or a file may not be read or written
 12  unreachable: a place does not answer, or cannot be read or written at the moment
128 + N if signal N ended the command. `lock` ends with the code of the command that it runs.";

const STATE_HELP: &str = "\
STATE is a file, a directory, a URL, or `-` for standard input. Its content decides what it is, never its name: \
a Terraform or OpenTofu state, or a Pulumi export or checkpoint, of any version, compressed by gzip or not. \
A directory stands for the state that Terraform and OpenTofu use there: that of the \
selected workspace, in the backend that `init` chose. The query of a URL holds options of the backend, by Terraform's names.";

/// Reads, checks, compares and changes the state of Terraform, OpenTofu and Pulumi, without running any of them
#[derive(Debug, Parser)]
#[command(name = "groundstate", version, max_term_width = 100, after_help = EXIT_CODES)]
#[command(after_long_help = format!("{STATE_HELP}\n\n{EXIT_CODES}"), disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Uses this workspace of a directory or a backend instead of the selected one
    #[arg(long, global = true, value_name = "NAME", value_parser = workspace_name)]
    pub(crate) workspace: Option<WorkspaceName>,
    /// Uses this stack of a Pulumi project instead of the selected one
    #[arg(long, global = true, value_name = "STACK")]
    pub(crate) stack: Option<String>,
    /// Accepts the backend that `.terraform` records even if the configuration does not confirm it, programs and key services that the
    /// directory names for its encryption, values of its variables in your own encryption configuration, and addresses and credentials
    /// that a Pulumi state or a stack configuration names for its key service
    #[arg(long, global = true)]
    pub(crate) trust_directory: bool,
    /// Sets a variable of the configuration, for expressions in `backend` and `encryption` blocks; counts more than `--var-file`
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = variable_value)]
    pub(crate) var: Vec<(String, String)>,
    /// Sets variables of the configuration from this file; counts more than the files of the directory
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) var_file: Vec<std::path::PathBuf>,
    /// Encrypts and decrypts states as this file says: the inside of an `encryption` block of OpenTofu, or a file with such a block
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) encryption: Option<std::path::PathBuf>,
    /// Shows each operation on a store on standard error; twice, each request as well
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Shows operations on stores as `text`, or as `json`: one object a line; implies `-v`
    #[arg(long, global = true, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) log_format: Option<LogFormat>,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists resource instances, one address a line
    ///
    /// Prints the addresses that `terraform state list` prints, in the same order; for Pulumi, the URNs of all resources in
    /// the order of the file.
    ///
    /// The address of a module stands for everything inside it, that of a resource for all its instances. Matches are
    /// printed in the order of the addresses. If an address matches nothing, nothing is listed. A Pulumi address is a URN or
    /// a name.
    List(ListArgs),
    /// Shows resource instances with their attributes
    ///
    /// Shows resource instances as `terraform show` does, and the outputs. For Pulumi, shows resources, pending operations
    /// and the outputs of the stack.
    ///
    /// Values that the state marks as sensitive are hidden. No provider schema is at hand, so attributes that only a
    /// schema marks as sensitive are shown. `--show-secrets` shows Pulumi secrets; the passphrase comes from
    /// `PULUMI_CONFIG_PASSPHRASE`, from the file that `PULUMI_CONFIG_PASSPHRASE_FILE` names, or from a prompt on the
    /// terminal, and keys of services come with the credentials of their clouds.
    ///
    /// A state that OpenTofu has encrypted is decrypted with the keys that its directory, `TF_ENCRYPTION` or `--encryption
    /// FILE` names.
    Show(ShowArgs),
    /// Prints output values
    ///
    /// Prints the outputs of the root module, or of the Pulumi stack.
    ///
    /// The list of all outputs hides sensitive values; an output asked for by name, and JSON, show them. Pulumi secrets are
    /// hidden everywhere without `--show-secrets`, which needs the keys as `show` does.
    Outputs(OutputsArgs),
    /// Rewrites a state of any version in the current format
    ///
    /// Reads a state of any version and writes it in version 4, canonically. A Pulumi deployment is written in version 3, or
    /// in 4 if it has features, in the envelope that it has.
    ///
    /// `terraform_version` stays that of the last writer. Standard error lists what was left out or changed. If something
    /// would be lost, nothing is written.
    Upgrade(UpgradeArgs),
    /// Checks states for errors and risks
    ///
    /// Looks for everything that is wrong or risky in states, and says what to do about it.
    Check(CheckArgs),
    /// Compares two states by meaning
    ///
    /// Compares two states: metadata, resources, instances, attributes and outputs.
    ///
    /// Order and layout of the files do not matter. Values that a state marks as sensitive are not shown. Pulumi secrets
    /// are equal if their stored text is equal; `--show-secrets` compares their values.
    Diff(DiffArgs),
    /// Draws the dependency graph of a state
    ///
    /// Draws the resources of a state with the dependencies that it records, grouped by module, or by parent for Pulumi.
    ///
    /// Terraform records dependencies without keys, so each resource is one node. For Pulumi each copy of a resource is a
    /// node; dashed arrows lead to providers, and to resources that are deleted or replaced together. Missing resources are
    /// red.
    Graph(DependencyGraphArgs),
    /// Shows the order of operations, what can run in parallel, and why
    ///
    /// Answers questions about order: what comes first, what can run in parallel, why an operation waits, and what must be
    /// destroyed along with an instance.
    Order(OrderArgs),
    /// Moves resources, instances and modules to other addresses
    ///
    /// Moves a resource, an instance or a module to another address, with everything that belongs to it.
    ///
    /// For Pulumi, renames a resource: DST is a name, or a URN that differs in nothing but its name.
    ///
    /// Dependencies that other objects have recorded follow. A module without a key stands for all its instances, a resource
    /// without a key for its instance without a key, or for all its instances.
    ///
    /// With `--to` it moves to another state: both are locked, and the other is written first. If the command is
    /// killed in between, both have it; run the same command again to complete the move. Dependencies on what is in the
    /// other state then are forgotten.
    ///
    /// To another Pulumi stack a resource moves with everything below it, its providers are copied, and its secrets are
    /// encrypted with the keys of that stack. SRC may have `*` and `**` then.
    #[command(visible_alias = "rename")]
    Mv(MvArgs),
    /// Moves what matches patterns from a state to another one
    ///
    /// Moves all modules, resources and instances that match to another state, with their addresses, as `mv --to` does.
    ///
    /// `*` in a pattern matches any part of a name or a key, and `**` in front of a resource any modules. An address that the
    /// state has means itself; `glob:` in front makes a pattern of it.
    Split(SplitArgs),
    /// Removes resources, instances and modules from a state, without destroying them
    ///
    /// Removes what these addresses name from the state; for Pulumi, URNs or names. The real objects stay as they are, and
    /// nothing manages them any more.
    ///
    /// `ADDR (deposed KEY)`, as `list --deposed` and `show` print it, is one deposed object: the current one of the instance
    /// stays.
    Rm(RmArgs),
    /// Replaces a provider in all resources that use it
    ReplaceProvider(ReplaceProviderArgs),
    /// Marks resource instances for replacement by the next apply
    Taint(FlagArgs),
    /// Removes the replacement mark of resource instances
    Untaint(FlagArgs),
    /// Protects Pulumi resources from deletion
    Protect(FlagArgs),
    /// Removes the protection of Pulumi resources
    Unprotect(FlagArgs),
    /// Repairs a state that breaks its rules
    ///
    /// Makes a plan after which `check` finds no error. Nothing is dropped that no step of the plan names.
    ///
    /// Of a Pulumi deployment, it reorders resources, drops references to missing resources, and resolves duplicate names,
    /// unknown providers and cycles. Of a Terraform state, it chooses between objects of one instance, drops dependencies on
    /// missing resources, breaks cycles, and mends the serial and the lineage.
    ///
    /// The plan is shown, and carried out with `--yes`. Where a step has alternatives, the plan asks a question, and
    /// `--answer` answers it.
    Repair(RepairArgs),
    /// Lists, resolves or clears pending operations of a Pulumi stack
    Pending(PendingArgs),
    /// Reads, checks and compacts Pulumi journals
    ///
    /// Reads journals: entries that record what happened to a deployment, instead of a whole snapshot for each step.
    Journal(JournalArgs),
    /// Encrypts a value with the secrets manager of a Pulumi stack
    ///
    /// Encrypts standard input, and prints the ciphertext. A secret in a state is JSON, so a text needs its quotes; in a
    /// configuration it is the text itself. One line break at the end does not count.
    Encrypt(CryptArgs),
    /// Decrypts a value with the secrets manager of a Pulumi stack
    ///
    /// Decrypts the ciphertext on standard input, and prints the value without a line break.
    Decrypt(CryptArgs),
    /// Encrypts a Pulumi stack and its configuration with another secrets provider
    ///
    /// Encrypts all secrets of a stack with a new key, those of its state and those of its configuration file `Pulumi.STACK.yaml`.
    /// PROVIDER is `passphrase`, or the URL of a key: `awskms://`, `azurekeyvault://`, `gcpkms://`, `hashivault://`. The same provider
    /// again renews the data key, or asks for a new passphrase.
    ///
    /// Everything is decrypted before anything is encrypted, and what is written is opened once more with the new key. The
    /// state is written first, then the configuration; if the command is killed in between, `pulumi` still reads both; run
    /// the same command again to complete the change.
    ///
    /// The old passphrase comes from where `pulumi` has it. A new one in place of another comes from
    /// `--new-passphrase-file`, a prompt, or a line of standard input.
    ChangeSecretsProvider(ChangeSecretsProviderArgs),
    /// Makes many changes from a script, under one lock and in one write
    ///
    /// Makes all changes of a script or, if one is refused, none. They are made under one lock and written at once.
    ///
    /// A line is `mv FROM TO`, `rm ADDR…`, `rm-dependency ADDR DEPENDENCY`, `rm-identity ADDR…`, `replace-provider FROM TO`,
    /// `taint ADDR…` or `untaint ADDR…`; `#` begins a comment. `*` and `**` in an address match, and `$1`, `$2` … in a
    /// destination stand for what they matched.
    ///
    /// An address that the state has means itself, whatever stars are in its keys. If it also matches others as a pattern, the
    /// script is refused: `\*` is a star, and `glob:` in front makes a pattern of any address. `rm-identity` removes the
    /// recorded identity of objects, which another release of a provider may not be able to read.
    Edit(EditArgs),
    /// Restores the state before the last change under a new serial
    ///
    /// Stores the backup of the last change under a serial higher than all before it, so that every client takes it for the
    /// newest state. The replaced state becomes a backup too. Run again, the command goes back by one more change; `--to N`
    /// restores any backup, also what an undo replaced.
    ///
    /// Where the place keeps all states (the option `history`, a Pulumi service), the state before comes from there. A move
    /// between two states goes back in both of them, or in neither.
    ///
    /// Pulumi states have no serial: the deployment is restored, and the configuration of a checkpoint stays. Of a stack in a
    /// Pulumi backend that another program has saved since, restores the `.bak` file. The replaced state becomes the new
    /// `.bak`.
    Undo(UndoArgs),
    /// Lists what this command has done to states on this machine, newest first
    ///
    /// Lists the operations that this command has carried out on this machine, newest first, each with the states that it changed
    /// and the backups that it kept. Only operations of this user are in the log.
    Log(LogArgs),
    /// Prints the stored state in the current format
    ///
    /// Prints the stored state in the current format. Of a Pulumi stack, prints the deployment as `pulumi stack export` does,
    /// secrets encrypted.
    Pull(PullArgs),
    /// Stores a state file in place of the stored state
    ///
    /// Stores a state file if it continues what is stored: the same lineage, and a serial that is not lower.
    ///
    /// Of a Pulumi stack, stores an exported deployment as `pulumi stack import` does: resources of another stack are refused,
    /// and pending operations are removed, each with a warning. Members that are not understood stay.
    Push(PushArgs),
    /// Recovers what is readable of a truncated or damaged state
    ///
    /// Reads what can be read of a truncated or damaged state, prints a new state with it, and lists what was lost.
    ///
    /// Nothing is invented: every object of the new state is complete in the damaged one.
    Salvage(SalvageArgs),
    /// Merges what an apply could not store into the stored state
    ///
    /// Merges `errored.tfstate`, which Terraform leaves where it cannot store a state, into the stored state.
    ///
    /// What only one side has changed since both parted is taken over. Where both changed the same thing, nothing is
    /// merged, and all conflicts are listed.
    MergeErrored(MergeErroredArgs),
    /// Stores what an interrupted run has journaled beside a state
    ///
    /// A run that journals its changes makes each of them durable beside the state, and stores the state when it ends. If it is
    /// interrupted, the next command that takes the lock stores them; this command does nothing else.
    ///
    /// If another process has written the state in between, nothing is stored: `--export` writes the state that the journal
    /// leads to, and `--discard` removes the journal.
    ///
    /// Of a Pulumi stack, saves what an update of groundstate did before it was killed. Other commands refuse to replace the
    /// state until then.
    Recover(RecoverArgs),
    /// Holds the lock of a state while a command runs
    ///
    /// Takes the lock, runs COMMAND, and releases the lock when COMMAND has ended. The exit code is that of COMMAND.
    ///
    /// SIGTERM and SIGHUP are passed on to COMMAND, SIGINT as well unless the terminal has sent it to both. The lock is
    /// held until COMMAND has ended. Terraform inside COMMAND needs `-lock=false`.
    Lock(LockCommandArgs),
    /// Releases a lock whose holder is gone
    ///
    /// Releases a lock whose holder is gone. The lock of a state in a file ends with the process that holds it, so for files
    /// the command names that process.
    ///
    /// For a Pulumi stack, `--force` removes the lease and every lock, including unreadable ones and those that a killed
    /// `pulumi stack init` left for a stack that does not exist. It does not stop a process that still runs.
    Unlock(UnlockArgs),
    /// Shows who holds the locks of states
    Locks(LocksArgs),
    /// Lists, creates and deletes workspaces
    Workspaces(WorkspacesArgs),
    /// Lists, creates, removes and tags stacks of a Pulumi backend
    Stacks(StacksArgs),
    /// Copies states to another place, with lineage and serial
    ///
    /// Copies states from one place to another, each under the locks of both sides. Lineage, serial and bytes stay the same,
    /// unless the overwritten state has a serial that is not lower: then the copy gets a higher one. A state that gzip has
    /// compressed is decompressed, because Terraform cannot read it otherwise.
    ///
    /// Each copy is read back and compared, and a receipt is written after it. If the command is interrupted, the same
    /// command continues and skips what has arrived. FROM stays as it is.
    Migrate(MigrateArgs),
    /// Shows which states are encrypted, and encrypts, decrypts and rotates them
    ///
    /// Shows which states OpenTofu's encryption has encrypted, encrypts them, decrypts them, and gives them new keys. The
    /// configuration is that of the directory; `TF_ENCRYPTION` is merged over it, and `--encryption FILE` over both.
    Encryption(EncryptionArgs),
    /// Moves state locks in S3 from a DynamoDB table to objects
    ///
    /// Takes both locks of each state, checks that the digest in the table matches the state, removes the digest, and releases
    /// both locks. The table then holds nothing of the state.
    ///
    /// PLACE still has its table in its configuration (`dynamodb_table`). While some of a team use only the table, set
    /// `use_lockfile` as well and keep both until everyone has it.
    MigrateLock(MigrateLockArgs),
    /// Sets the digest in a DynamoDB table to that of the stored state
    ///
    /// Terraform refuses to read a state whose digest differs. That happens when the digest could not be written, or when the
    /// object was changed by other means. Make sure first that the stored state is the right one.
    RepairDigest(RepairDigestArgs),
    /// Lists the earlier snapshots of a state, newest first
    ///
    /// Lists the snapshots that a place keeps of a state, newest first. `show --at`, `diff --at` and `rollback --to` take
    /// their ids.
    ///
    /// Of a Pulumi stack, lists a page of its updates, newest first, and of the other copies of its state: what the last save
    /// replaced (`bak`), backups and retained checkpoints. Only the entries of the page are read; one that is damaged is
    /// flagged, and the code is 1.
    History(HistoryArgs),
    /// Restores an earlier snapshot under a new serial
    ///
    /// Stores an earlier snapshot under a serial higher than all before it, so that every client takes it for the newest
    /// state. The replaced state stays in the history.
    ///
    /// Of a Pulumi stack, restores any copy of its state, also over a state that is damaged. The replaced state is `.bak`
    /// then. A stack that was removed comes back.
    Rollback(RollbackArgs),
    /// Runs the state server
    ///
    /// Serves the `http` backend of Terraform and OpenTofu: states with all their versions, locks that survive a restart, tokens,
    /// roles, an audit log.
    ///
    /// It listens on this machine only, unless it has TLS and asks clients who they are. `docs/deployment.md` has every option, and
    /// what belongs to a server: systemd, reverse proxies, backup, metrics. `-v` shows each request.
    ///
    /// SIGTERM and SIGINT let the requests that have begun finish, and a second one ends the server at once. SIGHUP reads
    /// the configuration and the certificates again.
    #[cfg(feature = "server")]
    Serve(ServeArgs),
    /// Creates, lists and revokes the tokens of a server
    ///
    /// Creates, lists and revokes tokens in the store of a server, while servers run or not. Each change is in the audit log.
    #[cfg(feature = "server")]
    Token(TokenArgs),
    /// Shows and verifies the audit log of a server
    ///
    /// Shows and verifies the audit log in the store of a server, while servers run or not. Nothing is written.
    #[cfg(feature = "server")]
    Audit(AuditArgs),
    /// Checks and repairs the store of a server
    ///
    /// Compares what a server has stored with its checksums, and makes heads of documents anew that are damaged or missing.
    #[cfg(feature = "server")]
    Store(StoreArgs),
    /// Prints this help, or that of a command
    Help(HelpArgs),
    /// Prints the version, and the formats it reads and writes
    Version(VersionArgs),
    /// Prints a completion script for a shell
    Completions(CompletionsArgs),
    /// Prints the manual page
    Man,
}

impl Command {
    /// Whether it runs until it is told to stop.
    pub(crate) fn is_server(&self) -> bool {
        #[cfg(feature = "server")]
        return matches!(self, Self::Serve(_));
        #[cfg(not(feature = "server"))]
        false
    }
}

/// How operations on stores are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line of text for each event
    Text,
    /// A JSON object for each event, on a line
    Json,
}
