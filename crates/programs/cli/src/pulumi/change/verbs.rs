//! `rm`, `mv`, `protect`, `unprotect`, `taint` and `untaint` for Pulumi.

use std::collections::{BTreeSet, HashSet};

use groundstate_pulumi_integrity::{
    DeleteError, DeleteOptions, Flag, RenameError, delete, rename, set_flag_at,
};
use groundstate_pulumi_snapshot::{Snapshot, Urn};

use super::done::{Change, Done};
use super::run::{Soundness, run};
use crate::args::{AddressesArgs, FlagArgs, MvArgs, PickArgs, RmArgs};
use crate::input::location::StateLocation;
use crate::pulumi::{secrets, select};
use crate::report::error::{Failure, Kind, Result};
use crate::report::text::count;

/// Dependents that are named one by one.
const MAX_NAMED: usize = 50;

/// Forgets resources.
pub(crate) fn rm(args: &RmArgs, found: StateLocation) -> Result {
    let options = DeleteOptions::default().force(args.force).dependents(args.target_dependents);
    let AddressesArgs { addresses, change, .. } = &args.addresses;
    let pick = Pick::of(&args.pick);
    run(found, change, "state-rm", Soundness::Needed, |snapshot, subject| {
        let name = subject.name;
        let mut indexes = Vec::new();
        for word in addresses {
            indexes.push(only_one(snapshot, word, pick, name).map_err(choose)?);
        }
        let deleted = delete(snapshot, indexes, options).map_err(|error| undeletable(&error))?;
        let removed =
            |urn: &Urn| Change::new("remove", urn, format!("Removed {urn}"), format!("Would remove {urn}"));
        let changes = deleted.targets.iter().chain(&deleted.dependents).map(removed).collect();
        let warning = |urn: &Urn| format!("deleting protected resource {urn} due to presence of --force");
        let success = match deleted.targets.len() {
            1 => "Resource deleted".to_owned(),
            number => format!("{number} resources deleted"),
        };
        Ok(Done { changes, warnings: deleted.protected.iter().map(warning).collect(), success })
    })
}

/// Which of several resources of one name is meant.
#[derive(Clone, Copy, Default)]
struct Pick<'a> {
    /// The one with this identifier; without any, if it is empty.
    id: Option<&'a str>,
    /// The one of this number, from 1.
    copy: Option<usize>,
}

impl<'a> Pick<'a> {
    fn of(args: &'a PickArgs) -> Self {
        Self { id: args.id.as_deref(), copy: args.copy }
    }

    fn is_given(self) -> bool {
        self.id.is_some() || self.copy.is_some()
    }
}

/// Says how to choose among several resources of one name.
fn choose(failure: Failure) -> Failure {
    match failure.kind {
        Kind::Usage => failure.hint(
            "name one by its URN; to choose among copies, add `--id ID` (`''` for a copy without one) or `--copy NUMBER`",
        ),
        _ => failure,
    }
}

/// The resources that a word stands for. Several names may be meant, but of several copies of one name only one, which has to be
/// chosen: they are different objects.
fn chosen(snapshot: &Snapshot, word: &str, pick: Pick<'_>, name: &str) -> Result<Vec<usize>> {
    if pick.is_given() {
        return only_one(snapshot, word, pick, name).map(|index| vec![index]).map_err(choose);
    }
    let found = select::find(snapshot, word, name)?;
    let mut known = HashSet::new();
    let mut urns = found.iter().filter_map(|index| snapshot.resource(*index)).map(|resource| &resource.urn);
    if urns.all(|urn| known.insert(urn)) {
        return Ok(found);
    }
    let message = format!("{word} has several copies in {name}:");
    Err(choose(Failure::new(Kind::Usage, message).details(listed(snapshot, &found))))
}

/// The only resource that a word stands for, by what else is known of it.
fn only_one(snapshot: &Snapshot, word: &str, pick: Pick<'_>, name: &str) -> Result<usize> {
    let mut found = select::find(snapshot, word, name)?;
    let all = found.clone();
    if let Some(id) = pick.id {
        let id_of = |index: &usize| snapshot.resource(*index).and_then(|found| found.id());
        found.retain(|index| id_of(index).map_or("", |known| known.as_str()) == id);
    }
    if let Some(number) = pick.copy {
        let meant = number.checked_sub(1).and_then(|at| all.get(at)).copied();
        found.retain(|index| Some(*index) == meant);
    }
    match (found.as_slice(), pick) {
        ([index], _) => Ok(*index),
        ([], Pick { copy: Some(number), .. }) => {
            let message = format!("no resource {word} of {name} has the number {number}:");
            Err(Failure::new(Kind::NotFound, message).details(listed(snapshot, &all)))
        }
        ([], Pick { id, .. }) => {
            let id = id.unwrap_or_default();
            let message = match id {
                "" => format!("every resource {word} of {name} has an identifier"),
                id => format!("no resource {word} of {name} has the identifier {id:?}"),
            };
            Err(Failure::new(Kind::NotFound, message))
        }
        _ => {
            let message = format!("{word} matches several resources of {name}:");
            Err(Failure::new(Kind::Usage, message).details(listed(snapshot, &all)))
        }
    }
}

/// Resources of one name with their numbers, a line each.
fn listed(snapshot: &Snapshot, indexes: &[usize]) -> Vec<String> {
    let line = |(number, index): (usize, &usize)| {
        let resource = snapshot.resource(*index);
        let urn = resource.map(|found| found.urn.to_string()).unwrap_or_default();
        let id = resource.and_then(|found| found.id()).map_or("no identifier", |id| id.as_str());
        let waits = if resource.is_some_and(|found| found.delete) { ", waits for its deletion" } else { "" };
        format!("{}: {urn} ({id}{waits})", number + 1)
    };
    indexes.iter().enumerate().take(MAX_NAMED).map(line).collect()
}

fn undeletable(error: &DeleteError) -> Failure {
    match error {
        DeleteError::Protected { urn } => {
            let message = format!("{urn} can't be safely deleted because it is protected");
            Failure::new(Kind::Conflict, message).hint("use `--force`, or `groundstate unprotect` first")
        }
        DeleteError::Dependents { urn, dependents } => {
            let lines = dependents.iter().take(MAX_NAMED);
            let lines = lines.map(|urn| format!("* {:<15} ({urn})", format!("{:?}", urn.name())));
            let more = dependents.len().saturating_sub(MAX_NAMED);
            let message =
                format!("{urn} can't be safely deleted because the following resources depend on it:");
            Failure::new(Kind::Conflict, message)
                .details(lines.chain((more > 0).then(|| format!("and {more} more"))))
                .hint("delete those resources first, or pass `--target-dependents`")
        }
        other => Failure::new(Kind::Unusable, other.to_string()),
    }
}

/// Gives a resource another name.
pub(crate) fn mv(args: &MvArgs, found: StateLocation) -> Result {
    if args.compat {
        return Err(Failure::new(Kind::Usage, "`--compat` is for Terraform states"));
    }
    run(found, &args.change, "state-mv", Soundness::Needed, |snapshot, subject| {
        let name = subject.name;
        let index = only_one(snapshot, &args.from, Pick::default(), name).map_err(|failure| match failure.kind {
            // References do not say which of the copies they mean, so one cannot be renamed by itself.
            Kind::Usage => failure.hint(
                "name one by its URN; of several copies of one URN take out all but one with `groundstate rm --copy` \
                 first, or let the next `pulumi up` delete those that wait for it",
            ),
            _ => failure,
        })?;
        let urn = snapshot.resource(index).map(|resource| resource.urn.clone()).unwrap_or_default();
        let to = new_name(&urn, args.new_address())?;
        let renamed = rename(snapshot, &urn, &to).map_err(|error| {
            let kind = match error {
                RenameError::Missing(_) => Kind::NotFound,
                RenameError::Taken(_) => Kind::Conflict,
                _ => Kind::Usage,
            };
            Failure::new(kind, error.to_string())
        })?;
        let new = renamed.urn;
        let done = format!("Renamed {urn} to {new}");
        let change = Change::new("rename", &urn, done, format!("Would rename {urn} to {new}"))
            .member("to", new.to_string());
        let (changes, warnings) = match renamed.changed {
            0 => (Vec::new(), Vec::new()),
            _ => (vec![change], secrets::follow(snapshot, &[(urn, new)])?),
        };
        Ok(Done { changes, warnings, success: "Resource renamed".to_owned() })
    })
}

/// The new name: written alone, or as the URN that it makes.
fn new_name(urn: &Urn, to: &str) -> Result<String> {
    if !to.starts_with("urn:") {
        return Ok(to.to_owned());
    }
    let new = Urn::from(to);
    if urn.with_name(new.name()) == new {
        return Ok(new.name().to_owned());
    }
    let message = format!("{to:?} differs from {urn} in more than the name");
    Err(Failure::new(Kind::Usage, message).hint("resources keep their stack, project, type and parents"))
}

/// Sets a mark of resources.
pub(crate) fn flag(args: &FlagArgs, found: StateLocation, flag: Flag) -> Result {
    let (operation, participle, would) = match flag {
        Flag::Protect(true) => ("protect", "protected", "Would protect"),
        Flag::Protect(false) => ("unprotect", "unprotected", "Would unprotect"),
        Flag::Taint(false) => ("untaint", "untainted", "Would untaint"),
        _ => ("taint", "tainted", "Would taint"),
    };
    let AddressesArgs { addresses, change, .. } = &args.addresses;
    run(found, change, operation, Soundness::Needed, |snapshot, subject| {
        let mut indexes = BTreeSet::new();
        for word in addresses {
            indexes.extend(chosen(snapshot, word, Pick::of(&args.pick), subject.name)?);
        }
        let number = set_flag_at(snapshot, &indexes, flag);
        let urn = |index: &usize| snapshot.resource(*index).map(|resource| resource.urn.clone());
        let change = |urn: Urn| {
            Change::new(operation, &urn, format!("{urn} is {participle}"), format!("{would} {urn}"))
        };
        let success = format!("{} {participle}", count(number, "resource"));
        let changes = indexes.iter().filter_map(urn).map(change).collect();
        Ok(Done { changes, warnings: Vec::new(), success })
    })
}
