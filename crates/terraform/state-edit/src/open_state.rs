//! A state text of any version, opened in the way that suits it.

use groundstate_states::{Lineage, Serial};

use super::Editor;
use groundstate_statefile::Document;
use groundstate_statefile::File;
use groundstate_statefile::ReadError;
use groundstate_statefile::{DecodeOptions, decode, version};

/// A state that editor can work on: a document if it is of format 4, and a model if it is older.
///
/// ```
/// use groundstate_state_edit::OpenState;
/// use groundstate_states::{Serial, addr::Target};
///
/// let old = br#"{"version": 3, "serial": 7, "lineage": "a", "modules": [{"path": ["root"], "outputs": {}, "resources":
///     {"null_resource.a": {"type": "null_resource", "primary": {"id": "1"}, "provider": "provider.null"}}}]}"#;
/// let state = OpenState::open(old.to_vec())?;
/// let mut editor = state.editor();
/// editor.remove(&[Target::parse("null_resource.a")?])?;
/// let mut written = Vec::new();
/// editor.write_to(state.serial().next().unwrap_or_default(), &mut written)?;
/// assert!(String::from_utf8(written)?.contains(r#""version": 4"#), "it is upgraded");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenState {
    /// Of format 4: only what is touched is decoded and written anew.
    Document(Box<Document>),
    /// Of an older format: all of it is decoded, and written in format 4.
    File(Box<File>),
}

impl OpenState {
    /// Opens a state of any version.
    ///
    /// # Errors
    ///
    /// As [`decode`].
    pub fn open(text: Vec<u8>) -> Result<Self, ReadError> {
        Self::open_with(text, &DecodeOptions::default())
    }

    /// The same with options, as [`Document::open_with`] and [`decode`] take them.
    ///
    /// # Errors
    ///
    /// As [`decode`].
    pub fn open_with(text: Vec<u8>, options: &DecodeOptions) -> Result<Self, ReadError> {
        match version(&text)? {
            4 => Ok(Self::Document(Box::new(Document::open_with(text, options)?))),
            _ => Ok(Self::File(Box::new(decode(&text, options)?))),
        }
    }

    /// Begins changes.
    pub fn editor(&self) -> Editor<'_> {
        match self {
            Self::Document(document) => Editor::on_document(document),
            Self::File(file) => Editor::on_file(file),
        }
    }

    /// The serial; 0 if there is none.
    pub fn serial(&self) -> Serial {
        match self {
            Self::Document(document) => document.serial(),
            Self::File(file) => file.serial,
        }
    }

    /// The lineage; empty if there is none.
    pub fn lineage(&self) -> Lineage {
        match self {
            Self::Document(document) => document.lineage(),
            Self::File(file) => file.lineage.clone(),
        }
    }
}
