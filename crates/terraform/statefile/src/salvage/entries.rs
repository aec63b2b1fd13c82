//! Entries of a file of format 1, 2 or 3, which can be left out one by one.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::Gap;
use crate::json::{Cursor, Kind, Stop};
use crate::problem::Problem;

/// Members of an entry that hold objects.
const OBJECTS: [&str; 3] = ["primary", "tainted", "deposed"];

/// The items of a document: members of its objects and elements of its lists, as deep as they can be left out.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// Each behind the one that it is in.
    items: Vec<Item>,
    /// The items of each object or list in their order, behind the item that it is the value of.
    lists: Vec<(Option<usize>, Vec<usize>)>,
}

#[derive(Debug)]
struct Item {
    range: Range<usize>,
    /// Entries that can be left out, and parts of them.
    kind: ItemKind,
    /// The item that this is in.
    parent: Option<usize>,
    what: Option<String>,
    /// For an object the number of its deposed key, and 0 for a current one.
    number: Option<u32>,
    gone: bool,
}

/// An object of an entry.
pub(super) struct EntryObject<'e> {
    /// Address of the entry.
    pub(super) entry: &'e str,
    /// Number of the deposed key; 0 for the current object.
    pub(super) number: u32,
    /// Where it stands.
    pub(super) range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemKind {
    /// It stays as long as what it is in.
    Fixed,
    /// It can be left out.
    Loose,
    /// An object of an entry: it can be left out, and takes the entry along if it is the last.
    Object,
}

impl Entries {
    /// Finds the items of a document whose JSON is right.
    pub(super) fn read(text: &[u8]) -> Result<Self, Stop> {
        let mut entries = Self::default();
        let mut cursor = Cursor::new(text);
        cursor.kind()?;
        entries.members(&mut cursor, None, |entries, name, item, cursor| match name {
            "version" => entries.fixed(item, cursor),
            "modules" if cursor.kind()? == Kind::Array => {
                entries.fix(item);
                entries.elements(cursor, Some(item), |entries, item, cursor| entries.module(item, cursor))
            }
            _ => {
                entries.name(item, name.to_owned());
                cursor.skip()
            }
        })?;
        Ok(entries)
    }

    fn module(&mut self, module: usize, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        if cursor.kind()? != Kind::Object {
            return cursor.skip();
        }
        let path = path_of(cursor.clone())?;
        self.name(module, path.clone().unwrap_or_else(|| "modules".to_owned()));
        let prefix = path.filter(|path| !path.is_empty()).map(|path| path + ".").unwrap_or_default();
        self.members(cursor, Some(module), |entries, name, item, cursor| {
            entries.fix(item);
            if !matches!(name, "resources" | "outputs") || cursor.kind()? != Kind::Object {
                return cursor.skip();
            }
            let is_output = name == "outputs";
            entries.members(cursor, Some(item), |entries, name, item, cursor| {
                let kind = if is_output { "output." } else { "" };
                entries.name(item, format!("{prefix}{kind}{name}"));
                if is_output { cursor.skip() } else { entries.entry(item, cursor) }
            })
        })
    }

    fn entry(&mut self, entry: usize, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        if cursor.kind()? != Kind::Object {
            return cursor.skip();
        }
        let what = self.items.get(entry).and_then(|item| item.what.clone());
        self.members(cursor, Some(entry), |entries, name, item, cursor| {
            let kind = cursor.kind()?;
            match (OBJECTS.contains(&name), kind) {
                (true, Kind::Object) => {
                    entries.object(item, what.clone());
                    if name == "primary" {
                        entries.number(item, 0);
                    }
                    cursor.skip()
                }
                (true, Kind::Array) => {
                    entries.fix(item);
                    let (is_deposed, mut number) = (name == "deposed", 0_u32);
                    entries.elements(cursor, Some(item), |entries, item, cursor| {
                        entries.object(item, what.clone());
                        number = number.saturating_add(1);
                        if is_deposed && cursor.kind()? == Kind::Object {
                            entries.number(item, number);
                        }
                        cursor.skip()
                    })
                }
                _ => entries.fixed(item, cursor),
            }
        })
    }

    fn members(
        &mut self,
        cursor: &mut Cursor<'_>,
        parent: Option<usize>,
        mut each: impl FnMut(&mut Self, &str, usize, &mut Cursor<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        cursor.open(b'{')?;
        let list = self.list(parent);
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let item = self.item(list, name.offset, parent);
            each(self, &name.decode(), item, cursor)?;
            self.end(item, cursor.offset());
        }
        Ok(())
    }

    fn elements(
        &mut self,
        cursor: &mut Cursor<'_>,
        parent: Option<usize>,
        mut each: impl FnMut(&mut Self, usize, &mut Cursor<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        cursor.open(b'[')?;
        let list = self.list(parent);
        let mut first = true;
        while cursor.element(&mut first)? {
            cursor.space();
            let item = self.item(list, cursor.offset(), parent);
            each(self, item, cursor)?;
            self.end(item, cursor.offset());
        }
        Ok(())
    }

    fn list(&mut self, parent: Option<usize>) -> usize {
        self.lists.push((parent, Vec::new()));
        self.lists.len() - 1
    }

    fn item(&mut self, list: usize, start: usize, parent: Option<usize>) -> usize {
        let at = self.items.len();
        let (range, kind) = (start..start, ItemKind::Loose);
        self.items.push(Item { range, kind, parent, what: None, number: None, gone: false });
        if let Some((_, list)) = self.lists.get_mut(list) {
            list.push(at);
        }
        at
    }

    fn end(&mut self, item: usize, end: usize) {
        if let Some(item) = self.items.get_mut(item) {
            item.range.end = end;
        }
    }

    fn name(&mut self, item: usize, what: String) {
        if let Some(item) = self.items.get_mut(item) {
            item.what = Some(what).filter(|what| !what.is_empty());
        }
    }

    fn fix(&mut self, item: usize) {
        if let Some(item) = self.items.get_mut(item) {
            item.kind = ItemKind::Fixed;
        }
    }

    fn fixed(&mut self, item: usize, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        self.fix(item);
        cursor.skip()
    }

    fn object(&mut self, item: usize, what: Option<String>) {
        if let Some(item) = self.items.get_mut(item) {
            (item.kind, item.what) = (ItemKind::Object, what);
        }
    }

    fn number(&mut self, item: usize, number: u32) {
        if let Some(item) = self.items.get_mut(item) {
            item.number = Some(number);
        }
    }

    /// The objects that readers take. Of entries of one name in one list that is the last one.
    pub(super) fn objects(&self) -> Vec<EntryObject<'_>> {
        let mut last = HashMap::new();
        for (list, (_, items)) in self.lists.iter().enumerate() {
            for at in items {
                let what = self.items.get(*at).and_then(|item| item.what.as_deref());
                last.insert((list, what), *at);
            }
        }
        let counts: HashSet<usize> = last.into_values().collect();
        let object = |(at, item): (usize, &'_ Item)| {
            let entry = self.entry_of(at)?;
            let (number, what) = (item.number?, self.items.get(entry)?.what.as_deref()?);
            let range = item.range.clone();
            counts.contains(&entry).then_some((what, number, range))
        };
        let found = self.items.iter().enumerate().filter_map(object);
        found.map(|(entry, number, range)| EntryObject { entry, number, range }).collect()
    }

    /// Leaves out objects by where they stand.
    pub(super) fn remove_objects(&mut self, gone: &[Range<usize>]) {
        for at in 0..self.items.len() {
            let Some(item) = self.items.get_mut(at) else { continue };
            if item.kind == ItemKind::Object && gone.contains(&item.range) {
                item.gone = true;
                self.remove_emptied(at);
            }
        }
    }

    /// The entry that an object is in.
    fn entry_of(&self, object: usize) -> Option<usize> {
        let is_entry = |at: &usize| self.items.get(*at).is_some_and(|item| item.kind == ItemKind::Loose);
        self.ancestors(object).find(is_entry)
    }

    /// Leaves out the innermost item that a problem is in. Returns `None` if there is none, or if it is left out already.
    pub(super) fn remove(&mut self, problem: &Problem) -> Option<Gap> {
        let at = self.loose(problem.place.offset)?;
        let item = self.items.get_mut(at).filter(|item| !item.gone)?;
        item.gone = true;
        let what = problem.address.clone().or_else(|| item.what.clone());
        let gap = Gap { range: item.range.clone(), what, reason: problem.detail.clone() };
        if item.kind == ItemKind::Object {
            self.remove_emptied(at);
        }
        Some(gap)
    }

    /// The innermost item that can be left out and holds this byte.
    fn loose(&self, offset: usize) -> Option<usize> {
        let behind = self.items.partition_point(|item| item.range.start <= offset);
        let mut at = behind.checked_sub(1);
        while let Some(item) = at.and_then(|at| self.items.get(at)) {
            // The end counts: what is missing is reported there.
            if item.kind != ItemKind::Fixed && item.range.end >= offset {
                return at;
            }
            at = item.parent;
        }
        None
    }

    /// Leaves out the entry of an object, if it was the last one: without it, the entry would be one that has none.
    fn remove_emptied(&mut self, object: usize) {
        let Some(entry) = self.entry_of(object) else { return };
        let inside = self
            .items
            .iter()
            .enumerate()
            .skip(entry)
            .take_while(|(at, _)| *at == entry || self.ancestors(*at).any(|above| above == entry));
        if inside.filter(|(_, item)| item.kind == ItemKind::Object).all(|(_, item)| item.gone)
            && let Some(entry) = self.items.get_mut(entry)
        {
            entry.gone = true;
        }
    }

    fn ancestors(&self, item: usize) -> impl Iterator<Item = usize> + '_ {
        let parent = |at: &usize| self.items.get(*at).and_then(|item| item.parent);
        std::iter::successors(parent(&item), parent)
    }

    /// The text with blanks in place of what is left out, so that everything else stands where it stood.
    pub(super) fn draft(&self, text: &[u8]) -> Vec<u8> {
        let mut draft = text.to_vec();
        let is_gone = |at: usize| self.items.get(at).is_some_and(|item| item.gone);
        for (parent, list) in &self.lists {
            let around = parent.iter().flat_map(|at| self.ancestors(*at).chain([*at]));
            if !around.into_iter().any(is_gone) {
                self.blank(&mut draft, list);
            }
        }
        draft
    }

    fn blank(&self, draft: &mut [u8], list: &[usize]) {
        let items: Vec<&Item> = list.iter().filter_map(|at| self.items.get(*at)).collect();
        if !items.iter().any(|item| item.gone) {
            return;
        }
        for pair in items.windows(2) {
            if let [one, next] = pair {
                fill(draft, one.range.end..next.range.start);
            }
        }
        for item in items.iter().filter(|item| item.gone) {
            fill(draft, item.range.clone());
        }
        let mut kept = items.iter().filter(|item| !item.gone).peekable();
        while let Some(item) = kept.next() {
            // A comma or a blank stood behind every item but the last.
            if let Some(byte) = draft.get_mut(item.range.end).filter(|_| kept.peek().is_some()) {
                *byte = b',';
            }
        }
    }
}

/// Puts blanks in place of a part of a text; lines stay.
pub(super) fn fill(text: &mut [u8], range: Range<usize>) {
    for byte in text.get_mut(range).into_iter().flatten() {
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// The address of the module at the cursor; empty for the root.
fn path_of(mut cursor: Cursor<'_>) -> Result<Option<String>, Stop> {
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        if name.raw != b"path" || cursor.kind()? != Kind::Array {
            cursor.skip()?;
            continue;
        }
        cursor.open(b'[')?;
        let mut steps = Vec::new();
        let mut first = true;
        while cursor.element(&mut first)? {
            match cursor.kind()? {
                Kind::String => steps.push(format!("module.{}", cursor.string()?.decode())),
                _ => cursor.skip()?,
            }
        }
        return Ok(Some(steps.get(1..).unwrap_or_default().join(".")));
    }
    Ok(None)
}
