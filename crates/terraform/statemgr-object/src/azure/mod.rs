//! States, locks and workspaces of Terraform's `azurerm` backend.

mod backend;
mod locking;
mod seen;
mod state;
mod store;
mod unlocking;

pub use backend::AzureBackend;
pub use store::AzureStore;
