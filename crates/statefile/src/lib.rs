//! Lossless reader and writer of Terraform and OpenTofu state files.

mod json;
mod note;
mod problem;
mod sink;
mod value;

pub use json::Place;
pub use note::{Note, NoteKind};
pub use problem::{Code, Problem, Problems, ReadError};

/// Options of the writer.
#[derive(Clone, Debug, Default)]
pub struct EncodeOptions {
    /// Writes although something would be lost.
    pub allow_loss: bool,
}
