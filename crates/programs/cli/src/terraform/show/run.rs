//! Shows a state as text or as JSON.

use groundstate_states::addr::{AbsResourceInstance, Target};

use super::view::View;
use super::{json, text};
use crate::args::ShowArgs;
use crate::input::terraform::{TerraformState, load_if_any, load_resource};
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::terraform::select::{self, Wanted};

/// Shows the whole state, or what an address stands for.
pub(crate) fn show(args: &ShowArgs, source: &TerraformState) -> Result {
    let wanted = args.address.as_deref().map(select::parse_object).transpose()?;
    let (target, deposed) = match &wanted {
        None => (None, None),
        Some(Wanted::Target(target)) => (Some(target.clone()), None),
        Some(Wanted::Deposed(object)) => (Some(Target::Instance(object.instance.clone())), Some(object)),
    };
    let file = match &target {
        Some(Target::Resource(resource) | Target::Instance(AbsResourceInstance { resource, .. })) => {
            load_resource(source, resource)?
        }
        _ => load_if_any(source)?.map(|loaded| loaded.file),
    };
    let mut out = Output::stdout();
    match &file {
        Some(file) => {
            let view = View { file, target, deposed: deposed.map(|object| object.key), reveal: args.reveal };
            if let Some(target) = view.unknown() {
                // Perhaps only one resource was read.
                let state = load_if_any(source)?.map(|loaded| loaded.file.state);
                return Err(select::unknown(target, &source.name, state.as_ref()));
            }
            if let Some(object) = deposed.filter(|_| view.objects().next().is_none()) {
                return Err(select::no_deposed(object, &source.name));
            }
            if args.json {
                out.json(&json::document(&view)?)?;
            } else {
                text::print(&view, &source.name, &mut out)?;
            }
        }
        None => {
            if let Some(target) = &target {
                let state = load_if_any(source)?.map(|loaded| loaded.file.state);
                return Err(select::unknown(target, &source.name, state.as_ref()));
            }
            match args.json {
                true => out.json(&Json::object(|json| json.text("format_version", json::FORMAT)))?,
                false => {
                    out.line(&format!("{} is empty: no state has been stored there yet", source.name))?
                }
            }
        }
    }
    out.finish()?;
    Ok(Outcome::Clean)
}
