//! Large invented states, the same bytes each time.
//!
//! [`Recipe`] says how large a state is and from which seed it grows; [`Format`] says who could have written it. What
//! comes out looks like a real estate of servers, rules, keys and records: modules with `count` and `for_each`, odd
//! keys, tainted and deposed objects, sensitive attributes, provider data, dependencies, outputs and check results,
//! about 2.2 KB an instance. Every name, key and certificate in it is made up and opens nothing.
//!
//! ```
//! use groundstate_bench::{Format, Recipe};
//!
//! let mut text = Vec::new();
//! Recipe::new(20).write(Format::Terraform, &mut text)?;
//! assert!(text.starts_with(b"{\n  \"version\": 4,\n  \"terraform_version\": \"1.11.4\","));
//! assert!(text.ends_with(b"}\n"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`write_deployment`] does the same for Pulumi.
//!
//! The program of this package measures with these states; `docs/benchmarks.md` says how.

mod deployment;
mod json;
mod kinds;
mod legacy;
mod outputs;
mod plan;
mod recipe;
mod rng;
mod text;
mod v4;

pub use deployment::write_deployment;
pub use outputs::KNOWN_OUTPUT;
pub use plan::{FREE_RESOURCE, KNOWN_RESOURCE};
pub use recipe::{Format, Recipe, UnknownFormat};
