//! Whether text that arrives in pieces is UTF-8.

/// The bytes of a character whose end has not come yet.
#[derive(Debug, Default)]
pub(super) struct Utf8 {
    begun: Vec<u8>,
}

impl Utf8 {
    /// Reads more of a text.
    ///
    /// # Errors
    ///
    /// How many bytes of it stand before what is not UTF-8.
    pub(super) fn push(&mut self, text: &[u8]) -> Result<(), usize> {
        let mut at = 0;
        while let (false, Some(&byte)) = (self.begun.is_empty(), text.get(at)) {
            self.begun.push(byte);
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(at),
            }
            at += 1;
        }
        let rest = text.get(at..).unwrap_or_default();
        match std::str::from_utf8(rest) {
            Ok(_) => Ok(()),
            Err(error) if error.error_len().is_none() => {
                self.begun.extend_from_slice(rest.get(error.valid_up_to()..).unwrap_or_default());
                Ok(())
            }
            Err(error) => Err(at + error.valid_up_to()),
        }
    }

    /// Whether no character is cut off.
    pub(super) fn is_whole(&self) -> bool {
        self.begun.is_empty()
    }
}
