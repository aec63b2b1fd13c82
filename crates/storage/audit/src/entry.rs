//! Entries: what was recorded, and its place in the chain.

use std::fmt;

use groundstate_common::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{Event, Outcome};
use crate::hash::Hash;
use crate::seal::{seal, unseal};

/// The version of the format of every object of a log.
pub(crate) const FORMAT: u64 = 1;

/// What was recorded: an event, when and by which process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Record {
    /// When it was recorded, by the clock of the node.
    pub time: Timestamp,
    /// The name of the node.
    pub node: String,
    /// The process: an id that is made when it opens the log.
    pub run: String,
    /// The number among those of the process, from 1.
    #[serde(rename = "n")]
    pub number: u64,
    /// Who attempted it.
    pub actor: String,
    /// What was attempted.
    pub action: String,
    /// On what.
    pub object: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The address it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Why it ended so, or what else identifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A record in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The number in the log, from 1.
    pub sequence: u64,
    /// What was recorded.
    pub record: Record,
    /// The hash of the line before.
    pub previous: Hash,
    /// The hash of this line.
    pub hash: Hash,
}

/// Why a line is not an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidLine {
    /// It is of a version that this program does not know.
    Format(u64),
    /// It has another form than entries have.
    Form(String),
    /// Its hash is not that of its bytes.
    Hash,
}

impl Record {
    pub(crate) fn new(event: Event, time: Timestamp, node: &str, run: &str, number: u64) -> Self {
        let Event { actor, action, object, outcome, request, remote, reason } = event;
        let (node, run, action) = (node.to_owned(), run.to_owned(), action.into_owned());
        Self { time, node, run, number, actor, action, object, outcome, request, remote, reason }
    }

    /// Its JSON; nothing in it can fail to be written.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`to_json`](Self::to_json) writes, and nothing else.
    pub(crate) fn parse(json: &str) -> Result<Self, InvalidLine> {
        let record: Self = serde_json::from_str(json).map_err(InvalidLine::form)?;
        // Other spellings of the same entry would have other hashes.
        if record.to_json() == json {
            Ok(record)
        } else {
            Err(InvalidLine::form("it is not written canonically"))
        }
    }
}

impl Entry {
    /// The record as the next entry behind the one with the hash `previous`, with its line.
    pub(crate) fn chain(sequence: u64, record: Record, previous: Hash) -> (Self, String) {
        let json = record.to_json();
        let body = json.strip_prefix('{').unwrap_or(&json);
        let (line, hash) = seal(&format!("{{\"v\":{FORMAT},\"seq\":{sequence},{body}"), previous);
        (Self { sequence, record, previous, hash }, line)
    }

    /// Reads the line of an entry, without its line break, and checks its hash.
    ///
    /// ```
    /// let error = groundstate_audit::Entry::parse(r#"{"v":2}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "it has format 2, which this version does not read");
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidLine`] for anything that this version does not write byte for byte.
    pub fn parse(line: &str) -> Result<Self, InvalidLine> {
        let rest = after_format(line)?;
        let sealed = unseal(line).ok_or_else(|| InvalidLine::form("it does not end with its hashes"))?;
        // A line without members ends before the comma behind its format.
        let body = sealed.body.get(line.len() - rest.len()..);
        let (sequence, body) = body
            .and_then(|body| body.strip_prefix("\"seq\":"))
            .and_then(|rest| rest.split_once(','))
            .ok_or_else(|| InvalidLine::form("it has no number"))?;
        let sequence = whole_number(sequence).ok_or_else(|| InvalidLine::form("its number is not one"))?;
        if sealed.computed != sealed.hash {
            return Err(InvalidLine::Hash);
        }
        let record = Record::parse(&format!("{{{body}}}"))?;
        Ok(Self { sequence, record, previous: sealed.previous, hash: sealed.hash })
    }
}

/// What follows the version of the format, if it is the one that is known.
pub(crate) fn after_format(line: &str) -> Result<&str, InvalidLine> {
    let rest =
        line.strip_prefix("{\"v\":").ok_or_else(|| InvalidLine::form("it does not begin with its format"))?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (version, rest) = rest.split_at(end);
    match whole_number(version) {
        Some(FORMAT) => rest.strip_prefix(',').ok_or_else(|| InvalidLine::form("nothing follows its format")),
        Some(other) => Err(InvalidLine::Format(other)),
        None => Err(InvalidLine::form("it does not begin with its format")),
    }
}

/// A number as it is printed.
pub(crate) fn whole_number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}

impl InvalidLine {
    pub(crate) fn form(reason: impl fmt::Display) -> Self {
        Self::Form(reason.to_string())
    }
}

impl fmt::Display for InvalidLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(version) => write!(f, "it has format {version}, which this version does not read"),
            Self::Form(reason) => f.write_str(reason),
            Self::Hash => f.write_str("its hash is not that of its content"),
        }
    }
}

impl std::error::Error for InvalidLine {}

#[cfg(test)]
pub(crate) mod tests {
    use groundstate_common::Timestamp;

    use super::{Entry, InvalidLine, Record};
    use crate::event::{Event, Outcome};
    use crate::hash::Hash;

    pub(crate) fn record(number: u64) -> Record {
        let event = Event::new("token:ci", "state.write", "web/prod", Outcome::Done)
            .remote("10.0.0.7")
            .reason("a \"b\"");
        Record::new(event, Timestamp::UNIX_EPOCH, "node-1", "r", number)
    }

    #[test]
    fn entries_are_read_as_they_were_written_and_their_line_is_what_the_documentation_shows() {
        let (entry, line) = Entry::chain(7, record(3), Hash::START);
        assert_eq!(Entry::parse(&line), Ok(entry.clone()));
        let zeros = "0".repeat(64);
        let expected = format!(
            "{{\"v\":1,\"seq\":7,\"time\":\"1970-01-01T00:00:00Z\",\"node\":\"node-1\",\"run\":\"r\",\"n\":3,\
             \"actor\":\"token:ci\",\"action\":\"state.write\",\"object\":\"web/prod\",\"outcome\":\"done\",\
             \"remote\":\"10.0.0.7\",\"reason\":\"a \\\"b\\\"\",\"previous\":\"{zeros}\",\"hash\":\"{}\"}}",
            entry.hash
        );
        assert_eq!(line, expected);
    }

    #[test]
    fn lines_of_another_form_are_refused_with_the_reason() {
        let (_, line) = Entry::chain(7, record(3), Hash::START);
        for (text, why) in [
            (String::new(), "does not begin"),
            (line.replace("\"v\":1", "\"v\":2"), "format 2"),
            (line.replace("\"v\":1", "\"v\":01"), "does not begin"),
            (line.replace("\"v\":1,", "\"v\":1"), "nothing follows"),
            (line.replace("\"seq\":7", "\"seq\":07"), "number"),
            (line.replace("done", "failed"), "hash"),
            (line.replace("web", "wab"), "hash"),
            (format!("{line} "), "hashes"),
            (line.to_uppercase(), "does not begin"),
        ] {
            let error = Entry::parse(&text).unwrap_err();
            assert!(error.to_string().contains(why), "{text}: {error}");
        }
        let sealed = |json: &str| crate::seal::seal(json, Hash::START).0;
        let json = record(3).to_json();
        for (text, why) in [
            (sealed("{\"v\":1}"), "no number"),
            (sealed("{\"v\":1,\"seq\":7}"), "no number"),
            (sealed("{\"v\":1,\"seq\":7,\"x\":1}"), "unknown field"),
            (sealed(&format!("{{\"v\":1,\"seq\":7, {}", &json[1..])), "canonically"),
        ] {
            let error = Entry::parse(&text).unwrap_err();
            assert!(
                matches!(error, InvalidLine::Form(_)) && error.to_string().contains(why),
                "{text}: {error}"
            );
        }
    }
}
