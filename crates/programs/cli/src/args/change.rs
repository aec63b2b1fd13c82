//! Arguments of the commands that change states, or deal with their locks.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::force::{self, Force};

/// The state to change.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlaceArg {
    /// State to change: a file, a directory, or a URL such as `s3://bucket/key`
    #[arg(value_name = "STATE")]
    pub(crate) state: PathBuf,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WaitArgs {
    /// Waits up to this long for a lock that another process holds, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true, value_parser = duration)]
    pub(crate) lock_timeout: Duration,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Skips locking; still fails if another process holds the lock
    #[arg(long)]
    pub(crate) no_lock: bool,
}

/// What all changes have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Keeps the previous state here, or nowhere with `-`; beside the state if missing
    #[arg(long, value_name = "PATH")]
    pub(crate) backup: Option<PathBuf>,
    /// Shows what would change, and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whether resources may vanish.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ConsentArgs {
    /// Stores it even if resources vanish from the state, without a question
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MvArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// Module, resource or instance to move
    #[arg(value_name = "SRC")]
    pub(crate) from: String,
    /// The new address; with `--to` the same if missing
    #[arg(value_name = "DST", required_unless_present = "other")]
    pub(crate) to: Option<String>,
    /// Moves to this state, which is made if it is not there
    #[arg(long = "to", value_name = "OTHER", conflicts_with = "compat")]
    pub(crate) other: Option<PathBuf>,
    /// Moves as Terraform does: objects that depend on what is moved lose all their dependencies
    #[arg(long)]
    pub(crate) compat: bool,
    #[command(flatten)]
    pub(crate) stack: StackMoveArgs,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// What only moves between two Pulumi stacks know.
#[derive(Debug, Args)]
pub(crate) struct StackMoveArgs {
    /// For another Pulumi stack: parents of what moves go too
    #[arg(long)]
    pub(crate) include_parents: bool,
    /// For a move to another Pulumi stack: the file with its passphrase, if that differs
    #[arg(long, value_name = "FILE")]
    pub(crate) to_passphrase_file: Option<PathBuf>,
}

impl StackMoveArgs {
    /// The first of these options that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (self.include_parents, &self.to_passphrase_file) {
            (true, _) => Some("--include-parents"),
            (_, Some(_)) => Some("--to-passphrase-file"),
            _ => None,
        }
    }
}

impl MvArgs {
    /// Where it goes: to its own address if only another state is named.
    pub(crate) fn new_address(&self) -> &str {
        self.to.as_deref().unwrap_or(&self.from)
    }
}

#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// State to move to, which is made if it is not there
    #[arg(value_name = "OTHER")]
    pub(crate) other: PathBuf,
    /// Modules, resources or instances to move, with `*` and `**` for any names; for Pulumi, URNs or names
    #[arg(value_name = "PATTERN", required = true)]
    pub(crate) patterns: Vec<String>,
    #[command(flatten)]
    pub(crate) stack: StackMoveArgs,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AddressesArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// Modules, resources or instances, or single instances where their status changes; for Pulumi, URNs or names
    #[arg(value_name = "ADDR", required = true)]
    pub(crate) addresses: Vec<String>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplaceProviderArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The provider to replace, such as `hashicorp/aws`
    #[arg(value_name = "FROM", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// The new provider
    #[arg(value_name = "TO", allow_hyphen_values = true)]
    pub(crate) to: String,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The script, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) script: PathBuf,
    /// Skips lines whose addresses match nothing, so that one script fits many states
    #[arg(long)]
    pub(crate) skip_missing: bool,
    /// Moves as Terraform does: objects that depend on what is moved lose all their dependencies
    #[arg(long)]
    pub(crate) compat: bool,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The file to restore; a backup of the state if missing
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    pub(crate) from: Option<PathBuf>,
    /// Lists the backups, newest first, and changes nothing
    #[arg(long, conflicts_with_all = ["from", "to", "force", "dry_run"])]
    pub(crate) list: bool,
    /// The backup to restore, by its number in `--list`; the one before the last change if missing
    #[arg(long, value_name = "N")]
    pub(crate) to: Option<String>,
    /// Restores one of two states between which resources moved, and leaves the other as it is
    #[arg(long)]
    pub(crate) alone: bool,
    /// Restores even if backup and state do not belong together, or the state cannot be read. For a Pulumi stack, codes accept only
    /// these findings of `check`
    #[arg(
        long, value_name = "CODE,…", num_args = 0..=1, require_equals = true, value_parser = Force::parse,
        default_value = force::NONE, default_missing_value = force::WHOLE, hide_default_value = true
    )]
    pub(crate) force: Force,
    /// With `--force`: lets plain text replace an encrypted state
    #[arg(long, requires = "force")]
    pub(crate) over_encrypted: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Lists only operations on this state
    #[arg(value_name = "STATE")]
    pub(crate) state: Option<PathBuf>,
    /// Lists at most so many operations
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// State to read: a file, a directory, or a URL such as `s3://bucket/key`
    #[arg(value_name = "STATE", default_value = ".")]
    pub(crate) state: PathBuf,
    /// Prints the snapshot with this id in the history
    #[arg(long, value_name = "ID")]
    pub(crate) at: Option<String>,
    /// Writes this file, all at once; standard output if missing, or with `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The state to store: a file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Stores it whatever its lineage and serial, and whatever it replaces. For a Pulumi stack, codes accept only these findings of
    /// `check`
    #[arg(
        long, value_name = "CODE,…", num_args = 0..=1, require_equals = true, value_parser = Force::parse,
        default_value = force::NONE, default_missing_value = force::WHOLE, hide_default_value = true
    )]
    pub(crate) force: Force,
    /// With `--force`: lets plain text replace an encrypted state
    #[arg(long, requires = "force")]
    pub(crate) over_encrypted: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LockCommandArgs {
    /// State to lock: a file, a directory, or a URL such as `s3://bucket/key`
    #[arg(value_name = "STATE")]
    pub(crate) state: PathBuf,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Runs COMMAND also where the place has no lock, so that no other client is kept out
    #[arg(long)]
    pub(crate) without_lock: bool,
    /// The command to run, and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").args(["id", "force", "if_stale", "break_lock"]).required(true))]
#[command(override_usage = "groundstate unlock <STATE> <ID|--force|--if-stale|--break>")]
pub(crate) struct UnlockArgs {
    /// State to unlock: a file, a directory, or a URL such as `s3://bucket/key`
    #[arg(value_name = "STATE")]
    pub(crate) state: PathBuf,
    /// The id of the lock, as `locks` and refused commands show it
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Releases the lock whatever its id; for a Pulumi stack, removes all its locks, also unreadable ones
    #[arg(long)]
    pub(crate) force: bool,
    /// Releases the lock if a process of this host has left it and no longer runs
    #[arg(long)]
    pub(crate) if_stale: bool,
    /// Releases a lock whose holder has left no record, such as an Azure lease without its document
    #[arg(long = "break")]
    pub(crate) break_lock: bool,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// State with a journal beside it: a file, a directory, or a Pulumi stack
    #[arg(value_name = "STATE")]
    pub(crate) state: PathBuf,
    /// Writes the state that the journal leads to into a file, or to standard output with `-`, and changes nothing
    #[arg(long, value_name = "FILE", conflicts_with = "discard")]
    pub(crate) export: Option<PathBuf>,
    /// Removes the journal and all changes in it
    #[arg(long)]
    pub(crate) discard: bool,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long, conflicts_with = "export")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LocksArgs {
    /// States to look at: files, directories, or URLs such as `s3://bucket/key`
    #[arg(value_name = "STATE", default_value = ".")]
    pub(crate) states: Vec<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SalvageArgs {
    /// The damaged file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Writes this file, all at once; standard output if missing, or with `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Prints what was lost as JSON
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeErroredArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The state that the apply could not store, usually `errored.tfstate`
    #[arg(value_name = "ERRORED")]
    pub(crate) errored: PathBuf,
    /// The state that both come from; searched among the backups if missing
    #[arg(long, value_name = "FILE")]
    pub(crate) base: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// Units of durations, in seconds, as Go writes them.
const UNITS: &[(&str, f64)] = &[("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Units of ages, in seconds.
const AGES: &[(&str, f64)] =
    &[("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0), ("w", 7.0 * 86_400.0)];

/// Reads a duration as Go writes it: `1h30m`, `90s`, `1.5s`, `250ms`, `0`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    measured(text, UNITS)
        .ok_or_else(|| format!("{text:?} is no duration; write it as `30s`, `5m` or `1h30m`"))
}

/// Reads an age: `30d`, `2w`, `12h`, `1d12h`.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    measured(text, AGES).ok_or_else(|| format!("{text:?} is no age; write it as `30d`, `2w` or `12h`"))
}

fn measured(text: &str, units: &[(&str, f64)]) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(digits);
        let unit = behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len());
        let (unit, next) = behind.split_at(unit);
        let (_, seconds) = units.iter().find(|(name, _)| *name == unit)?;
        let number: f64 = number.parse().ok()?;
        let part = Duration::try_from_secs_f64(number * seconds).ok()?;
        total = total.checked_add(part)?;
        rest = next;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{age, duration};

    #[test]
    fn reads_ages_in_days_and_weeks() {
        const DAY: u64 = 86_400;
        for (text, seconds) in [("30d", 30 * DAY), ("2w", 14 * DAY), ("1d12h", DAY + DAY / 2), ("0", 0)] {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "30", "d", "5ms", "1y", "-1d", "1e9d"] {
            assert!(age(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_durations_as_terraform_takes_them() {
        for (text, millis) in
            [("0", 0), ("0s", 0), ("30s", 30_000), ("1h30m", 5_400_000), ("1.5s", 1500), ("250ms", 250)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "s", "5x", "-1s", "1..s", "1e9h", "99999999999999999999999h", "5 s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
