//! A change on its way from the editor to the text of the state, without a second text in memory.

use super::{Editor, OpenState, WriteError};
use groundstate_statefile::Patches;
use groundstate_statefile::{EncodeOptions, encode};
use groundstate_states::Serial;

/// The outcome of an [`Editor`], free of what it was made on.
///
/// ```
/// use groundstate_state_edit::OpenState;
/// use groundstate_states::Serial;
///
/// let state = OpenState::open(br#"{"version": 4, "serial": 7}"#.to_vec())?;
/// let rewrite = state.editor().rewrite(Serial::new(8)).expect("nothing stands against it");
/// assert_eq!(rewrite.into_text(state), br#"{"version": 4, "serial": 8}"#);
/// # Ok::<(), groundstate_statefile::ReadError>(())
/// ```
#[derive(Debug)]
pub struct Rewrite(Kind);

enum Kind {
    Patched(Patches),
    Whole(Vec<u8>),
}

impl Editor<'_> {
    /// The change with this serial, ready to be made in place once the editor is gone.
    ///
    /// # Errors
    ///
    /// As [`Editor::write_to`].
    pub fn rewrite(&self, serial: Serial) -> Result<Rewrite, WriteError> {
        let Some(mut edit) = self.edit()? else {
            let mut file = self.to_file()?;
            file.serial = serial;
            return Ok(Rewrite(Kind::Whole(encode(&file, &EncodeOptions::default())?)));
        };
        Ok(Rewrite(Kind::Patched(edit.serial(serial).patches()?)))
    }
}

impl Rewrite {
    /// The changed text of the state that the change was made on. A document's own memory is used for it.
    pub fn into_text(self, state: OpenState) -> Vec<u8> {
        match self.0 {
            Kind::Whole(text) => text,
            Kind::Patched(patches) => {
                let mut text = match state {
                    OpenState::Document(document) => document.into_text(),
                    OpenState::File(_) => Vec::new(),
                };
                patches.apply(&mut text);
                text
            }
        }
    }
}

impl std::fmt::Debug for Kind {
    /// Shows how much, and not what: states hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Patched(patches) => patches.fmt(f),
            Self::Whole(text) => f.debug_struct("Whole").field("bytes", &text.len()).finish(),
        }
    }
}
