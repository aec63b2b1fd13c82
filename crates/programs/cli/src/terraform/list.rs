//! `groundstate list`: addresses of resource instances.

use std::fmt::Write as _;
use std::{io, ptr};

use groundstate_json::{Kind, Tape};
use groundstate_statefile::Listed;
use groundstate_states::addr::{AbsResource, AbsResourceInstance, Target};
use groundstate_states::{Attributes, ObjectSrc};

use crate::args::ListArgs;
use crate::input::source::ScanFailure;
use crate::input::terraform::{TerraformState, load};
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::terraform::select::{self, Wanted};

/// Lists the instances, or those that the arguments stand for.
pub(crate) fn list(args: &ListArgs, source: &TerraformState) -> Result {
    let wanted: Vec<Wanted> =
        args.addresses.iter().map(|text| select::parse_object(text)).collect::<Result<_>>()?;
    let with_deposed = args.deposed || wanted.iter().any(|wanted| matches!(wanted, Wanted::Deposed(_)));
    if with_deposed {
        let lines = with_objects(args, &wanted, source)?;
        return print(|line| lines.iter().try_for_each(|text| line(text)), args.json);
    }
    let targets = select::parse(&args.addresses)?;
    let lines = match source.list(args.id.is_some()) {
        // The whole list is by far the most frequent question, so its addresses are printed as they come.
        Ok(listing) if targets.is_empty() => {
            let wanted = listing.iter().filter(|item| args.id.is_none() || item.id == args.id.as_deref());
            let outcome = print(|line| lines(wanted, line), args.json);
            // The program ends here: to give hundreds of thousands of small pieces of memory back takes time for nothing.
            std::mem::forget(listing);
            return outcome;
        }
        Ok(listing) => {
            let all =
                listing.iter().map(|item| Item { address: item.address(), id: item.id.map(str::to_owned) });
            choose(&all.collect::<Vec<_>>(), &targets, args, source)?
        }
        Err(ScanFailure::Failed(failure)) => return Err(failure),
        Err(ScanFailure::Whole) => choose(&from_model(source, args.id.is_some())?, &targets, args, source)?,
    };
    print(|line| lines.iter().try_for_each(|text| line(text)), args.json)
}

/// What takes the lines of the list, one after the other.
type Line<'a> = &'a mut dyn FnMut(&str) -> io::Result<()>;

/// Gives the addresses as text; instances of one resource follow each other and share what comes before their keys.
fn lines<'l>(items: impl Iterator<Item = Listed<'l>>, line: Line<'_>) -> io::Result<()> {
    // Writing into a string does not fail.
    let mut text = String::new();
    let mut shared: Option<(&AbsResource, usize)> = None;
    for item in items {
        let keep = match shared {
            Some((resource, length)) if ptr::eq(resource, item.resource) => length,
            _ => {
                text.clear();
                let _ = write!(text, "{}", item.resource);
                shared = Some((item.resource, text.len()));
                text.len()
            }
        };
        text.truncate(keep);
        if !item.key.is_none() {
            let _ = write!(text, "{}", item.key);
        }
        line(&text)?;
    }
    Ok(())
}

/// An instance, and the id of its current object if ids were asked for.
#[derive(Debug)]
struct Item {
    address: AbsResourceInstance,
    id: Option<String>,
}

fn from_model(source: &TerraformState, with_ids: bool) -> Result<Vec<Item>> {
    let loaded = load(source)?;
    let instances = loaded.file.state.resource_instances();
    let item = |(address, instance): (_, &groundstate_states::ResourceInstance)| Item {
        address,
        id: instance.current.as_deref().filter(|_| with_ids).map(id),
    };
    Ok(instances.map(item).collect())
}

/// Instances with `--deposed` also their deposed objects, and the deposed objects that are named.
fn with_objects(args: &ListArgs, wanted: &[Wanted], source: &TerraformState) -> Result<Vec<String>> {
    let state = load(source)?.file.state;
    let has_id = |object: Option<&ObjectSrc>| {
        args.id.is_none() || object.map(id).as_deref().is_some_and(|id| args.id.as_deref() == Some(id))
    };
    let mut lines = Vec::new();
    let mut instances = |target: Option<&Target>| {
        for (address, instance) in state.resource_instances() {
            if target.is_some_and(|target| !select::matches(target, &address)) {
                continue;
            }
            lines.extend(has_id(instance.current.as_deref()).then(|| address.to_string()));
            let deposed = instance.deposed.iter().filter(|(_, object)| args.deposed && has_id(Some(object)));
            lines.extend(deposed.map(|(key, _)| format!("{address} (deposed {key})")));
        }
    };
    if wanted.is_empty() {
        instances(None);
    }
    let mut named = Vec::new();
    for wanted in wanted {
        match wanted {
            Wanted::Target(target) if select::exists(&state, target) => instances(Some(target)),
            Wanted::Target(target) => return Err(select::unknown(target, &source.name, Some(&state))),
            Wanted::Deposed(object) => {
                let instance = state.resource_instance(&object.instance);
                let found = instance.and_then(|instance| instance.deposed.get(&object.key));
                let Some(found) = found else { return Err(select::no_deposed(object, &source.name)) };
                named.extend(has_id(Some(found)).then(|| object.to_string()));
            }
        }
    }
    lines.append(&mut named);
    Ok(lines)
}

/// The instances that the addresses stand for, in the order of the addresses; without addresses, all.
fn choose(all: &[Item], targets: &[Target], args: &ListArgs, source: &TerraformState) -> Result<Vec<String>> {
    let wanted = |item: &&Item| args.id.is_none() || item.id == args.id;
    if targets.is_empty() {
        return Ok(all.iter().filter(wanted).map(|item| item.address.to_string()).collect());
    }
    let mut lines = Vec::new();
    for target in targets {
        let mut found = all.iter().filter(|item| select::matches(target, &item.address)).peekable();
        // A resource without instances is known, but only the model has it.
        if found.peek().is_none() {
            let state = load(source)?.file.state;
            if select::exists(&state, target) {
                continue;
            }
            return Err(select::unknown(target, &source.name, Some(&state)));
        }
        lines.extend(found.filter(wanted).map(|item| item.address.to_string()));
    }
    Ok(lines)
}

fn print(each: impl FnOnce(Line<'_>) -> io::Result<()>, as_json: bool) -> Result {
    let mut out = Output::stdout();
    if as_json {
        let mut addresses = Vec::new();
        each(&mut |address| {
            addresses.push(address.to_owned());
            Ok(())
        })?;
        let document = Json::document(|json| {
            json.texts("instances", addresses);
        });
        out.json(&document)?;
    } else {
        each(&mut |address| out.line(address))?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

/// The id that `terraform state list -id` compares with.
fn id(object: &ObjectSrc) -> String {
    let none = || "<none>".to_owned();
    match &object.attributes {
        Attributes::Flat(flat) => flat.get("id").map_or_else(none, |id| id.to_string()),
        Attributes::Json(raw) => {
            let tape = Tape::new(raw.as_str());
            let Some(root) = tape.root().filter(|root| tape.kind(*root) == Kind::Object) else {
                return none();
            };
            match tape.members(root).filter(|(name, _)| tape.string(*name) == "id").last() {
                Some((_, value)) if tape.kind(value) == Kind::String => tape.string(value),
                Some(_) => none(),
                None => String::new(),
            }
        }
    }
}
