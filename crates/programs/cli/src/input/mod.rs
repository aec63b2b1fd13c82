//! From the STATE argument to a state that can be read: where it is, whose it is, what it says. It knows no verb.

pub(crate) mod backend;
pub(crate) mod condensed;
pub(crate) mod environment;
pub(crate) mod family;
pub(crate) mod foreign;
pub(crate) mod found_stack;
pub(crate) mod head;
pub(crate) mod history;
pub(crate) mod ignored;
pub(crate) mod listing;
pub(crate) mod locate;
pub(crate) mod location;
pub(crate) mod packed;
pub(crate) mod paths;
pub(crate) mod pulumi;
pub(crate) mod reader;
pub(crate) mod remote;
pub(crate) mod run_journal;
pub(crate) mod runtime;
pub(crate) mod source;
pub(crate) mod stack;
pub(crate) mod stack_store;
pub(crate) mod state;
pub(crate) mod terraform;
pub(crate) mod threads;
pub(crate) mod workdir;
