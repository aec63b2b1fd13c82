//! The document that a holder leaves beside its lock, byte for byte as Terraform and OpenTofu write it.

use std::fmt;
use std::sync::Arc;

use groundstate_common::{IdSource, Timestamp, one_line};
use groundstate_statefile::push_json_string;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::Op;
use crate::error::{Error, ErrorKind, Result};

/// The id of a lock: any text, empty where a document has none.
///
/// New ones are random and have the form `8-4-4-4-12`; some stores replace them by ids of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LockId(Arc<str>);

impl LockId {
    /// Any text is an id; only equality has meaning.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The id as the store gave it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for LockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Who takes a lock, and what for.
///
/// [`to_json`](Self::to_json) writes the document of the original programs: seven members in a fixed order, always all
/// of them, so that each side can read what the other left. With the feature `serde` it can be serialised, which is *not* that document. `Display` is the block their messages show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LockInfo {
    /// Tells this lock from others; stores may answer with another one in the grant.
    pub id: LockId,
    /// What the lock is for, such as `OperationTypeApply` or `state-mv`.
    pub operation: String,
    /// Free text.
    pub info: String,
    /// `user@host`, each part empty if unknown.
    pub who: String,
    /// The version of the program.
    pub version: String,
    /// When it was made; stores may set it to the moment of locking.
    pub created: Timestamp,
    /// What is locked; stores set it.
    pub path: String,
}

impl Default for LockInfo {
    /// Every text empty, and the time that documents without one have: 0001-01-01T00:00:00Z.
    fn default() -> Self {
        let created = Timestamp::from_unix(-62_135_596_800, 0).unwrap_or(Timestamp::MIN);
        Self {
            id: LockId::default(),
            operation: String::new(),
            info: String::new(),
            who: String::new(),
            version: String::new(),
            created,
            path: String::new(),
        }
    }
}

impl LockInfo {
    /// A document with a fresh id, made at `now`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`] when the source gives no id.
    pub fn new(ids: &dyn IdSource, now: Timestamp, operation: &str) -> Result<Self> {
        let id = ids.uuid().map_err(|error| {
            Error::new(ErrorKind::Internal, Op::Other("make an id for"), "a lock")
                .because("there is none")
                .with_source(error)
        })?;
        Ok(Self { id: LockId::new(&id), operation: operation.to_owned(), created: now, ..Self::default() })
    }

    /// The document: compact, without a newline at the end, escaped as Go's encoder does it.
    pub fn to_json(&self) -> String {
        let created = self.created.to_string();
        let members = [
            ("ID", self.id.as_str()),
            ("Operation", &self.operation),
            ("Info", &self.info),
            ("Who", &self.who),
            ("Version", &self.version),
            ("Created", &created),
            ("Path", &self.path),
        ];
        let mut json = String::from("{");
        for (at, (name, value)) in members.into_iter().enumerate() {
            if at > 0 {
                json.push(',');
            }
            push_json_string(&mut json, name);
            json.push(':');
            push_json_string(&mut json, value);
        }
        json.push('}');
        json
    }

    /// Reads a document as leniently as the originals: names in any case, unknown members ignored, missing or `null`
    /// ones empty, invalid UTF-8 replaced.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`] when it is no JSON object of texts, or the time is none.
    pub fn parse(document: &[u8]) -> Result<Self> {
        let text = String::from_utf8_lossy(document);
        let mut json = serde_json::Deserializer::from_str(&text);
        let read = json.deserialize_map(Members).and_then(|info| json.end().map(|()| info));
        read.map_err(|error| {
            let message = "it is not a lock document such as Terraform writes";
            Error::new(ErrorKind::Corrupt, Op::Read, "the lock document").because(message).with_source(error)
        })
    }
}

impl fmt::Display for LockInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let created = go_time(self.created);
        let lines = [
            ("ID:", self.id.as_str()),
            ("Path:", &self.path),
            ("Operation:", &self.operation),
            ("Who:", &self.who),
            ("Version:", &self.version),
            ("Created:", &created),
            ("Info:", &self.info),
        ];
        f.write_str("Lock Info:\n")?;
        lines.into_iter().try_for_each(|(label, value)| writeln!(f, "  {label:<11}{}", one_line(value)))
    }
}

/// The time as Go's `Time.String` prints it.
fn go_time(time: Timestamp) -> String {
    let text = time.to_string();
    format!("{} +0000 UTC", text.trim_end_matches('Z').replacen('T', " ", 1))
}

/// Reads the members as Go's decoder matches them: the last one of a name counts.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = LockInfo;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a lock document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<LockInfo, A::Error> {
        let mut info = LockInfo::default();
        while let Some(name) = map.next_key::<String>()? {
            let name = name.to_ascii_lowercase();
            if !["id", "operation", "info", "who", "version", "created", "path"].contains(&&*name) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            // A null leaves a member as it is.
            let Some(text) = map.next_value::<Option<String>>()? else { continue };
            match &*name {
                "id" => info.id = LockId::new(&text),
                "operation" => info.operation = text,
                "info" => info.info = text,
                "who" => info.who = text,
                "version" => info.version = text,
                "created" => info.created = Timestamp::parse(&text).map_err(serde::de::Error::custom)?,
                _ => info.path = text,
            }
        }
        Ok(info)
    }
}

/// A lock document as it was found: what it says, and its bytes.
///
/// Some stores release a lock only against the very bytes that are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockDocument {
    info: LockInfo,
    bytes: Vec<u8>,
}

impl LockDocument {
    /// Reads a document and keeps its bytes.
    ///
    /// # Errors
    ///
    /// Those of [`LockInfo::parse`].
    pub fn parse(bytes: Vec<u8>) -> Result<Self> {
        Ok(Self { info: LockInfo::parse(&bytes)?, bytes })
    }

    /// What it says.
    pub fn info(&self) -> &LockInfo {
        &self.info
    }

    /// The bytes it was read from.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
