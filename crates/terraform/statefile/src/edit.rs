//! Changes to a document that leave every other byte as it stands.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, AbsResourceInstance};
use groundstate_states::{Lineage, OutputValue, RawJson, Resource, Serial};

use crate::document::Document;
use crate::encode::{self, EncodeError, file_order};
use crate::file::File;
use crate::patches::Patches;
use crate::writer_version::WriterVersion;

/// Changes to be made to a [`Document`].
///
/// A change that is put twice counts as it was put last. Nothing is written before [`Edit::write_to`].
///
/// ```
/// use groundstate_statefile::Document;
/// use groundstate_states::Serial;
///
/// let document = Document::open(br#"{ "version": 4,   "serial": 7 }"#.to_vec())?;
/// let mut edit = document.edit();
/// edit.serial(Serial::new(8));
/// assert_eq!(edit.to_vec().unwrap(), br#"{ "version": 4,   "serial": 8 }"#);
/// # Ok::<(), groundstate_statefile::ReadError>(())
/// ```
#[derive(Debug)]
pub struct Edit<'d> {
    document: &'d Document,
    header: BTreeMap<&'static str, String>,
    outputs: BTreeMap<Arc<str>, Option<OutputValue>>,
    resources: BTreeMap<AbsResource, Option<Resource>>,
    /// Values of attributes by where they stand: the resource, the range's end, and the new text.
    attributes: BTreeMap<usize, (AbsResource, usize, Vec<u8>)>,
}

/// Why an attribute is not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttributeError {
    /// The document has no such attribute: a new one needs its place among the others, which the provider's schema decides.
    #[error("{address} has no attribute {path} to change")]
    Absent {
        /// The instance.
        address: String,
        /// The path of the attribute, such as `tags.Name`.
        path: String,
    },
    /// Another change of the same edit overlaps: the whole resource, or an attribute around or inside this one.
    #[error("{path} of {address} is part of another change of the same edit")]
    Overlaps {
        /// The instance.
        address: String,
        /// The path of the attribute, such as `tags.Name`.
        path: String,
    },
}

/// An item of a list: kept as it stands, or written anew.
enum Item {
    Kept(Range<usize>),
    New(Vec<u8>),
}

impl<'d> Edit<'d> {
    pub(crate) fn new(document: &'d Document) -> Self {
        Self {
            document,
            header: BTreeMap::new(),
            outputs: BTreeMap::new(),
            resources: BTreeMap::new(),
            attributes: BTreeMap::new(),
        }
    }

    /// Sets the serial.
    pub fn serial(&mut self, serial: Serial) -> &mut Self {
        self.header.insert("serial", serial.get().to_string());
        self
    }

    /// Sets the lineage.
    pub fn lineage(&mut self, lineage: &Lineage) -> &mut Self {
        self.header.insert("lineage", encode::json_string(lineage.as_str()));
        self
    }

    /// Sets the release that counts as the writer.
    pub fn terraform_version(&mut self, version: &WriterVersion) -> &mut Self {
        self.header.insert("terraform_version", encode::json_string(version.as_str()));
        self
    }

    /// Replaces the value of one attribute of an instance's current object. Every other byte stays, inside the object too.
    ///
    /// ```
    /// use groundstate_statefile::Document;
    /// use groundstate_statefile::states::{RawJson, addr::AbsResourceInstance};
    ///
    /// let text = br#"{"version": 4, "serial": 7, "resources": [{"mode": "managed", "type": "aws_instance", "name": "web",
    ///     "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
    ///     "instances": [{"attributes": {"size": 1.50,   "tags": {"Name": "web"}}}]}]}"#;
    /// let document = Document::open(text.to_vec())?;
    /// let web = AbsResourceInstance::parse("aws_instance.web")?;
    /// let mut edit = document.edit();
    /// edit.attribute(&web, "tags.Name", &RawJson::parse(r#""shop""#)?)?;
    /// let changed = String::from_utf8(edit.to_vec()?)?;
    /// assert!(changed.ends_with(r#"{"attributes": {"size": 1.50,   "tags": {"Name": "shop"}}}]}]}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`AttributeError::Absent`] where there is no such attribute, and [`AttributeError::Overlaps`].
    pub fn attribute(
        &mut self,
        address: &AbsResourceInstance,
        path: &str,
        value: &RawJson,
    ) -> Result<&mut Self, AttributeError> {
        let (name, path) = (address.to_string(), path.to_owned());
        let Some(span) = self.document.attribute_span(address, &path) else {
            return Err(AttributeError::Absent { address: name, path });
        };
        let inside = |(start, (_, end, _)): (&usize, &(AbsResource, usize, Vec<u8>))| {
            *start < span.end && span.start < *end && (*start, *end) != (span.start, span.end)
        };
        if self.resources.contains_key(&address.resource) || self.attributes.iter().any(inside) {
            return Err(AttributeError::Overlaps { address: name, path });
        }
        let text = self.indented_at(span.start, value);
        self.attributes.insert(span.start, (address.resource.clone(), span.end, text));
        Ok(self)
    }

    /// The value as the document is laid out: an indented one continues the line that it begins in.
    fn indented_at(&self, at: usize, value: &RawJson) -> Vec<u8> {
        if !self.document.style().indented {
            return value.as_str().as_bytes().to_vec();
        }
        let before = self.document.text().get(..at).unwrap_or_default();
        let line = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let blanks = before.get(line..).unwrap_or_default().iter().take_while(|byte| **byte == b' ').count();
        let lines = groundstate_json::indented(value.as_str(), 2);
        lines.replace('\n', &format!("\n{}", " ".repeat(blanks))).into_bytes()
    }

    /// Adds or replaces a resource with all its instances, or removes it. Changes of single attributes of it are forgotten.
    pub fn resource(&mut self, address: AbsResource, resource: Option<Resource>) -> &mut Self {
        self.attributes.retain(|_, (of, ..)| *of != address);
        self.resources.insert(address, resource);
        self
    }

    /// Adds or replaces an output, or removes it.
    pub fn output(&mut self, name: &str, output: Option<OutputValue>) -> &mut Self {
        self.outputs.insert(name.into(), output);
        self
    }

    /// The changed document.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Planned`] and [`EncodeError::Loss`] for resources that cannot be stored.
    pub fn to_vec(&self) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::with_capacity(self.document.text().len() + 1024);
        self.write_to(&mut out)?;
        Ok(out)
    }

    /// Writes the changed document.
    ///
    /// # Errors
    ///
    /// As [`Edit::to_vec`], with nothing written; and [`EncodeError::Io`] when `out` fails.
    pub fn write_to<W: io::Write>(&self, out: &mut W) -> Result<(), EncodeError> {
        self.patches()?.write_to(self.document.text(), out)?;
        Ok(())
    }

    /// The pieces of text that the change consists of. They do not borrow the document, so its text can become the
    /// changed one without a second copy in memory.
    ///
    /// # Errors
    ///
    /// As [`Edit::to_vec`].
    pub fn patches(&self) -> Result<Patches, EncodeError> {
        let mut patches = Vec::new();
        let mut missing = Vec::new();
        for (name, value) in &self.header {
            match self.value_span(name) {
                Some(span) => patches.push((span, value.clone().into_bytes())),
                None => missing.push((*name, value.clone().into_bytes())),
            }
        }
        if !self.outputs.is_empty() {
            self.join_outputs(&mut patches);
            self.section("outputs", b"{}", self.output_items()?, &mut patches, &mut missing);
        }
        if !self.resources.is_empty() {
            self.section("resources", b"[]", self.resource_items()?, &mut patches, &mut missing);
        }
        if !missing.is_empty() {
            patches.push(self.insertion(&missing));
        }
        patches.extend(self.attributes.iter().map(|(start, (_, end, new))| (*start..*end, new.clone())));
        if ends_lines_with_crlf(self.document.text()) {
            patches.iter_mut().for_each(|(_, new)| *new = with_crlf(new));
        }
        Ok(Patches::new(patches))
    }

    /// Empties the members `outputs` in front of the last one, which takes all outputs.
    fn join_outputs(&self, patches: &mut Vec<(Range<usize>, Vec<u8>)>) {
        let earlier = self.document.index().earlier_outputs.iter();
        patches.extend(earlier.filter_map(|span| Some((self.value_of(span)?, b"{}".to_vec()))));
    }

    /// Where the value of a top-level member stands.
    fn value_span(&self, name: &str) -> Option<Range<usize>> {
        let (_, span) = self.document.index().members.iter().find(|(known, _)| known == name)?;
        self.value_of(span)
    }

    /// Where the value of the member stands that takes this space.
    fn value_of(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let text = self.document.slice(span);
        let mut cursor = crate::json::Cursor::at(text, 0, 1);
        cursor.member(&mut true).ok()??;
        Some(span.start + cursor.offset()..span.end)
    }

    /// The items of `outputs` after the change, in the order of names for new ones.
    fn output_items(&self) -> Result<Vec<Item>, EncodeError> {
        let index = self.document.index();
        let scratch = self.scratch();
        let mut items = Vec::new();
        let mut new = BTreeMap::new();
        for (name, output) in &self.outputs {
            if let Some(output) = output {
                new.insert(name, encode::output_fragment(&scratch, name, output)?);
            }
        }
        for (name, span) in &index.outputs {
            // New outputs go before the first one that sorts behind them, as writers sort them.
            while let Some(entry) = new.first_entry().filter(|entry| ***entry.key() < **name) {
                items.push(Item::New(entry.remove()));
            }
            match self.outputs.contains_key(name) {
                false => items.push(Item::Kept(span.clone())),
                true => items.extend(new.remove(name).map(Item::New)),
            }
        }
        items.extend(new.into_values().map(Item::New));
        Ok(items)
    }

    /// The items of `resources` after the change, new ones where the writers sort them.
    fn resource_items(&self) -> Result<Vec<Item>, EncodeError> {
        let index = self.document.index();
        let scratch = self.scratch();
        let mut items = Vec::new();
        let mut new = Vec::new();
        for (address, resource) in &self.resources {
            if let Some(resource) = resource {
                new.push((address, encode::resource_fragment(&scratch, address, resource)?));
            }
        }
        new.sort_by(|a, b| file_order(b.0, a.0));
        for entry in &index.resources {
            while let Some((_, text)) = new.pop_if(|(address, _)| file_order(address, &entry.address).is_lt())
            {
                items.push(Item::New(text));
            }
            match self.resources.contains_key(&entry.address) {
                false => items.push(Item::Kept(entry.span.clone())),
                // The first entry of a resource that appears twice takes all its instances.
                true => items.extend(take(&mut new, &entry.address).map(Item::New)),
            }
        }
        items.extend(new.into_iter().rev().map(|(_, text)| Item::New(text)));
        Ok(items)
    }

    /// A file like the document, to encode single parts by its rules.
    fn scratch(&self) -> File {
        let mut file = File::new(self.document.dialect(), Lineage::default());
        file.style = self.document.style();
        file
    }

    /// Replaces a section's value: runs of kept items are copied with what stands between them.
    fn section(
        &self,
        name: &'static str,
        empty: &[u8; 2],
        items: Vec<Item>,
        patches: &mut Vec<(Range<usize>, Vec<u8>)>,
        missing: &mut Vec<(&'static str, Vec<u8>)>,
    ) {
        let indented = self.document.style().indented;
        let (open, close): (&[u8], &[u8]) = match indented {
            true => (b"\n    ", b"\n  "),
            false => (b"", b""),
        };
        let Some(span) = self.value_span(name) else {
            missing.push((name, list(empty, open, close, items, self.document.text())));
            return;
        };
        let value = self.document.slice(&span);
        // `null` has no brackets to stay inside of, and outputs of several members leave theirs.
        let joined = name == "outputs" && !self.document.index().earlier_outputs.is_empty();
        if joined || value.first() != empty.first() {
            patches.push((span, list(empty, open, close, items, self.document.text())));
            return;
        }
        patches.extend(in_place(self.document.text(), span, empty, (open, close), items));
    }

    /// Puts members that the document lacks in front of its end.
    fn insertion(&self, members: &[(&'static str, Vec<u8>)]) -> (Range<usize>, Vec<u8>) {
        let index = self.document.index();
        let indented = self.document.style().indented;
        // A document of format 4 has at least its version.
        let at = index.members.iter().map(|(_, span)| span.end).max().unwrap_or_default();
        let mut new = Vec::new();
        for (name, value) in members {
            let (line, colon) = if indented { ("\n  ", ": ") } else { ("", ":") };
            new.extend_from_slice(format!(",{line}{}{colon}", encode::json_string(name)).as_bytes());
            new.extend_from_slice(value);
        }
        (at..at, new)
    }
}

/// Whether the lines of a document end as those of Windows do, going by the first.
fn ends_lines_with_crlf(text: &[u8]) -> bool {
    memchr::memchr(b'\n', text)
        .and_then(|at| at.checked_sub(1))
        .is_some_and(|before| text.get(before) == Some(&b'\r'))
}

/// The text with such line ends; what was copied from the document has them already. No string holds a raw line break.
fn with_crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    for &byte in text {
        if byte == b'\n' && out.last() != Some(&b'\r') {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}

/// Removes and gives the new text of this address; the list is sorted from the last of the file to the first.
fn take(new: &mut Vec<(&AbsResource, Vec<u8>)>, address: &AbsResource) -> Option<Vec<u8>> {
    let at = new.binary_search_by(|(known, _)| file_order(address, known)).ok()?;
    Some(new.remove(at).1)
}

/// A section that is written as a whole.
fn list(empty: &[u8; 2], open: &[u8], close: &[u8], items: Vec<Item>, text: &[u8]) -> Vec<u8> {
    let [left, right] = *empty;
    let mut out = vec![left];
    let mut first = true;
    for item in items {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        out.extend_from_slice(open);
        match item {
            Item::Kept(span) => out.extend_from_slice(text.get(span).unwrap_or_default()),
            Item::New(new) => out.extend_from_slice(&new),
        }
    }
    if !first {
        out.extend_from_slice(close);
    }
    out.push(right);
    out
}

/// Patches for a section that has its brackets: each gap between kept runs is replaced, the runs are not touched.
fn in_place(
    text: &[u8],
    span: Range<usize>,
    empty: &[u8; 2],
    (open, close): (&[u8], &[u8]),
    items: Vec<Item>,
) -> Vec<(Range<usize>, Vec<u8>)> {
    if !items.iter().any(|item| matches!(item, Item::Kept(_))) {
        return vec![(span, list(empty, open, close, items, text))];
    }
    let mut patches = Vec::new();
    // Everything between the last kept item and the next one is a gap with new items in it.
    let mut gap_start = span.start + 1;
    let mut kept_before = false;
    let mut fresh: Vec<Vec<u8>> = Vec::new();
    for item in items {
        match item {
            Item::New(new) => fresh.push(new),
            Item::Kept(kept) => {
                let gap = gap_start..kept.start;
                if let Some(filled) = fill(text, &gap, open, std::mem::take(&mut fresh), kept_before, true) {
                    patches.push((gap, filled));
                }
                gap_start = kept.end;
                kept_before = true;
            }
        }
    }
    let gap = gap_start..span.end.saturating_sub(1);
    if let Some(mut filled) = fill(text, &gap, open, fresh, kept_before, false) {
        filled.extend_from_slice(close);
        patches.push((gap, filled));
    }
    patches
}

/// What a gap has to hold, unless it is right as it stands.
fn fill(
    text: &[u8],
    gap: &Range<usize>,
    open: &[u8],
    fresh: Vec<Vec<u8>>,
    before: bool,
    after: bool,
) -> Option<Vec<u8>> {
    let now = text.get(gap.clone()).unwrap_or_default();
    let plain = now.iter().all(|b| b.is_ascii_whitespace() || *b == b',');
    let commas = now.iter().filter(|b| **b == b',').count();
    if fresh.is_empty() && plain && commas == usize::from(before && after) {
        return None;
    }
    let mut out = Vec::new();
    let mut comma = before;
    for item in fresh {
        if std::mem::replace(&mut comma, true) {
            out.push(b',');
        }
        out.extend_from_slice(open);
        out.extend_from_slice(&item);
    }
    if after {
        if comma {
            out.push(b',');
        }
        out.extend_from_slice(open);
    }
    Some(out)
}
