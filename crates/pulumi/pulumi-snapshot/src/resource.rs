//! Resources: what a snapshot knows of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_json::Extra;

use crate::properties::{Properties, StoredValue};
use crate::property::{Number, PropertyMap};
use crate::property_dependencies::PropertyDependencies;
use crate::provider_ref::ProviderRef;
use crate::text::{ExtensionRef, ResourceId, SnippetId, text_id};
use crate::time::Time;
use crate::type_token::{ROOT_STACK_TYPE, TypeToken};
use crate::urn::Urn;

text_id! {
    /// The moment at which a hook of a resource runs, such as [`HookType::BEFORE_CREATE`].
    pub struct HookType;
}

/// One resource of a snapshot.
///
/// Plain data: any combination can be loaded, and `verify` says what is wrong with it. Absent and empty are the same
/// thing in a file for every member that is not always written. `Debug` shows no inputs or outputs.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Resource {
    /// The name. Not unique: copies that wait for their deletion share it.
    pub urn: Urn,
    /// Managed by a provider; otherwise a component.
    pub custom: bool,
    /// A copy that has been replaced and still has to be deleted.
    pub delete: bool,
    /// The identifier its provider gave it.
    pub id: Option<ResourceId>,
    /// Its type.
    pub resource_type: TypeToken,
    /// What the program asked for.
    pub inputs: Properties,
    /// What the provider answered.
    pub outputs: Properties,
    /// The resource it belongs to.
    pub parent: Option<Urn>,
    /// It must not be deleted.
    pub protect: bool,
    /// It is to be replaced by the next update.
    pub taint: bool,
    /// It is read, not owned.
    pub external: bool,
    /// Resources it depends on.
    pub dependencies: Vec<Urn>,
    /// What went wrong while it was initialized.
    pub init_errors: Vec<Arc<str>>,
    /// The provider that manages it.
    pub provider: Option<ProviderRef>,
    /// Resources that its properties came from.
    pub property_dependencies: PropertyDependencies,
    /// It has been deleted in order to be replaced, and is not there again.
    pub pending_replacement: bool,
    /// Outputs that are secrets whatever the provider says.
    pub additional_secret_outputs: Vec<Arc<str>>,
    /// Other names it was known by. Normalization removes them before each write.
    pub aliases: Vec<Urn>,
    /// How long its operations may take.
    pub custom_timeouts: CustomTimeouts,
    /// The identifier it was imported by.
    pub import_id: Option<ResourceId>,
    /// Its deletion leaves the real one alone.
    pub retain_on_delete: bool,
    /// The resource whose deletion deletes this one too.
    pub deleted_with: Option<Urn>,
    /// Resources whose replacement replaces this one too.
    pub replace_with: Vec<Urn>,
    /// When it was created.
    pub created: Option<Time>,
    /// When it was last changed.
    pub modified: Option<Time>,
    /// Where in the program it stands, `project:///file#line,col`.
    pub source_position: Option<Arc<str>>,
    /// How the program came there.
    pub stack_trace: Vec<StackFrame>,
    /// Properties whose changes are ignored.
    pub ignore_changes: Vec<Arc<str>>,
    /// Properties whose differences are not shown, as paths.
    pub hide_diff: Vec<Arc<str>>,
    /// Properties whose changes replace it.
    pub replace_on_changes: Vec<Arc<str>>,
    /// A value whose change replaces it.
    pub replacement_trigger: Option<StoredValue>,
    /// It is refreshed before each update.
    pub refresh_before_update: bool,
    /// The resource that this one is a view of. That is no dependency.
    pub view_of: Option<Urn>,
    /// Names of hooks, by the moment at which they run.
    pub resource_hooks: BTreeMap<HookType, Vec<Arc<str>>>,
    /// The extension that its package was made by.
    pub extension_ref: Option<ExtensionRef>,
    /// The snippet that made it.
    pub snippet_id: Option<SnippetId>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// How long operations may take, in seconds.
///
/// One word in a resource that has none.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Option<Timeouts>", into = "Option<Timeouts>"))]
pub struct CustomTimeouts(Option<Box<Timeouts>>);

/// The members of [`CustomTimeouts`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Timeouts {
    /// For its creation.
    pub create: Option<Number>,
    /// For changes.
    pub update: Option<Number>,
    /// For its deletion.
    pub delete: Option<Number>,
    /// For reading it.
    pub read: Option<Number>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// One step of a [`Resource::stack_trace`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StackFrame {
    /// Where in the program it stands.
    pub source_position: Option<Arc<str>>,
    /// Members that are not understood.
    pub extra: Extra,
}

impl Resource {
    /// A component of this name and type, with nothing else.
    pub fn new(urn: impl Into<Urn>, resource_type: impl Into<TypeToken>) -> Self {
        Self { urn: urn.into(), resource_type: resource_type.into(), ..Self::default() }
    }

    /// The root resource of a stack, as it is made for a stack that has none: a component with empty inputs.
    pub fn root_stack(stack: &str, project: &str) -> Self {
        let inputs = Properties::Map(PropertyMap::new());
        Self { inputs, ..Self::new(Urn::root_stack(stack, project), ROOT_STACK_TYPE) }
    }

    /// Whether it is a provider, going by its type.
    pub fn is_provider(&self) -> bool {
        self.resource_type.is_provider()
    }

    /// Whether it is the root of its stack: of the root's type and without a parent.
    pub fn is_root_stack(&self) -> bool {
        self.resource_type.is_root_stack() && self.parent().is_none()
    }

    /// The parent, if there is one that is not empty.
    pub fn parent(&self) -> Option<&Urn> {
        self.parent.as_ref().filter(|urn| !urn.is_empty())
    }

    /// The provider, if there is one that is not empty.
    pub fn provider(&self) -> Option<&ProviderRef> {
        self.provider.as_ref().filter(|reference| !reference.is_empty())
    }

    /// The identifier, if there is one that is not empty.
    pub fn id(&self) -> Option<&ResourceId> {
        self.id.as_ref().filter(|id| !id.is_empty())
    }

    /// The reference by which others name this provider.
    ///
    /// # Errors
    ///
    /// Its URN is not that of a provider.
    pub fn provider_ref(&self) -> Result<ProviderRef, crate::ProviderRefError> {
        ProviderRef::build(&self.urn, self.id.as_ref().unwrap_or(&ResourceId::default()))
    }
}

impl CustomTimeouts {
    /// The members, if any is there.
    pub fn get(&self) -> Option<&Timeouts> {
        self.0.as_deref()
    }
}

impl From<Timeouts> for CustomTimeouts {
    fn from(timeouts: Timeouts) -> Self {
        Self((timeouts != Timeouts::default()).then(|| Box::new(timeouts)))
    }
}

#[cfg(feature = "serde")]
impl From<Option<Timeouts>> for CustomTimeouts {
    fn from(timeouts: Option<Timeouts>) -> Self {
        timeouts.map(Self::from).unwrap_or_default()
    }
}

#[cfg(feature = "serde")]
impl From<CustomTimeouts> for Option<Timeouts> {
    fn from(timeouts: CustomTimeouts) -> Self {
        timeouts.0.map(|timeouts| *timeouts)
    }
}

impl HookType {
    /// Before the resource is created.
    pub const BEFORE_CREATE: &'static str = "BeforeCreate";
    /// When an operation fails.
    pub const ON_ERROR: &'static str = "OnError";
}
