//! Batches: what one process has recorded and the chain does not have yet.

use serde::{Deserialize, Serialize};

use crate::entry::{FORMAT, InvalidLine, Record, after_format};
use crate::hash::Hash;
use crate::location::BatchName;
use crate::seal::{seal, unseal};

/// The first line of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(rename = "v")]
    format: u64,
    run: String,
    /// The number of the first record.
    first: u64,
    count: u64,
    /// The hash of all lines but the first.
    lines: Hash,
}

/// A batch that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) run: String,
    pub(crate) records: Vec<Record>,
    /// The hash of the batch before it, of the same process.
    pub(crate) previous: Hash,
    pub(crate) hash: Hash,
}

impl Batch {
    /// The number behind its last record.
    pub(crate) fn next(&self) -> u64 {
        self.records.last().map_or(0, |record| record.number.saturating_add(1))
    }

    /// Whether this is its name.
    pub(crate) fn is_named(&self, name: &BatchName) -> bool {
        self.run == name.run && self.records.first().is_some_and(|record| record.number == name.first)
    }
}

/// The bytes of a batch, and its hash. The records have numbers that follow each other; without any, there is nothing to write.
pub(crate) fn encode(run: &str, records: &[Record], previous: Hash) -> (Vec<u8>, Hash) {
    let mut lines = String::new();
    for record in records {
        lines.push_str(&record.to_json());
        lines.push('\n');
    }
    let header = Header {
        format: FORMAT,
        run: run.to_owned(),
        first: records.first().map_or(0, |record| record.number),
        count: records.len() as u64,
        lines: Hash::of(lines.as_bytes()),
    };
    let (line, hash) = seal(&serde_json::to_string(&header).unwrap_or_default(), previous);
    (format!("{line}\n{lines}").into_bytes(), hash)
}

/// Reads a batch, and checks all that it says of itself.
pub(crate) fn decode(bytes: &[u8]) -> Result<Batch, InvalidLine> {
    let text = std::str::from_utf8(bytes).map_err(|_| InvalidLine::form("it is not valid UTF-8"))?;
    let (line, lines) =
        text.split_once('\n').ok_or_else(|| InvalidLine::form("its first line has no end"))?;
    after_format(line)?;
    let sealed =
        unseal(line).ok_or_else(|| InvalidLine::form("its first line does not end with its hashes"))?;
    let json = format!("{}}}", sealed.body);
    let header: Header = serde_json::from_str(&json).map_err(InvalidLine::form)?;
    if sealed.computed != sealed.hash || header.lines != Hash::of(lines.as_bytes()) {
        return Err(InvalidLine::Hash);
    }
    let canonical = serde_json::to_string(&header).is_ok_and(|again| again == json);
    if !canonical || (!lines.is_empty() && !lines.ends_with('\n')) {
        return Err(InvalidLine::form("it is not written canonically"));
    }
    let records = lines.split_terminator('\n').map(Record::parse).collect::<Result<Vec<Record>, _>>()?;
    let numbers = (header.first..).zip(&records);
    let fits = records.len() as u64 == header.count
        && numbers.into_iter().all(|(number, record)| record.number == number && record.run == header.run);
    if header.count == 0 || !fits {
        return Err(InvalidLine::form("its records do not fit its first line"));
    }
    Ok(Batch { run: header.run, records, previous: sealed.previous, hash: sealed.hash })
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::entry::tests::record;
    use crate::hash::Hash;

    #[test]
    fn batches_are_read_as_they_were_written_and_any_change_is_found() {
        let records = [record(5), record(6)];
        let (bytes, hash) = encode("r", &records, Hash::START);
        let batch = decode(&bytes).unwrap();
        assert_eq!((batch.hash, batch.records), (hash, records.to_vec()));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(decode(&changed).is_err(), "{at}");
            assert!(decode(&bytes[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn records_that_do_not_follow_each_other_are_refused() {
        for records in [vec![], vec![record(5), record(7)], vec![record(0), record(0)]] {
            assert!(decode(&encode("r", &records, Hash::START).0).is_err(), "{records:?}");
        }
        assert!(decode(&encode("other", &[record(1)], Hash::START).0).is_err());
    }
}
