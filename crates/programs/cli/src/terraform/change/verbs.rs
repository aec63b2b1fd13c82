//! `groundstate mv`, `rm`, `replace-provider`, `taint` and `untaint`.

use groundstate_state_edit::{Editor, MoveOptions, Summary, TaintError};
use groundstate_states::addr::{AbsResourceInstance, InstanceKey, ProviderSource, Target};

use super::meant;
use super::run::run;
use crate::args::{AddressesArgs, MvArgs, ReplaceProviderArgs, RmArgs};
use crate::input::location::StateLocation;
use crate::report::error::{Failure, Kind, Result};
use crate::report::text::count;
use crate::terraform::select::{self, Wanted};

pub(crate) fn mv(args: &MvArgs, found: StateLocation) -> Result {
    let (from, to) = (select::parse_one(&args.from)?, select::parse_one(args.new_address())?);
    let options = MoveOptions::default().compat(args.compat);
    let success = |count| format!("Successfully moved {count} object(s).");
    run(found, &args.change, "state-mv", success, |editor| {
        let moved = editor.move_address(&from, &to, options);
        Ok(moved.map_err(|error| meant::by_addresses(error.into(), editor, &[&from]))?.into())
    })
}

pub(crate) fn rm(args: &RmArgs, found: StateLocation) -> Result {
    if args.force || args.target_dependents || args.pick.given().is_some() {
        let message = "`--force`, `--target-dependents` and `--id` are for Pulumi states";
        return Err(Failure::new(Kind::Usage, message));
    }
    let args = &args.addresses;
    let (mut targets, mut deposed) = (Vec::new(), Vec::new());
    for address in &args.addresses {
        match select::parse_object(address)? {
            Wanted::Target(target) => targets.push(target),
            Wanted::Deposed(object) => deposed.push(object),
        }
    }
    let success = |number| match targets.is_empty() {
        true => format!("Successfully removed {}.", count(number, "deposed object")),
        false => format!("Successfully removed {number} resource instance(s)."),
    };
    run(found, &args.change, "state-rm", success, |editor| {
        let mut all = Summary::default();
        for object in &deposed {
            all.changes.extend(editor.remove_deposed(object)?.changes);
        }
        if !targets.is_empty() {
            let named: Vec<&Target> = targets.iter().collect();
            let removed = editor.remove(&targets);
            let removed = removed.map_err(|error| meant::by_addresses(error.into(), editor, &named))?;
            all.changes.extend(removed.changes);
            all.missing = removed.missing;
        }
        Ok(all.into())
    })
}

pub(crate) fn replace_provider(args: &ReplaceProviderArgs, found: StateLocation) -> Result {
    let success = |count| format!("Successfully replaced provider for {count} resources.");
    run(found, &args.change, "state-replace-provider", success, |editor| {
        let host = editor.dialect().default_registry();
        let provider = |text: &str| {
            let hint = "write it as `hashicorp/aws`, or with the registry in front";
            ProviderSource::parse(text, host)
                .map_err(|error| Failure::new(Kind::Usage, error.to_string()).hint(hint))
        };
        let replaced = editor.replace_provider(&provider(&args.from)?, &provider(&args.to)?);
        match replaced {
            Ok(summary) => Ok(summary.into()),
            Err(error) => Err(meant::by_provider(error.clone().into(), editor, &error)),
        }
    })
}

pub(crate) fn taint(args: &AddressesArgs, found: StateLocation) -> Result {
    each(args, found, "taint", |editor, instance| editor.taint(instance))
}

pub(crate) fn untaint(args: &AddressesArgs, found: StateLocation) -> Result {
    each(args, found, "untaint", |editor, instance| editor.untaint(instance))
}

/// Changes the status of all instances, or of none.
fn each(
    args: &AddressesArgs,
    found: StateLocation,
    operation: &str,
    change: impl Fn(&mut Editor<'_>, &AbsResourceInstance) -> Result<Summary, TaintError>,
) -> Result {
    let instances: Result<Vec<_>> = select::parse(&args.addresses)?.into_iter().map(instance).collect();
    let instances = instances?;
    let success = |number| format!("Successfully changed {}.", count(number, "resource instance"));
    run(found, &args.change, operation, success, |editor| {
        let mut all = Summary::default();
        for instance in &instances {
            let changed = change(editor, instance).map_err(|error| {
                meant::by_addresses(error.into(), editor, &[&Target::Instance(instance.clone())])
            });
            all.changes.extend(changed?.changes);
        }
        Ok(all.into())
    })
}

fn instance(target: Target) -> Result<AbsResourceInstance> {
    match target {
        Target::Instance(instance) => Ok(instance),
        Target::Resource(resource) => Ok(resource.instance(InstanceKey::None)),
        Target::Module(module) => {
            let message = format!("{module} is a module, and only resource instances can be tainted");
            Err(Failure::new(Kind::Usage, message).hint("name an instance, such as `aws_instance.web[0]`"))
        }
    }
}
