//! `groundstate show`: instances with their attributes.

mod checks;
mod json;
mod text;

use groundstate_statefile::File;
use groundstate_states::addr::{AbsResourceInstance, ModuleInstance, Target};
use groundstate_states::{Attributes, Generation, ObjectSrc, Resource, ResourceInstance};

use crate::args::ShowArgs;
use crate::input::family::Family;
use crate::input::source::Source;
use crate::input::terraform::{load_if_any, load_resource};
use crate::pulumi;
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::report::value::{Marks, Tape};
use crate::terraform::select;

/// What is shown of a state.
#[derive(Debug)]
struct View<'f> {
    file: &'f File,
    /// Only what this address stands for; everything, with outputs and checks, if there is none.
    target: Option<Target>,
    /// Sensitive values are shown.
    reveal: bool,
}

/// An object in its place.
#[derive(Debug)]
struct Shown<'f> {
    address: AbsResourceInstance,
    resource: &'f Resource,
    generation: Generation,
    object: &'f ObjectSrc,
}

pub(crate) fn run(args: &ShowArgs) -> Result {
    let source = Source::at(&args.state.state, args.at.as_deref())?;
    match source.family {
        Family::Terraform => show(args, &source),
        Family::Pulumi => pulumi::show(args, &source),
    }
}

fn show(args: &ShowArgs, source: &Source) -> Result {
    let target = args.address.as_deref().map(select::parse_one).transpose()?;
    let file = match &target {
        Some(Target::Resource(resource) | Target::Instance(AbsResourceInstance { resource, .. })) => {
            load_resource(source, resource)?
        }
        _ => load_if_any(source)?.map(|loaded| loaded.file),
    };
    let mut out = Output::stdout();
    match &file {
        Some(file) => {
            let view = View { file, target, reveal: args.reveal };
            view.check(source)?;
            if args.json {
                out.json(&json::document(&view)?)?;
            } else {
                text::print(&view, &source.name, &mut out)?;
            }
        }
        None => {
            if let Some(target) = &target {
                return Err(select::unknown(target, &source.name));
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

impl<'f> View<'f> {
    /// Refuses an address that stands for nothing.
    fn check(&self, source: &Source) -> Result<()> {
        match &self.target {
            Some(target) if !select::exists(&self.file.state, target) => {
                Err(select::unknown(target, &source.name))
            }
            _ => Ok(()),
        }
    }

    /// The modules that are shown as a whole.
    fn modules(&self) -> impl Iterator<Item = &'f ModuleInstance> {
        let modules = self.file.state.modules().map(|(module, _)| module);
        modules.filter(|module| match &self.target {
            None => true,
            Some(Target::Module(target)) => select::in_module(target, module),
            Some(_) => false,
        })
    }

    fn wants(&self, address: &AbsResourceInstance) -> bool {
        self.target.as_ref().is_none_or(|target| select::matches(target, address))
    }

    /// The objects that are shown, in the order of lists: the current one of an instance, then the deposed ones.
    fn objects(&self) -> impl Iterator<Item = Shown<'f>> {
        let objects = self.file.state.all_resources().flat_map(|(module, name, resource)| {
            let address = name.clone().absolute(module.clone());
            resource.instances.iter().flat_map(move |(key, instance): (_, &ResourceInstance)| {
                let address = AbsResourceInstance { resource: address.clone(), key: key.clone() };
                let shown = move |(generation, object)| Shown {
                    address: address.clone(),
                    resource,
                    generation,
                    object,
                };
                instance.objects().map(shown)
            })
        });
        objects.filter(|shown| self.wants(&shown.address))
    }
}

/// The flat attributes of a format before 4, or of an object that no provider has upgraded since, as a JSON object.
fn attributes(object: &ObjectSrc) -> std::borrow::Cow<'_, str> {
    match &object.attributes {
        Attributes::Json(raw) => raw.as_str().into(),
        Attributes::Flat(flat) => {
            let members = |json: &mut Json| flat.iter().for_each(|(name, value)| json.text(name, value));
            Json::object(members).into()
        }
    }
}

/// What is sensitive in the attributes of an object.
fn marks(object: &ObjectSrc, tape: &Tape<'_>) -> Marks {
    match &object.attributes {
        Attributes::Json(_) => Marks::new(tape, &object.sensitive_paths),
        Attributes::Flat(_) => Marks::flat(tape, &object.sensitive_paths),
    }
}
