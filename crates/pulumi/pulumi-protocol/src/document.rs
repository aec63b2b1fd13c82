//! Documents as text: reading without secrets in errors, and values whose exact text is kept.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// Why a text is not the document that it should be.
///
/// The message has the position, and no part of the text: values may be secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The text is not JSON, or ends too early.
    #[error("the document is not valid JSON: line {line}, column {column}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The byte within the line, from 1.
        column: usize,
    },
    /// A member is missing, or has another type or an unknown word.
    #[error("a value in the document is missing or has the wrong type: line {line}, column {column}")]
    Shape {
        /// The line, from 1.
        line: usize,
        /// The byte within the line, from 1.
        column: usize,
    },
    /// The document is another value than an object.
    #[error("the document is not a JSON object")]
    NoObject,
    /// A value that cannot be written.
    #[error("the document cannot be written as JSON")]
    Unwritable,
}

impl DocumentError {
    fn reading(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        match error.classify() {
            Category::Data => Self::Shape { line, column },
            Category::Syntax | Category::Eof | Category::Io => Self::Syntax { line, column },
        }
    }
}

/// Reads a document of this crate from the text of a request or an answer.
///
/// Documents are objects. Unknown members are ignored, `null` means what an absent member means. A repeated member is an error.
///
/// # Errors
///
/// Text that is not JSON, and values of another type.
pub fn decode<T: DeserializeOwned>(text: &[u8]) -> Result<T, DocumentError> {
    let document = serde_json::from_slice(text).map_err(|error| DocumentError::reading(&error))?;
    // The values of the members in an array would be taken for the members of an object.
    if text.trim_ascii_start().starts_with(b"{") { Ok(document) } else { Err(DocumentError::NoObject) }
}

/// Writes a document of this crate as compact JSON.
///
/// # Errors
///
/// [`DocumentError::Unwritable`], for types of other crates only.
pub fn encode<T: Serialize>(document: &T) -> Result<Vec<u8>, DocumentError> {
    serde_json::to_vec(document).map_err(|_| DocumentError::Unwritable)
}

/// One JSON value as the exact text that it had in its document, white space inside included.
///
/// Its `Debug` shows the length alone: deployments and events hold values of users.
///
/// ```
/// use groundstate_pulumi_protocol::JsonText;
///
/// let text = JsonText::parse(r#"{ "a": 1.0 }"#)?;
/// assert_eq!(text.as_str(), r#"{ "a": 1.0 }"#);
/// assert_eq!(format!("{text:?}"), "JsonText(12 bytes)");
/// # Ok::<(), groundstate_pulumi_protocol::DocumentError>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(Box<RawValue>);

impl JsonText {
    /// Checks that the text is one JSON value. White space around it is dropped.
    ///
    /// # Errors
    ///
    /// [`DocumentError::Syntax`]
    pub fn parse(text: impl Into<String>) -> Result<Self, DocumentError> {
        RawValue::from_string(text.into()).map(Self).map_err(|error| DocumentError::reading(&error))
    }

    /// The JSON as it was received.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The bytes of the text.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.get().as_bytes()
    }

    /// The text, without a copy.
    pub fn into_string(self) -> String {
        Box::<str>::from(self.0).into_string()
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Reads the value, an object, as a document of its own.
    ///
    /// # Errors
    ///
    /// [`DocumentError::Shape`], with positions within this text, and [`DocumentError::NoObject`].
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, DocumentError> {
        decode(self.as_bytes())
    }
}

impl PartialEq for JsonText {
    /// Compares texts, byte for byte.
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for JsonText {}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonText({} bytes)", self.as_str().len())
    }
}
