//! The members of an entry, one by one.

use std::sync::Arc;

use groundstate_json::{Cursor, Kind, RawJson, Stop, Str, compact_as_written, describe};
use groundstate_pulumi_deployment::PartReader;

use super::problem::{Code, Found};
use crate::entry::{ENTRY_VERSION, Entry, EntryKind, Target};
use crate::ids::{OperationId, SequenceId};

/// Reads entries, and collects what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct EntryReader {
    pub(super) parts: PartReader,
    pub(super) found: Vec<Found>,
    more: usize,
}

/// Problems beyond this many are counted, not described.
const MAX_PROBLEMS: usize = 100;

/// The members of an entry in the order in which they are written; their places here are their numbers.
const MEMBERS: [&[u8]; 19] = [
    b"version",
    b"kind",
    b"sequenceID",
    b"operationID",
    b"removeOld",
    b"removeNew",
    b"pendingReplacementOld",
    b"pendingReplacementNew",
    b"deleteOld",
    b"deleteNew",
    b"state",
    b"operation",
    b"isRefresh",
    b"secretsProvider",
    b"snippets",
    b"newSnapshot",
    b"extensionRef",
    b"extension",
    b"requiresByteString",
];

/// What every entry has, by the numbers of the members. `null` is as good as nothing.
const REQUIRED: [&str; 3] = ["version", "kind", "sequence ID"];

impl EntryReader {
    pub(super) fn problem(&mut self, code: Code, offset: usize, detail: impl Into<String>) {
        if self.found.len() < MAX_PROBLEMS {
            self.found.push(Found { code, detail: detail.into(), urn: None, offset });
        } else {
            self.more += 1;
        }
    }

    /// How many problems were not described.
    pub(super) fn more(&self) -> usize {
        self.more
    }

    /// Reads one entry; the cursor stands on its first byte.
    pub(super) fn entry(&mut self, cursor: &mut Cursor<'_>) -> Result<Entry, Stop> {
        let kind = cursor.kind()?;
        let start = cursor.offset();
        let mut entry = Entry::default();
        if kind != Kind::Object {
            let raw = cursor.raw()?;
            let detail = format!("expected an entry, found {}", describe(kind, raw));
            self.problem(Code::WrongType, start, detail);
            return Ok(entry);
        }
        cursor.open(b'{')?;
        let mut seen = 0_u32;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let bytes = name.bytes();
            let Some(number) = MEMBERS.iter().position(|member| **member == *bytes) else {
                self.unknown(&mut entry, &name, cursor)?;
                continue;
            };
            let bit = 1_u32 << number;
            if seen & bit != 0 {
                let detail = format!("the member {:?} appears more than once", name.decode());
                self.problem(Code::Repeated, name.offset, detail);
            }
            seen |= bit;
            match number {
                0..=9 => self.number_member(&mut entry, number, cursor)?,
                _ => self.part_member(&mut entry, number, cursor)?,
            }
        }
        for (number, what) in REQUIRED.iter().enumerate() {
            if seen & (1 << number) == 0 {
                self.problem(Code::Missing, start, format!("the entry has no {what}"));
            }
        }
        Ok(entry)
    }

    /// Keeps an unknown member.
    fn unknown(&mut self, entry: &mut Entry, name: &Str<'_>, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        if name.has_lone_surrogate() {
            let detail = "a name holds half a surrogate pair, which no text can hold";
            self.problem(Code::Loss, name.offset, detail);
        }
        let raw = cursor.raw()?;
        // The cursor has accepted the value, so there is a compact form of it.
        let value =
            compact_as_written(raw).unwrap_or_else(|| RawJson::from_validated(&String::from_utf8_lossy(raw)));
        entry.extra.push(name.decode().into_owned(), value);
        Ok(())
    }

    /// Members 0 to 9, which are numbers.
    fn number_member(
        &mut self,
        entry: &mut Entry,
        member: usize,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Stop> {
        let Some((value, offset)) = self.number(cursor, member)? else { return Ok(()) };
        let old = Target::Old(value);
        let new = Target::New(OperationId::new(value));
        match member {
            0 if value != ENTRY_VERSION => {
                let detail = format!("this is version {value}, and only version {ENTRY_VERSION} is known");
                self.problem(Code::Version, offset, detail);
            }
            0 => {}
            1 => entry.kind = EntryKind::from_number(value),
            2 if value == 0 => self.problem(Code::Missing, offset, "the entry has no sequence ID"),
            2 => entry.sequence = SequenceId::new(value),
            3 => entry.operation_id = OperationId::new(value),
            4 => self.target(&mut entry.removed, old, offset),
            5 => self.target(&mut entry.removed, new, offset),
            6 => self.target(&mut entry.pending_replacement, old, offset),
            7 => self.target(&mut entry.pending_replacement, new, offset),
            8 => self.target(&mut entry.deleted, old, offset),
            _ => self.target(&mut entry.deleted, new, offset),
        }
        Ok(())
    }

    fn target(&mut self, slot: &mut Option<Target>, target: Target, offset: usize) {
        match slot {
            None => *slot = Some(target),
            Some(_) => {
                let detail = "two members name a state here; keep the one that is meant";
                self.problem(Code::TwoTargets, offset, detail);
            }
        }
    }

    /// Members 10 to 18.
    fn part_member(&mut self, entry: &mut Entry, member: usize, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        let kind = cursor.kind()?;
        let parts = &mut self.parts;
        match member {
            _ if kind == Kind::Null => cursor.null()?,
            10 => entry.state = Some(Arc::new(parts.resource(cursor)?)),
            11 => entry.operation = Some(parts.operation(cursor)?),
            12 => entry.is_refresh = parts.flag(cursor)?,
            13 => entry.secrets_provider = parts.secrets_provider(cursor)?.map(Box::new),
            14 => entry.snippets = parts.snippets(cursor)?,
            15 => entry.new_snapshot = parts.deployment(cursor)?.map(Box::new),
            16 => entry.extension_ref = parts.text(cursor)?.map(Into::into),
            17 => entry.extension = parts.extension(cursor)?.map(Box::new),
            _ => entry.requires_byte_string = parts.flag(cursor)?,
        }
        Ok(())
    }

    /// A whole number that is not negative, with its place; nothing for `null`, which a required member cannot be.
    fn number(&mut self, cursor: &mut Cursor<'_>, member: usize) -> Result<Option<(u64, usize)>, Stop> {
        let kind = cursor.kind()?;
        let offset = cursor.offset();
        let raw = cursor.raw()?;
        let value = match kind {
            Kind::Null => {
                if let Some(what) = REQUIRED.get(member) {
                    self.problem(Code::Missing, offset, format!("the entry has no {what}"));
                }
                return Ok(None);
            }
            // Go's 64-bit integers have a sign.
            Kind::Number => str::from_utf8(raw).ok().and_then(|text| text.parse::<u64>().ok()),
            _ => None,
        };
        let value = value.filter(|value| i64::try_from(*value).is_ok());
        if value.is_none() {
            let detail = format!("expected a whole number from 0, found {}", describe(kind, raw));
            self.problem(Code::WrongType, offset, detail);
        }
        Ok(value.map(|value| (value, offset)))
    }
}
