//! State of Terraform and OpenTofu in template.
//!
//! ```
//! use groundstate_statemgr::{StateStore, WriteOptions};
//! use CRATE_NAME::{Service, TemplateStore};
//!
//! let store = TemplateStore::new(Service::default(), "prod");
//! # groundstate_conformance::block_on(async {
//! store.write(r#"{"version":4,"serial":1}"#.into(), &WriteOptions::any()).await?;
//! assert!(store.read().await?.is_some());
//! # Ok::<(), groundstate_statemgr::Error>(())
//! # })?;
//! # Ok::<(), groundstate_statemgr::Error>(())
//! ```

mod locking;
mod service;
mod store;
mod writing;

pub use service::{Condition, Entry, Service, ServiceError};
pub use store::TemplateStore;
