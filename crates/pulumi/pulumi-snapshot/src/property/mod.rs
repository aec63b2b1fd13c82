//! Property values: what inputs and outputs are made of.

mod asset;
mod equality;
mod number;
mod path;
mod secret;
mod value;

pub use asset::{Archive, ArchiveContent, Asset, ResourceReference};
pub use number::{Number, NumberError};
pub use path::{PropertyPath, PropertyPathError, PropertyPathStep};
pub use secret::Secret;
pub use value::{Output, PropertyMap, PropertyValue};
