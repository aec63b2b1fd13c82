//! A document that is read where it is asked for, and changed without touching the rest.

use std::fmt;
use std::ops::Range;

use groundstate_json::{PathStep, compact_as_written, path_steps, value_span};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, InstanceKey};
use groundstate_states::{Attributes, Lineage, OutputValue, RawJson, Resource, Serial, State};

use crate::decode::{DecodeOptions, decode};
use crate::dialect::Dialect;
use crate::edit::Edit;
use crate::file::{File, Layout, Style};
use crate::index::{Index, Indexer, Order, ResourceEntry};
use crate::json::SourcePos;
use crate::problem::ReadError;
use crate::sink::{Sink, syntax_error};
use crate::sniff;
use crate::walk::{Halt, Whole, walk_feed};
use crate::writer_version::WriterVersion;

/// A document of format 4 with an index of its parts.
///
/// Opening checks everything that [`decode`] checks, but builds no model: besides the text there are some dozen bytes
/// for each object. Parts are decoded when they are asked for, and [`Document::edit`] copies all bytes it does not
/// change.
///
/// ```
/// use groundstate_statefile::Document;
///
/// let text = br#"{"version": 4, "serial": 7, "resources": [{"mode": "managed", "type": "null_resource",
///     "name": "a", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]", "instances": [{}]}]}"#;
/// let document = Document::open(text.to_vec())?;
/// assert_eq!(document.serial().get(), 7);
/// assert_eq!(document.instances().next().unwrap().to_string(), "null_resource.a");
/// # Ok::<(), groundstate_statefile::ReadError>(())
/// ```
pub struct Document {
    text: Vec<u8>,
    index: Index,
    order: Order,
    dialect: Dialect,
}

/// Sizes only: the text may be huge, and holds secrets.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("bytes", &self.text.len())
            .field("outputs", &self.index.outputs.len())
            .field("resources", &self.index.resources.len())
            .finish_non_exhaustive()
    }
}

/// The index of a document, read in one piece, and its resources in the order of lists.
fn indexed(text: &[u8]) -> Result<(Index, Order), ReadError> {
    let mut sink = Sink::default();
    let mut indexer = Indexer::new(false);
    match walk_feed(Whole::new(text), &mut indexer, &mut sink) {
        Ok(()) | Err(Halt::Enough | Halt::Reached(_)) => {}
        Err(Halt::Syntax(stop)) => return Err(syntax_error(text, stop)),
        Err(Halt::Version) => return Err(sniff::contradiction(text)),
        Err(Halt::Feed(never)) => match never {},
    }
    let index = indexer.index;
    let order = index.in_list_order();
    index.check_entries(&order, &mut sink);
    match sink.into_problems(text) {
        Some(problems) => Err(ReadError::Unusable(problems)),
        None => Ok((index, order)),
    }
}

impl Document {
    /// Indexes a document. Whose rules it follows is decided here, by all that it holds.
    ///
    /// # Errors
    ///
    /// As [`decode`], and [`ReadError::Unusable`] for a document of an older version: those are read with [`decode`].
    pub fn open(text: Vec<u8>) -> Result<Self, ReadError> {
        Self::open_with(text, &DecodeOptions::default())
    }

    /// The same with a number of [threads](DecodeOptions::threads), and by the rules of a product that is
    /// [known](DecodeOptions::dialect), as for a document that was read before and has changed since: provider addresses
    /// without a registry mean what they meant then. As every byte stays, invalid UTF-8 is refused whatever the options say.
    ///
    /// # Errors
    ///
    /// As [`Document::open`].
    pub fn open_with(text: Vec<u8>, options: &DecodeOptions) -> Result<Self, ReadError> {
        let version = sniff::version(&text)?;
        if version != 4 {
            return Err(sniff::not_current(&text, version));
        }
        let (index, order) = match Index::shared(&text, options.threads) {
            Some(found) => found,
            None => indexed(&text)?,
        };
        let dialect = options.dialect.unwrap_or_else(|| index.dialect());
        Ok(Self { text, index, order, dialect })
    }

    /// The text as it was given.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Gives the text back.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// The serial; 0 if there is none.
    pub fn serial(&self) -> Serial {
        Serial::new(self.index.serial)
    }

    /// The lineage; empty if there is none.
    pub fn lineage(&self) -> Lineage {
        Lineage::new(&self.index.lineage)
    }

    /// The release that wrote the document, if it says so.
    pub fn terraform_version(&self) -> Option<&WriterVersion> {
        self.index.writer.as_ref()
    }

    /// Whose rules the document follows; see [`decode`].
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Every instance once, in the order of `terraform state list`.
    pub fn instances(&self) -> impl Iterator<Item = AbsResourceInstance> {
        self.index.instances(&self.order).into_iter().map(|(resource, key, _)| resource.instance(key.clone()))
    }

    /// The resources in the order of lists; one that stands in two entries comes twice.
    pub fn resources(&self) -> impl Iterator<Item = &AbsResource> {
        let positions = self.order.positions.iter();
        positions.filter_map(|&at| self.index.resources.get(at)).map(|entry| &entry.address)
    }

    /// Names of the outputs in the order of the document.
    pub fn output_names(&self) -> impl Iterator<Item = &str> {
        self.index.outputs.iter().map(|(name, _)| &**name)
    }

    /// Decodes one resource with all its instances.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn resource(&self, address: &AbsResource) -> Result<Option<Resource>, ReadError> {
        let entries: Vec<_> = self.entries_of(address).collect();
        self.decode_entries(address, &entries)
    }

    /// Where the objects of an instance stand in the text: the current one first, then deposed ones.
    pub fn places(&self, address: &AbsResourceInstance) -> Vec<SourcePos> {
        let objects = self.entries_of(&address.resource).flat_map(|entry| self.index.objects_of(entry));
        let mut found: Vec<_> = objects.filter(|object| object.key == address.key).collect();
        found.sort_by_key(|object| object.deposed);
        found.iter().map(|object| SourcePos::of(&self.text, object.span.start)).collect()
    }

    /// One attribute of an instance's current object by its path, such as `id`, `tags.Name` or `disks[0].size`. Nothing but the
    /// instance is read for it.
    ///
    /// ```
    /// use groundstate_statefile::Document;
    /// use groundstate_statefile::states::addr::AbsResourceInstance;
    ///
    /// let text = br#"{"version": 4, "serial": 7, "resources": [{"mode": "managed", "type": "aws_instance", "name": "web",
    ///     "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
    ///     "instances": [{"schema_version": 1, "attributes": {"tags": {"Name": "web"}, "size": 1.50}}]}]}"#;
    /// let document = Document::open(text.to_vec())?;
    /// let web = AbsResourceInstance::parse("aws_instance.web").unwrap();
    /// assert_eq!(document.attribute(&web, "tags.Name").and_then(|name| name.to_text()).as_deref(), Some("web"));
    /// assert_eq!(document.attribute(&web, "size").unwrap().as_str(), "1.50");
    /// assert_eq!(document.attribute(&web, "ami"), None);
    /// # Ok::<(), groundstate_statefile::ReadError>(())
    /// ```
    pub fn attribute(&self, address: &AbsResourceInstance, path: &str) -> Option<RawJson> {
        if let Some(span) = self.attribute_span(address, path) {
            return compact_as_written(self.slice(&span));
        }
        // Files that old releases wrote may hold the flat form still.
        let resource = self.resource(&address.resource).ok()??;
        let object = resource.instances.get(&address.key)?.current.as_ref()?;
        match &object.attributes {
            flat @ Attributes::Flat(_) => flat.get(path),
            Attributes::Json(_) => None,
        }
    }

    /// Where the value of an attribute stands.
    pub(crate) fn attribute_span(&self, address: &AbsResourceInstance, path: &str) -> Option<Range<usize>> {
        let mut objects = self.entries_of(&address.resource).flat_map(|entry| self.index.objects_of(entry));
        let object = objects.find(|object| object.key == address.key && object.deposed.is_none())?;
        let mut steps = vec![PathStep::Name("attributes".to_owned())];
        steps.extend(path_steps(path));
        value_span(&self.text, object.span.start, &steps)
    }

    /// Decodes one output.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn output(&self, name: &str) -> Result<Option<OutputValue>, ReadError> {
        let Some((_, span)) = self.index.outputs.iter().rev().find(|(known, _)| **known == *name) else {
            return Ok(None);
        };
        let state = self.fragment(b"\"outputs\": {", &[self.slice(span)], b"}")?;
        Ok(state.root().outputs.get(name).map(|output| (**output).clone()))
    }

    /// Builds the whole model.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn to_file(&self) -> Result<File, ReadError> {
        decode(&self.text, &DecodeOptions::default().dialect(self.dialect()))
    }

    /// Begins a change.
    pub fn edit(&self) -> Edit<'_> {
        Edit::new(self)
    }

    /// The elements of `resources`, in the order of the text.
    pub fn entries(&self) -> &[ResourceEntry] {
        &self.index.resources
    }

    /// The positions of [`entries`](Self::entries) in the order of lists, in which the entries of one resource follow
    /// each other.
    pub fn entries_in_list_order(&self) -> &[usize] {
        &self.order.positions
    }

    /// The key of the instance that each object of an entry belongs to, in the order of the text.
    pub fn keys_of(&self, entry: &ResourceEntry) -> impl Iterator<Item = &InstanceKey> {
        self.index.objects_of(entry).iter().map(|object| &object.key)
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// How new parts of the document are written.
    pub(crate) fn style(&self) -> Style {
        let style = Style::shown(self.dialect(), self.terraform_version(), &self.index.traces);
        Style { indented: Layout::of(&self.text).indented, ..style }
    }

    pub(crate) fn entries_of(&self, address: &AbsResource) -> impl Iterator<Item = &ResourceEntry> {
        let address = address.clone();
        self.index.resources.iter().filter(move |entry| entry.address == address)
    }

    /// Decodes one resource from all the entries it has, which takes no search for them; nothing if there are none.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn decode_entries(
        &self,
        address: &AbsResource,
        entries: &[&ResourceEntry],
    ) -> Result<Option<Resource>, ReadError> {
        if entries.is_empty() {
            return Ok(None);
        }
        let texts: Vec<_> = entries.iter().map(|entry| self.slice(&entry.span)).collect();
        let state = self.fragment(b"\"resources\": [", &texts, b"]")?;
        Ok(state.resource(address).cloned())
    }

    pub(crate) fn slice(&self, span: &Range<usize>) -> &[u8] {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Decodes some parts of the document as a document of their own, with the same header.
    fn fragment(&self, open: &[u8], parts: &[&[u8]], close: &[u8]) -> Result<State, ReadError> {
        let mut text = b"{\"version\": 4, ".to_vec();
        if let Some(writer) = self.terraform_version() {
            text.extend_from_slice(format!("\"terraform_version\": \"{writer}\", ").as_bytes());
        }
        text.extend_from_slice(open);
        text.extend_from_slice(&parts.join(&b", "[..]));
        text.extend_from_slice(close);
        text.push(b'}');
        let options = DecodeOptions::default().dialect(self.dialect());
        Ok(decode(&text, &options)?.state)
    }
}
