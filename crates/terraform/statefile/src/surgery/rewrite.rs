//! A change on its way from the surgery to the text, without a second text in memory.

use super::{Opened, Surgery, WriteError};
use crate::encode::{EncodeOptions, encode};
use crate::patches::Patches;
use groundstate_states::Serial;

/// The outcome of a surgery, free of what it was made on.
///
/// ```
/// use groundstate_statefile::surgery::Opened;
/// use groundstate_states::Serial;
///
/// let opened = Opened::open(br#"{"version": 4, "serial": 7}"#.to_vec())?;
/// let rewrite = opened.surgery().rewrite(Serial::new(8)).expect("nothing stands against it");
/// assert_eq!(rewrite.into_text(opened), br#"{"version": 4, "serial": 8}"#);
/// # Ok::<(), groundstate_statefile::ReadError>(())
/// ```
#[derive(Debug)]
pub struct Rewrite(Kind);

enum Kind {
    Patched(Patches),
    Whole(Vec<u8>),
}

impl Surgery<'_> {
    /// The change with this serial, ready to be made in place once the surgery is over.
    ///
    /// # Errors
    ///
    /// As [`Surgery::write_to`].
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
    /// The changed text of `opened`, which the surgery was made on. A document's own memory is used for it.
    pub fn into_text(self, opened: Opened) -> Vec<u8> {
        match self.0 {
            Kind::Whole(text) => text,
            Kind::Patched(patches) => {
                let mut text = match opened {
                    Opened::Document(document) => document.into_text(),
                    Opened::File(_) => Vec::new(),
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
