//! What is shown of a state.

use groundstate_json::Tape;
use groundstate_statefile::File;
use groundstate_states::addr::{AbsResourceInstance, ModuleInstance, Target};
use groundstate_states::{Attributes, DeposedKey, Generation, ObjectSrc, Resource, ResourceInstance};

use crate::report::json::Json;
use crate::terraform::select;
use groundstate_values::Marks;

/// What is shown of a state.
#[derive(Debug)]
pub(super) struct View<'f> {
    pub(super) file: &'f File,
    /// Only what this address stands for; everything, with outputs and checks, if there is none.
    pub(super) target: Option<Target>,
    /// Only the deposed object with this key.
    pub(super) deposed: Option<DeposedKey>,
    /// Sensitive values are shown.
    pub(super) reveal: bool,
}

/// An object in its place.
#[derive(Debug)]
pub(super) struct Shown<'f> {
    pub(super) address: AbsResourceInstance,
    pub(super) resource: &'f Resource,
    pub(super) generation: Generation,
    pub(super) object: &'f ObjectSrc,
}

impl<'f> View<'f> {
    /// The address that was asked for, if it stands for nothing.
    pub(super) fn unknown(&self) -> Option<&Target> {
        self.target.as_ref().filter(|target| !select::exists(&self.file.state, target))
    }

    /// The modules that are shown as a whole.
    pub(super) fn modules(&self) -> impl Iterator<Item = &'f ModuleInstance> {
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
    pub(super) fn objects(&self) -> impl Iterator<Item = Shown<'f>> {
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
        let deposed = self.deposed;
        let is_meant = move |generation| deposed.is_none_or(|key| generation == Generation::Deposed(key));
        objects.filter(move |shown| is_meant(shown.generation) && self.wants(&shown.address))
    }
}

/// The flat attributes of a format before 4, or of an object that no provider has upgraded since, as a JSON object.
pub(super) fn attributes(object: &ObjectSrc) -> std::borrow::Cow<'_, str> {
    match &object.attributes {
        Attributes::Json(raw) => raw.as_str().into(),
        Attributes::Flat(flat) => {
            let members = |json: &mut Json| flat.iter().for_each(|(name, value)| json.text(name, value));
            Json::object(members).into()
        }
    }
}

/// What is sensitive in the attributes of an object.
pub(super) fn marks(object: &ObjectSrc, tape: &Tape<'_>) -> Marks {
    match &object.attributes {
        Attributes::Json(_) => Marks::new(tape, &object.sensitive_paths),
        Attributes::Flat(_) => Marks::flat(tape, &object.sensitive_paths),
    }
}
