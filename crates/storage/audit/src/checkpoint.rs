//! How far a log goes, in one word that an operator can keep elsewhere.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::hash::Hash;

/// The number of entries and the hash of the last one.
///
/// Its text is `COUNT:HASH`. An attacker who can write every object of a log can write a chain anew, with all its hashes; a
/// checkpoint that is kept out of their reach shows it.
///
/// ```
/// use groundstate_audit::Checkpoint;
///
/// let text = "12:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
/// let checkpoint: Checkpoint = text.parse()?;
/// assert_eq!((checkpoint.count, checkpoint.to_string()), (12, text.to_owned()));
/// # Ok::<(), groundstate_audit::InvalidCheckpoint>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// How many entries there are up to here, which is the number of the last.
    pub count: u64,
    /// The hash of the last entry; zeros where there is none.
    pub hash: Hash,
}

/// The text is not a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCheckpoint(&'static str);

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.count, self.hash)
    }
}

impl FromStr for Checkpoint {
    type Err = InvalidCheckpoint;

    fn from_str(text: &str) -> Result<Self, InvalidCheckpoint> {
        let (count, hash) = text.split_once(':').ok_or(InvalidCheckpoint("it has no colon"))?;
        let digits = count.bytes().all(|byte| byte.is_ascii_digit());
        let count = count.parse().ok().filter(|_| digits);
        let count = count.ok_or(InvalidCheckpoint("no count of entries stands before the colon"))?;
        Ok(Self { count, hash: hash.parse().map_err(InvalidCheckpoint)? })
    }
}

impl fmt::Display for InvalidCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a checkpoint, which is COUNT:HASH as verification prints it: {}", self.0)
    }
}

impl std::error::Error for InvalidCheckpoint {}

#[cfg(test)]
mod tests {
    use super::Checkpoint;

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        let hash = "0".repeat(64);
        assert_eq!(format!("0:{hash}").parse(), Ok(Checkpoint::default()));
        for (text, why) in [
            ("12".to_owned(), "no colon"),
            (format!(":{hash}"), "no count"),
            (format!("+1:{hash}"), "no count"),
            (format!("99999999999999999999:{hash}"), "no count"),
            ("1:00".to_owned(), "64"),
        ] {
            let error = text.parse::<Checkpoint>().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
