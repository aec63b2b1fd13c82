//! A table of this project's own: contents as bytes, with attributes, and versions from a sequence.

mod settings;
mod statements;
mod store;

pub use settings::TableSettings;
pub use store::TableBlobs;
