//! Work on a stored state: its lock, its manager, its backup, and what is left when that ends early. It knows no verb.

pub(crate) mod back;
pub(crate) mod backup;
pub(crate) mod backup_store;
pub(crate) mod consent;
pub(crate) mod files;
pub(crate) mod generations;
pub(crate) mod interrupt;
pub(crate) mod keeper;
pub(crate) mod lock_end;
pub(crate) mod locked;
pub(crate) mod managed_state;
pub(crate) mod operations;
pub(crate) mod pair;
pub(crate) mod precious;
pub(crate) mod recovery;
pub(crate) mod save;
#[cfg(feature = "server")]
pub(crate) mod server_store;
pub(crate) mod stack;
pub(crate) mod stack_lock;
pub(crate) mod state_error;
pub(crate) mod who;
