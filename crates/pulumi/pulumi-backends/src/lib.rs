//! Where Pulumi stacks are: from a backend URL, or from a project directory, to an open store.
//!
//! ```
//! use groundstate_pulumi_backends::BackendUrl;
//!
//! let url = BackendUrl::parse("s3://ana:hush@stacks/team/a?region=eu-central-1&prefix=old-")?;
//! assert_eq!((url.scheme(), url.container()), ("s3", "stacks"));
//! assert_eq!(url.key_prefix()?, "old-team/a/");
//! // User info and parameters may be secrets.
//! assert_eq!(url.to_string(), "s3://stacks/team/a");
//! # Ok::<(), groundstate_pulumi_backends::blobs::Error>(())
//! ```
//!
//! # Finding your way
//!
//! - [`BackendUrl`] is what `pulumi login` takes for a bucket. [`BackendChoice::open`] gives the store, wrapped in retries and below its key
//!   prefix, and notes on parameters that mean nothing here.
//! - [`ServiceUrl`] is what it takes for a service. `ServiceChoice::open` gives a client with the token of the user's login.
//! - [`Project`] is the `Pulumi.yaml` of a directory or of one above it.
//! - [`ChosenBackend::of_directory`] finds either as the `pulumi` command does: variable, project file, stored login.
//! - [`selected_stack`] reads which stack is selected there.
//! - [`CloudSecrets`] opens the managers of stacks whose data key a key service has wrapped, and makes new ones.
//! - `ServiceSecrets` opens those whose key a service keeps, for the user who has logged in there.
//! - [`StackConfig`] is the configuration file of a stack, whose encrypted values and key it changes in place.
//! - [`PulumiHome`] is the folder `~/.pulumi`, of which only the login and the selection are read.
//!
//! # What is deliberately absent
//!
//! - The environment of the process: variables are looked up by a function that the caller hands in.
//! - Stacks in an open store, which are `groundstate-pulumi-diy`'s, and in a service, which are `groundstate-pulumi-http`'s.
//!
//! # Features
//!
//! One for each cloud, with its buckets and its keys, one for transit engines, one for services and the secrets that they encrypt, and one for
//! databases, all off by default: `s3`,
//! `gcs`, `azblob`, `hashivault`, `service`, `postgres`.

#[cfg(feature = "azblob")]
mod azblob;
mod choice;
mod file;
#[cfg(feature = "gcs")]
mod gcs;
mod home;
mod open;
#[cfg(feature = "postgres")]
mod postgres;
mod project;
mod query;
#[cfg(feature = "s3")]
mod s3;
mod secrets;
#[cfg(feature = "service")]
mod service_login;
mod service_url;
mod small_file;
mod stack_config;
mod url;
mod yaml;

pub use choice::{BackendChoice, ChosenBackend, ServiceChoice, UrlSource};
pub use home::{PulumiHome, selected_stack};
pub use open::{OpenContext, OpenedStore};
pub use project::Project;
pub use secrets::{CloudSecrets, CloudSecretsError, KeyUrl, KeyUrlError};
#[cfg(feature = "service")]
pub use secrets::{ServiceSecrets, ServiceSecretsError};
#[cfg(feature = "service")]
pub use service_login::ServiceLoginError;
pub use service_url::ServiceUrl;
pub use stack_config::{StackConfig, StackConfigError, StackKey};
pub use url::BackendUrl;

/// The contract of blob stores, whose error is this crate's too.
pub use groundstate_blobs as blobs;
/// What a program hands to key services, and why they refuse.
pub use groundstate_key_services as key_services;
/// Names of stacks, and what an open store holds.
pub use groundstate_pulumi_diy as pulumi_diy;
/// What an open service has.
#[cfg(feature = "service")]
pub use groundstate_pulumi_http as pulumi_http;
/// Managers, and the state that they are opened from.
pub use groundstate_pulumi_secrets as pulumi_secrets;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
