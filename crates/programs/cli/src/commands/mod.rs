//! The commands, one file each.

pub(crate) mod check;
mod completions;
pub(crate) mod diff;
mod graph;
mod lock;
mod locks;
mod man;
mod unlock;
mod version;

use groundstate_pulumi_integrity::Flag;

use crate::args::{AddressesArgs, Command, PendingCommand};
use crate::report::error::Result;
use crate::{journal, pulumi, terraform};

/// What to do with damaged Pulumi files instead.
pub(crate) const NO_SALVAGE: &str =
    "`groundstate undo --force` brings a backup back, `groundstate repair` mends what can be read";

/// Runs a command.
pub(crate) fn run(command: Command) -> Result {
    match command {
        Command::List(args) => terraform::list::run(&args),
        Command::Show(args) => terraform::show::run(&args),
        Command::Outputs(args) => terraform::outputs::run(&args),
        Command::Upgrade(args) => terraform::upgrade::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Order(args) => terraform::order::run(&args),
        Command::Mv(args) if pulumi::is_at(&args.place.state) => pulumi::mv(&args),
        Command::Mv(args) => terraform::change::mv(&args),
        Command::Rm(args) if pulumi::is_at(&args.addresses.place.state) => pulumi::rm(&args),
        Command::Rm(args) => terraform::change::rm(&args),
        Command::ReplaceProvider(args) => {
            pulumi::not_here(&args.place.state, "replace-provider", "change the program, and run it")?;
            terraform::change::replace_provider(&args)
        }
        Command::Taint(args) if pulumi::is_at(&args.place.state) => pulumi::flag(&args, Flag::Taint(true)),
        Command::Taint(args) => terraform::change::taint(&args),
        Command::Untaint(args) if pulumi::is_at(&args.place.state) => pulumi::flag(&args, Flag::Taint(false)),
        Command::Untaint(args) => terraform::change::untaint(&args),
        Command::Protect(args) => protect(&args, "protect", true),
        Command::Unprotect(args) => protect(&args, "unprotect", false),
        Command::Repair(args) => {
            pulumi::only_here(&args.place.state, "repair")?;
            pulumi::repair(&args)
        }
        Command::Pending(args) => {
            match &args.command {
                PendingCommand::List(_) => {}
                PendingCommand::Clear(args) => pulumi::only_here(&args.place.state, "pending clear")?,
                PendingCommand::Resolve(args) => pulumi::only_here(&args.place.state, "pending resolve")?,
            }
            pulumi::pending(&args.command)
        }
        Command::Journal(args) => journal::run(&args.command),
        Command::Encrypt(args) => pulumi::encrypt(&args),
        Command::Decrypt(args) => pulumi::decrypt(&args),
        Command::Edit(args) => {
            pulumi::not_here(&args.place.state, "edit", "use `mv`, `rm`, `taint`, `protect`")?;
            terraform::change::edit(&args)
        }
        Command::Undo(args) if pulumi::is_to_undo(&args) => pulumi::undo(&args),
        Command::Undo(args) => terraform::undo::run(&args),
        Command::Pull(args) => {
            pulumi::not_here(&args.state, "pull", "use `groundstate upgrade`, or `pulumi stack export`")?;
            terraform::pull::run(&args)
        }
        Command::Push(args) => {
            for state in [&args.file, &args.place.state] {
                pulumi::not_here(state, "push", "use `pulumi stack import`, or `groundstate undo --from`")?;
            }
            terraform::push::run(&args)
        }
        Command::Salvage(args) => {
            pulumi::not_here(&args.file, "salvage", NO_SALVAGE)?;
            terraform::salvage::run(&args)
        }
        Command::MergeErrored(args) => {
            for state in [&args.errored, &args.place.state] {
                pulumi::not_here(state, "merge-errored", "`pulumi refresh` finds what was not stored")?;
            }
            terraform::merge_errored::run(&args)
        }
        Command::Recover(args) => terraform::recover::run(&args),
        Command::Lock(args) => lock::run(&args),
        Command::Unlock(args) => unlock::run(&args),
        Command::Locks(args) => locks::run(&args),
        Command::Workspaces(args) => terraform::workspaces::run(&args.command),
        Command::Migrate(args) => terraform::migrate::run(&args),
        Command::MigrateLock(args) => terraform::migrate_lock::run(&args),
        Command::RepairDigest(args) => terraform::repair_digest::run(&args),
        Command::History(args) => terraform::history::run(&args),
        Command::Rollback(args) => terraform::rollback::run(&args),
        Command::Version(args) => version::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man => man::run(),
    }
}

fn protect(args: &AddressesArgs, command: &str, protect: bool) -> Result {
    pulumi::only_here(&args.place.state, command)?;
    pulumi::flag(args, Flag::Protect(protect))
}
