//! Where resources stand in a text.

use groundstate_json::{Cursor, Kind, SourcePos, Stop, places};

use crate::problem::ReadError;
use crate::sink::syntax_error;

/// Where each resource and each pending operation of a document begins.
///
/// The model knows resources by their index; this turns an index into a place of the text it was read from.
///
/// ```
/// use groundstate_pulumi_deployment::Offsets;
///
/// let text = br#"{"version":3,"deployment":{"resources":[{"urn":"a"},{"urn":"b"}]}}"#;
/// let offsets = Offsets::find(text)?;
/// let place = &offsets.places(text, &offsets.resources[1..])[0];
/// assert_eq!(place.to_string(), "line 1, column 53 (deployment.resources[1])");
/// # Ok::<(), groundstate_pulumi_deployment::ReadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offsets {
    /// Of each resource, the index of its first byte.
    pub resources: Vec<usize>,
    /// Of each pending operation.
    pub pending_operations: Vec<usize>,
}

impl Offsets {
    /// Finds them in a document of either envelope and any version.
    ///
    /// # Errors
    ///
    /// The text is not JSON.
    pub fn find(text: &[u8]) -> Result<Self, ReadError> {
        let mut found = Self::default();
        match found.walk(&mut Cursor::new(text), 0) {
            Ok(()) => Ok(found),
            Err(stop) => Err(syntax_error(text, stop)),
        }
    }

    /// Line, column and path of some of them, in one pass over the text.
    pub fn places(&self, text: &[u8], offsets: &[usize]) -> Vec<SourcePos> {
        places(text, offsets)
    }

    /// Looks into the members that lead to a deployment; it lies two objects deep at most, in a checkpoint.
    fn walk(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<(), Stop> {
        if cursor.kind()? != Kind::Object {
            return cursor.skip();
        }
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            match &*name.bytes() {
                b"deployment" | b"checkpoint" if depth == 0 => self.walk(cursor, 1)?,
                b"latest" if depth < 2 => self.walk(cursor, 2)?,
                b"resources" if depth > 0 => elements(cursor, &mut self.resources)?,
                b"pending_operations" if depth > 0 => elements(cursor, &mut self.pending_operations)?,
                _ => cursor.skip()?,
            }
        }
        Ok(())
    }
}

/// The places of all elements; of lists that are there twice, those of the last.
fn elements(cursor: &mut Cursor<'_>, offsets: &mut Vec<usize>) -> Result<(), Stop> {
    offsets.clear();
    if cursor.kind()? != Kind::Array {
        return cursor.skip();
    }
    cursor.open(b'[')?;
    let mut first = true;
    while cursor.element(&mut first)? {
        cursor.space();
        offsets.push(cursor.offset());
        cursor.skip()?;
    }
    Ok(())
}
