//! The grammar of the command line.

#[cfg(feature = "server")]
mod audit;
mod change;
mod cli;
mod encryption;
mod examples;
mod force;
mod habits;
mod help;
mod journal;
#[cfg(test)]
mod json;
mod look;
mod order;
mod places;
mod pulumi;
#[cfg(feature = "server")]
mod serve;
mod stacks;
#[cfg(feature = "server")]
mod store;
#[cfg(feature = "server")]
mod token;

pub(crate) use change::{
    AddressesArgs, ChangeArgs, EditArgs, LockArgs, LockCommandArgs, LocksArgs, LogArgs, MergeErroredArgs,
    MvArgs, PullArgs, PushArgs, RecoverArgs, ReplaceProviderArgs, SalvageArgs, SplitArgs, StackMoveArgs,
    UndoArgs, UnlockArgs,
};

pub(crate) use cli::{Cli, Command, LogFormat};

pub(crate) use encryption::{
    EncryptionChangeArgs, EncryptionCommand, EncryptionDecryptArgs, EncryptionStatusArgs, StatesArg,
};

pub(crate) use force::Force;

pub(crate) use habits::{Habit, answer, is_address};

pub(crate) use help::grammar;

pub(crate) use journal::{EntriesArgs, InspectArgs, JournalCommand, ReplayArgs, VerifyArgs};

pub(crate) use look::{
    CheckArgs, CheckFormat, CompletionsArgs, DiffArgs, HelpArgs, ListArgs, OutputsArgs, ShowArgs,
    UpgradeArgs, VersionArgs, code,
};

pub(crate) use order::{
    GraphFormat, OrderArgs, OrderBlastArgs, OrderGraphArgs, OrderPlanArgs, OrderQuestion, OrderWavesArgs,
    OrderWhyArgs, PictureArgs, ProfileArg, RulesArgs,
};

pub(crate) use places::{
    HistoryArgs, MigrateArgs, MigrateLockArgs, RepairDigestArgs, RollbackArgs, WorkspacesCommand,
    WorkspacesDeleteArgs, WorkspacesListArgs, WorkspacesNewArgs,
};
pub(crate) use stacks::{
    CopyKind, StacksCommand, StacksCreateArgs, StacksListArgs, StacksMigrateArgs, StacksPruneArgs,
    StacksRemoveArgs, StacksRenameArgs, StacksTagsArgs, StacksUpgradeArgs,
};

pub(crate) use pulumi::{
    ChangeSecretsProviderArgs, CryptArgs, DependencyGraphArgs, DependencyGraphFormat, FlagArgs, PendingArg,
    PendingClearArgs, PendingCommand, PendingListArgs, PendingResolveArgs, PickArgs, RepairArgs, RmArgs,
};

#[cfg(feature = "server")]
pub(crate) use audit::{AuditCommand, AuditShowArgs, AuditVerifyArgs};

#[cfg(feature = "server")]
pub(crate) use serve::{ServeArgs, ServerArgs};

#[cfg(feature = "server")]
pub(crate) use store::{StoreCheckArgs, StoreCommand, StoreRepairArgs};

#[cfg(feature = "server")]
pub(crate) use token::{TokenCommand, TokenCreateArgs, TokenListArgs, TokenRevokeArgs};
