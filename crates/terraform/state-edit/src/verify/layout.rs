//! The rule on the layout: whether writing the file again gives the same bytes.

use std::io;

use super::finding::Draft;
use super::rule::Rule;
use groundstate_statefile::File;
use groundstate_statefile::{EncodeOptions, encode_to};

/// Writes the file without keeping what is written, and compares it with the text it was read from.
pub(super) fn check(file: &File, text: &[u8], threads: usize) -> Option<Draft> {
    let comparison = Comparison { text, written: 0, differs: None };
    let options = EncodeOptions::default().allow_loss(true).threads(threads);
    let Comparison { written, differs, .. } = encode_to(file, &options, comparison).ok()?;
    let offset = differs.or((written < text.len()).then_some(written))?;
    let change = match written.checked_sub(text.len()) {
        Some(0) => "without changing its size".to_owned(),
        Some(more) => format!("and make it {more} bytes longer"),
        None => format!("and make it {} bytes shorter", text.len() - written),
    };
    let message = format!("writing the state again would change the file from byte {offset} on {change}");
    Some(Draft::new(Rule::NotCanonical, offset, message))
}

/// Takes what is written, and only remembers where it first differs from the text.
struct Comparison<'t> {
    text: &'t [u8],
    written: usize,
    differs: Option<usize>,
}

impl io::Write for Comparison<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.differs.is_none() {
            let expected = self.text.get(self.written..).unwrap_or_default();
            let expected = expected.get(..bytes.len()).unwrap_or(expected);
            if expected != bytes {
                let equal = expected.iter().zip(bytes).take_while(|(a, b)| a == b).count();
                self.differs = Some(self.written + equal);
            }
        }
        self.written += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
