//! State models of Terraform and OpenTofu.

pub mod addr;
mod check;
mod deposed;
mod json_scan;
mod lineage;
mod module;
mod number;
mod object;
mod output;
mod path;
mod query;
mod raw;
mod resource;
mod set_order;
mod state;
mod value;

pub use check::{CheckAggregate, CheckObject, CheckResults, CheckStatus};
pub use deposed::{DeposedKey, DeposedKeyError, Generation};
pub use lineage::{Lineage, Serial};
pub use module::Module;
pub use number::{Number, NumberError};
pub use object::{Attributes, ObjectSrc, ObjectStatus};
pub use output::OutputValue;
pub use path::{AttributePath, PathStep, PathStepKind};
pub use raw::{Extra, RawJson, RawJsonError};
pub use resource::{Resource, ResourceInstance};
pub use state::State;
pub use value::{MAX_VALUE_DEPTH, ObjectType, Type, Value};
