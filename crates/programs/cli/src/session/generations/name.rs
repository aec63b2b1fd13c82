//! Names of backup files: everything that a list shows, so that listing reads no backup.

use std::path::PathBuf;

use groundstate_common::Timestamp;

/// Ending of a backup.
const ENDING: &str = ".backup";
/// Ending of a compressed backup.
const PACKED: &str = ".backup.gz";
/// Beginning of a backup whose write has not succeeded yet.
const PENDING: &str = ".pending-";

/// A backup of a state: its content before an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    /// Position among the backups of the state, from 1.
    pub(crate) number: u64,
    /// Time of the operation, to the second.
    pub(crate) time: Timestamp,
    /// The operation that replaced the content.
    pub(crate) operation: String,
    /// The generation that the operation restored. `None` if it was not an undo.
    pub(crate) restored: Option<u64>,
    /// Beginning of the digest of what the operation stored.
    pub(crate) after: String,
    /// Size of the file.
    pub(crate) bytes: u64,
    pub(crate) path: PathBuf,
}

impl Generation {
    /// Takes a file name apart. Returns `None` if it is not that of a backup.
    pub(super) fn parse(path: PathBuf, bytes: u64) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let stem = name.strip_suffix(PACKED).or_else(|| name.strip_suffix(ENDING))?;
        let mut parts = stem.split('_');
        let mut part = || parts.next();
        let (number, time, operation, restored, after) = (part()?, part()?, part()?, part()?, part()?);
        let found = Self {
            number: number.parse().ok().filter(|number| *number > 0)?,
            time: parse_time(time)?,
            operation: operation.to_owned(),
            restored: restored.parse().ok().filter(|number| *number > 0),
            after: after.to_owned(),
            bytes,
            path: path.clone(),
        };
        part().is_none().then_some(found)
    }

    pub(super) fn is_packed(&self) -> bool {
        self.path.extension().is_some_and(|ending| ending == "gz")
    }

    /// The path of the same backup when it is compressed.
    pub(super) fn packed_path(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".gz");
        path.into()
    }
}

/// The name of a backup.
pub(super) fn name(number: u64, time: Timestamp, what: &Pending, after: &str) -> String {
    let Pending { operation, restored, .. } = what;
    format!("{number:06}_{}_{operation}_{}_{after}{ENDING}", show_time(time), restored.unwrap_or_default())
}

/// Content of the name of a backup whose write has not succeeded yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) process: u32,
    pub(super) operation: String,
    pub(super) restored: Option<u64>,
}

impl Pending {
    pub(super) fn name(&self, id: &str) -> String {
        let Self { process, operation, restored } = self;
        format!("{PENDING}{process}_{operation}_{}_{id}", restored.unwrap_or_default())
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PENDING)?.split('_');
        Some(Self {
            process: parts.next()?.parse().ok()?,
            operation: parts.next()?.to_owned(),
            restored: parts.next()?.parse().ok().filter(|number| *number > 0),
        })
    }
}

/// `20261128T075500Z`
fn show_time(time: Timestamp) -> String {
    let text = time.to_string();
    let seconds = text.get(..19).unwrap_or(&text);
    seconds.replace(['-', ':'], "") + "Z"
}

fn parse_time(text: &str) -> Option<Timestamp> {
    let part = |from: usize, to: usize| text.get(from..to);
    let (date, time) = (part(0, 8)?, part(9, 15)?);
    let (year, month, day) = (date.get(..4)?, date.get(4..6)?, date.get(6..)?);
    let (hour, minute, second) = (time.get(..2)?, time.get(2..4)?, time.get(4..)?);
    Timestamp::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z")).ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use groundstate_common::Timestamp;

    use super::{Generation, Pending, name};

    #[test]
    fn names_say_number_time_operation_and_digest() {
        let time = Timestamp::parse("2026-11-28T07:55:01.5Z").unwrap();
        let what = Pending { process: 7, operation: "state-undo".to_owned(), restored: Some(3) };
        let name = name(12, time, &what, "66f5aef1d360366d");
        assert_eq!(name, "000012_20261128T075501Z_state-undo_3_66f5aef1d360366d.backup");
        for name in [name.clone(), format!("{name}.gz")] {
            let found = Generation::parse(PathBuf::from(&name), 5).unwrap();
            assert_eq!((found.number, found.restored, found.bytes), (12, Some(3), 5));
            assert_eq!((&*found.operation, &*found.after), ("state-undo", "66f5aef1d360366d"));
            assert_eq!(found.time.to_string(), "2026-11-28T07:55:01Z");
            assert_eq!(found.is_packed(), name.ends_with(".gz"));
        }
        assert_eq!(Pending::parse(&what.name("id")), Some(what));
        for other in ["000000_20261128T075501Z_a_0_b.backup", "x.backup", "000001_x_a_0_b.backup", "place"] {
            assert_eq!(Generation::parse(PathBuf::from(other), 0), None, "{other}");
        }
    }
}
