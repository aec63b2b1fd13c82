//! From the command line to the verb: of the family of the state, or of this folder if it knows no family.

#[cfg(feature = "server")]
mod audit;
mod backups;
mod changing;
mod check;
mod completions;
mod diff;
mod graph;
mod help;
mod lock;
mod locks;
mod log;
mod man;
mod order;
mod reading;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod store;
#[cfg(feature = "server")]
mod token;
mod unlock;
mod version;

use crate::args::{Command, Habit};
use crate::report::error::{Failure, Kind, Result};
use crate::{journal, pulumi, terraform};

/// The failure that answers a habit of another tool's users.
pub(crate) fn habit(habit: Habit) -> Failure {
    habit.hints.into_iter().fold(Failure::new(Kind::Usage, habit.message), Failure::hint)
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result {
    match command {
        Command::List(args) => reading::list(&args),
        Command::Show(args) => reading::show(&args),
        Command::Outputs(args) => reading::outputs(&args),
        Command::Upgrade(args) => reading::upgrade(&args),
        Command::Check(args) => check::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Order(args) => order::run(&args),
        Command::Mv(args) => changing::mv(&args),
        Command::Split(args) => changing::split(&args),
        Command::Rm(args) => changing::rm(&args),
        Command::ReplaceProvider(args) => changing::replace_provider(&args),
        Command::Taint(args) => changing::taint(&args),
        Command::Untaint(args) => changing::untaint(&args),
        Command::Protect(args) => changing::protect(&args, "protect", true),
        Command::Unprotect(args) => changing::protect(&args, "unprotect", false),
        Command::Repair(args) => changing::repair(&args),
        Command::Pending(args) => changing::pending(&args.command),
        Command::Journal(args) => journal::run(&args.command),
        Command::Encrypt(args) => pulumi::encrypt(&args),
        Command::Decrypt(args) => pulumi::decrypt(&args),
        Command::ChangeSecretsProvider(args) => changing::change_secrets_provider(&args),
        Command::Edit(args) => changing::edit(&args),
        Command::Undo(args) => changing::undo(&args),
        Command::Pull(args) => reading::pull(&args),
        Command::Push(args) => changing::push(&args),
        Command::Salvage(args) => terraform::salvage::run(&args),
        Command::MergeErrored(args) => changing::merge_errored(&args),
        Command::Recover(args) => changing::recover(&args),
        Command::Log(args) => log::run(&args),
        Command::Lock(args) => lock::run(&args),
        Command::Unlock(args) => unlock::run(&args),
        Command::Locks(args) => locks::run(&args),
        Command::Stacks(args) => pulumi::stacks::run(&args.command),
        Command::Workspaces(args) => terraform::workspaces::run(&args.command),
        Command::Migrate(args) => terraform::migrate::run(&args),
        Command::Encryption(args) => terraform::encryption::run(&args.command),
        Command::MigrateLock(args) => terraform::migrate_lock::run(&args),
        Command::RepairDigest(args) => terraform::repair_digest::run(&args),
        Command::History(args) => reading::history(&args),
        Command::Rollback(args) => changing::rollback(&args),
        #[cfg(feature = "server")]
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "server")]
        Command::Token(args) => token::run(&args.command),
        #[cfg(feature = "server")]
        Command::Audit(args) => audit::run(&args.command),
        #[cfg(feature = "server")]
        Command::Store(args) => store::run(&args.command),
        Command::Help(args) => help::run(args),
        Command::Version(args) => version::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man => man::run(),
    }
}
