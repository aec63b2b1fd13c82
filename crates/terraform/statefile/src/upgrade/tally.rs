//! Notes that many parts of a document share, said once with a count.

use std::collections::BTreeMap;

use groundstate_states::{Extra, RawJson};

use crate::note::NoteKind;
use crate::sink::Sink;
use crate::wire::legacy::Member;

/// Different remarks beyond this many are counted, not described.
const MAX_REMARKS: usize = 100;

/// Counts what has the same fate.
#[derive(Debug, Default)]
pub(super) struct Tally {
    remarks: BTreeMap<(NoteKind, String), Remark>,
    more: usize,
}

#[derive(Debug)]
struct Remark {
    count: usize,
    /// Where it was seen first.
    offset: usize,
}

impl Tally {
    /// Something that the original tools leave out as well.
    pub(super) fn dropped(&mut self, offset: usize, what: &str) {
        self.add(NoteKind::Dropped, offset, what);
    }

    /// Something that has no place in format 4.
    pub(super) fn lost(&mut self, offset: usize, what: &str) {
        self.add(NoteKind::Lost, offset, what);
    }

    fn add(&mut self, kind: NoteKind, offset: usize, what: &str) {
        let key = (kind, what.to_owned());
        if let Some(known) = self.remarks.get_mut(&key) {
            known.count += 1;
            known.offset = known.offset.min(offset);
        } else if self.remarks.len() < MAX_REMARKS {
            self.remarks.insert(key, Remark { count: 1, offset });
        } else {
            self.more += 1;
        }
    }

    /// Takes unknown members over, except those that would mean something in format 4, which are lost.
    pub(super) fn carry(&mut self, members: &[Member<'_>], known: &[&str], whose: &str) -> Extra {
        let mut extra = Extra::default();
        for (name, raw) in members {
            let decoded = name.decode();
            if known.contains(&&*decoded) || extra.get(&decoded).is_some() {
                self.lost(
                    name.offset,
                    &format!("unknown member {decoded:?} of {whose}, which format 4 reads otherwise"),
                );
            } else if let Some(raw) = str::from_utf8(raw).ok().and_then(|text| RawJson::parse(text).ok()) {
                extra.push(&*decoded, raw);
            }
        }
        extra
    }

    /// Unknown members that have nowhere to go.
    pub(super) fn lose(&mut self, members: &[Member<'_>], whose: &str) {
        for (name, _) in members {
            self.lost(name.offset, &format!("unknown member {:?} of {whose}", name.decode()));
        }
    }

    /// Writes the notes, in the order of what they are about.
    pub(super) fn tell(self, sink: &mut Sink) {
        let mut remarks: Vec<_> = self.remarks.into_iter().collect();
        remarks.sort_by_key(|(_, remark)| remark.offset);
        for ((kind, what), Remark { count, offset }) in remarks {
            let verb = match kind {
                NoteKind::Lost => "no place in format 4 for",
                _ => "left out as Terraform does it",
            };
            sink.note(kind, offset, format!("{verb}: {what} ({count})"));
        }
        if self.more > 0 {
            sink.note(NoteKind::Lost, 0, format!("no place in format 4 for {} other things", self.more));
        }
    }
}
