//! Attribute and output values: kept as text, walked without recursion, printed as HCL or JSON.

mod concrete;
mod dynamic;
mod events;
mod hcl;
mod json;
mod marks;

pub(crate) use concrete::concrete;
pub(crate) use events::{Event, Events};
pub(crate) use hcl::{Hcl, quoted};
pub(crate) use json::{sensitive_values, values};
pub(crate) use marks::Marks;
