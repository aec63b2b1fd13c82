//! Values of attributes and outputs as text: in the syntax of configuration, as `terraform show` prints them, and as JSON, as
//! `terraform show -json` has them. Values that are sensitive are hidden in the one and null in the other.
//!
//! ```
//! use groundstate_values::json::Tape;
//! use groundstate_values::states::{AttributePath, PathStep};
//! use groundstate_values::{Hcl, Marks, sensitive_values, values};
//!
//! let tape = Tape::new(r#"{"id":"i-1","password":"hunter2","ports":[80,443]}"#);
//! let sensitive = AttributePath { steps: vec![PathStep::attribute("password")] };
//! let marks = Marks::new(&tape, &[sensitive]);
//!
//! assert_eq!(values(&tape, &marks), r#"{"id":"i-1","password":null,"ports":[80,443]}"#);
//! assert_eq!(sensitive_values(&tape, &marks), r#"{"password":true,"ports":[false,false]}"#);
//! assert!(Hcl::value(&tape, &marks, 0).contains("password = (sensitive value)"));
//! ```
//!
//! Values stay the text they were stored as: numbers keep their digits, strings their escapes. They are walked without recursion,
//! so that nothing depends on how deep they nest. Wrappers by which a state keeps the type of a dynamic attribute are left out.

mod concrete;
mod dynamic;
mod events;
mod hcl;
mod json_text;
mod marks;

pub use concrete::concrete;
pub use hcl::{Hcl, quoted};
pub use json_text::{sensitive_values, values};
pub use marks::Marks;

pub use groundstate_json as json;
pub use groundstate_states as states;

pub(crate) use events::{Event, Events};
