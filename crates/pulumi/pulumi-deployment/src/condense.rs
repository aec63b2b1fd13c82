//! Deployments without the values that surely can be loaded, for those who look at everything else.

use std::io::{self, Read};
use std::sync::Arc;

use groundstate_json::{Cursor, Extremes, Kind, Stop, SyntaxError};
use groundstate_pulumi_snapshot::{Properties, Resource};
use memchr::memmem::Finder;

use crate::decode::{DecodeOptions, decode};
use crate::file::DeploymentFile;
use crate::property::{MAX_DEPTH, SIGNATURE};
use crate::reader::{Reader, raw_json};
use crate::sink::Sink;
use crate::wire::resource::resource;

/// How much of the text is held at a time, unless a resource is larger.
const BLOCK: usize = 1 << 18;

/// Levels that values may have without being looked at; those that Pulumi loads may have a few more.
const SAFE_LEVELS: usize = MAX_DEPTH / 2;

/// Reads a deployment, and leaves out of the inputs and outputs of its resources what surely can be loaded: values without
/// anything that [`salvage_map`](crate::salvage_map) could find a fault in. Of all else the file is what
/// [`decode`] gives, for checks of large files.
///
/// The text is checked as it is read, and only a part of it is in memory at a time.
///
/// Nothing if [`decode`] has to read the whole text: if it would give an error or notes, or if the text is not a deployment or a
/// checkpoint of version 3 or 4 whose version comes first, as Pulumi writes them.
///
/// ```
/// use groundstate_pulumi_deployment::condense;
///
/// let text = r#"{"version":3,"deployment":{"resources":[{"urn":"a","type":"t","inputs":{"size":1.5,"large":1e999}}]}}"#;
/// let file = condense(text.as_bytes())?.expect("it is a deployment of version 3");
/// let resource = &file.snapshot.unwrap().resources[0];
/// assert_eq!(resource.urn, "a");
/// assert_eq!(resource.inputs.as_raw().unwrap().as_str(), r#"{"large":1e999}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of the input.
pub fn condense(input: impl Read) -> io::Result<Option<DeploymentFile>> {
    condense_by(input, BLOCK)
}

fn condense_by(input: impl Read, block: usize) -> io::Result<Option<DeploymentFile>> {
    let mut window = Window { input, block, text: Vec::new(), is_whole: false };
    let (mut pos, depth) = loop {
        match list_of_resources(&window.text) {
            Ok(Some(found)) => break found,
            Err(stop) if stop.why == SyntaxError::End && !window.is_whole => window.more(0)?,
            _ => return Ok(None),
        }
    };
    let mut frame = window.text.get(..pos).unwrap_or_default().to_vec();
    let mut reader = Reader::condensing(Condenser::new());
    let (mut first, mut resources) = (true, Vec::new());
    loop {
        let mut cursor = Cursor::at(&window.text, pos, depth);
        let mut still_first = first;
        match element(&mut reader, &mut cursor, &mut still_first) {
            Ok(Next::Resource(_)) if !reader.sink.is_clean() => return Ok(None),
            Ok(Next::Resource(resource)) => {
                resources.push(resource);
                (pos, first) = (cursor.offset(), still_first);
            }
            Ok(Next::End) => {
                pos = cursor.offset();
                break;
            }
            // What is cut off is read again when the rest is there.
            Err(stop) if stop.why == SyntaxError::End && !window.is_whole => {
                reader.sink = Sink::default();
                window.more(pos)?;
                pos = 0;
            }
            Ok(Next::Unknown) | Err(_) => return Ok(None),
        }
    }
    frame.push(b']');
    frame.extend_from_slice(window.text.get(pos..).unwrap_or_default());
    window.input.read_to_end(&mut frame)?;
    let Ok(mut file) = decode(&frame, &DecodeOptions::default()) else { return Ok(None) };
    match &mut file.snapshot {
        Some(snapshot) if file.notes.is_empty() => snapshot.resources = resources,
        _ => return Ok(None),
    }
    Ok(Some(file))
}

/// The part of a text that is held.
struct Window<R> {
    input: R,
    block: usize,
    text: Vec<u8>,
    is_whole: bool,
}

impl<R: Read> Window<R> {
    /// Forgets what is done and reads on, by as much as is held at least, so that a large value is not read too often.
    fn more(&mut self, done: usize) -> io::Result<()> {
        self.text.drain(..done.min(self.text.len()));
        let wanted = self.block.max(self.text.len());
        self.text.try_reserve(wanted)?;
        let read = self.input.by_ref().take(wanted as u64).read_to_end(&mut self.text)?;
        self.is_whole = read < wanted;
        Ok(())
    }
}

/// Behind the bracket of the resources, and how deep that is; nothing if the list is not where it should be.
fn list_of_resources(text: &[u8]) -> Result<Option<(usize, usize)>, Stop> {
    /// The objects on the way.
    enum Level {
        Document { is_current: bool },
        Checkpoint,
        Deployment,
    }
    let mut cursor = Cursor::new(text);
    if cursor.kind()? != Kind::Object {
        return Ok(None);
    }
    cursor.open(b'{')?;
    let (mut level, mut first) = (Level::Document { is_current: false }, true);
    while let Some(name) = cursor.member(&mut first)? {
        let kind = cursor.kind()?;
        let next = match (&level, &*name.bytes(), kind) {
            (Level::Document { .. }, b"version", _) => {
                let is_current = matches!(cursor.raw()?, b"3" | b"4");
                level = Level::Document { is_current };
                continue;
            }
            (Level::Document { is_current: true }, b"deployment", Kind::Object)
            | (Level::Checkpoint, b"latest", Kind::Object) => Level::Deployment,
            (Level::Document { is_current: true }, b"checkpoint", Kind::Object) => Level::Checkpoint,
            (Level::Deployment, b"resources", Kind::Array) => {
                cursor.open(b'[')?;
                return Ok(Some((cursor.offset(), cursor.depth())));
            }
            _ => {
                cursor.skip()?;
                continue;
            }
        };
        cursor.open(b'{')?;
        (level, first) = (next, true);
    }
    Ok(None)
}

/// What comes next in the list of resources.
enum Next {
    Resource(Arc<Resource>),
    End,
    /// Something that is no resource.
    Unknown,
}

fn element(reader: &mut Reader, cursor: &mut Cursor<'_>, first: &mut bool) -> Result<Next, Stop> {
    if !cursor.element(first)? {
        return Ok(Next::End);
    }
    match cursor.kind()? {
        Kind::Object => Ok(Next::Resource(Arc::new(resource(reader, cursor)?))),
        _ => Ok(Next::Unknown),
    }
}

/// Tells the values that surely can be loaded from others.
#[derive(Debug)]
pub(crate) struct Condenser {
    signature: Finder<'static>,
    escape: Finder<'static>,
}

impl Condenser {
    fn new() -> Self {
        Self { signature: Finder::new(SIGNATURE), escape: Finder::new("\\u00") }
    }

    /// Reads an object of which only doubtful members are kept. The cursor is before its brace.
    pub(crate) fn properties(&self, cursor: &mut Cursor<'_>) -> Result<Properties, Stop> {
        let before = cursor.clone();
        let extremes = cursor.skip_measured()?;
        let raw = cursor.since(before.offset());
        if self.is_loadable(raw, extremes) {
            return Ok(Properties::default());
        }
        let doubtful = self.doubtful(before)?;
        Ok(Properties::Raw(raw_json(doubtful.as_deref().unwrap_or(raw))))
    }

    /// An object of the members of which it is not sure that they can be loaded; nothing if they cannot be told from others.
    fn doubtful(&self, mut cursor: Cursor<'_>) -> Result<Option<Vec<u8>>, Stop> {
        let (mut out, mut kept, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            if name.escaped {
                return Ok(None);
            }
            let start = cursor.offset();
            let extremes = cursor.skip_measured()?;
            if self.is_loadable(cursor.since(name.offset), extremes) {
                left_out.push(name.raw);
                continue;
            }
            kept.push(name.raw);
            out.push(if out.is_empty() { b'{' } else { b',' });
            out.push(b'"');
            out.extend_from_slice(name.raw);
            out.extend_from_slice(b"\":");
            out.extend_from_slice(cursor.since(start));
        }
        // Of two members of one name the last counts, so none of them can be left out alone.
        if kept.is_empty() || has_common(&mut kept, &left_out) {
            return Ok(None);
        }
        out.push(b'}');
        Ok(Some(out))
    }

    /// Whether there is nothing in a text that can keep a value from being loaded: no signature, nothing that nests deep,
    /// and no number that may be beyond the range of a double.
    fn is_loadable(&self, raw: &[u8], extremes: Extremes) -> bool {
        extremes.levels <= SAFE_LEVELS
            && !extremes.large_number
            && self.signature.find(raw).is_none()
            && !self.has_escaped_digit(raw)
    }

    /// Whether a character is escaped that can be in a signature: signatures are hexadecimal, and escapes can hide one.
    fn has_escaped_digit(&self, raw: &[u8]) -> bool {
        let is_digit =
            |at: usize| matches!(raw.get(at + 4..at + 6), Some([b'3', b'0'..=b'9'] | [b'6', b'1'..=b'6']));
        self.escape.find_iter(raw).any(is_digit)
    }
}

fn has_common(some: &mut [&[u8]], others: &[&[u8]]) -> bool {
    some.sort_unstable();
    others.iter().any(|name| some.binary_search(name).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, condense_by};
    use crate::{DecodeOptions, decode};
    use groundstate_pulumi_snapshot::Properties;

    /// The inputs of the first resource and the outputs, condensed, after a look at all else.
    fn condensed(text: &str, block: usize) -> Option<(String, String)> {
        let found = condense_by(text.as_bytes(), block).expect("memory can be read")?.snapshot?;
        let mut whole = decode(text.as_bytes(), &DecodeOptions::default()).expect("it was read").snapshot?;
        let first = found.resource(0)?.clone();
        for (index, resource) in found.indexed() {
            let whole = whole.resource_mut(index)?;
            (whole.inputs, whole.outputs) = (resource.inputs.clone(), resource.outputs.clone());
        }
        assert_eq!(whole, found);
        let text = |properties: &Properties| {
            properties.as_raw().map_or(String::new(), |raw| raw.as_str().to_owned())
        };
        Some((text(&first.inputs), text(&first.outputs)))
    }

    fn with_inputs(inputs: &str) -> String {
        let tail = r#""outputs": {"a": [{}, 1]}}, {"urn": "b"} ], "metadata": {}}}"#;
        format!(r#"{{"version": 3, "deployment": {{"resources": [ {{"urn": "a", "inputs": {inputs}, {tail}"#)
    }

    #[test]
    fn only_what_surely_can_be_loaded_is_left_out() {
        let signature = "4dabf18193072939515e22adb298388d";
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let digits = "1".repeat(400);
        for (inputs, expected) in [
            ("{}".to_owned(), String::new()),
            (r#"{"a": [1.5, {"b": "\u003c"}], "c": -0}"#.into(), String::new()),
            (format!(r#"{{"a": {{"{signature}": 1}}, "b": 2}}"#), format!(r#"{{"a":{{"{signature}":1}}}}"#)),
            (r#"{"b": 2, "a": 1e5}"#.into(), r#"{"a":1e5}"#.into()),
            (format!(r#"{{"b": 2, "a": {digits}}}"#), format!(r#"{{"a":{digits}}}"#)),
            (format!(r#"{{"b": 2, "a": {deep}, "c": "ü"}}"#), format!(r#"{{"a":{deep}}}"#)),
            (r#"{"b": 2, "a": {"\u0034dabf": 1}}"#.into(), r#"{"a":{"\u0034dabf":1}}"#.into()),
            (format!(r#"{{"{signature}": 1, "a": 1}}"#), format!(r#"{{"{signature}":1}}"#)),
            // As they are: members of one name, and names with escapes.
            (r#"{"a":1e999,"a":1}"#.into(), r#"{"a":1e999,"a":1}"#.into()),
            (r#"{"a":1e999,"\t":1}"#.into(), r#"{"a":1e999,"\t":1}"#.into()),
            ("null".into(), String::new()),
        ] {
            for block in [1, 2, 3, 7, 64, BLOCK] {
                let expected = (expected.clone(), String::new());
                assert_eq!(condensed(&with_inputs(&inputs), block), Some(expected), "{inputs} by {block}");
            }
        }
    }

    #[test]
    fn what_is_laid_out_otherwise_is_left_to_the_reader_of_the_whole() {
        let whole = with_inputs("{}");
        assert!(condensed(&whole, 5).is_some());
        for text in [
            String::new(),
            "[]".into(),
            r#"{"version": 3}"#.into(),
            with_inputs("[1]"),
            whole.replace("\"version\": 3", "\"version\": 2"),
            whole.replace("\"version\": 3, ", ""),
            whole.replace("\"outputs\"", "\"inputs\""),
            whole.replace("\"outputs\"", "\"\\u0069nputs\""),
            whole.replace("{\"urn\": \"b\"}", "null"),
            whole.replace("{\"urn\": \"b\"}", "{\"urn\": tru}"),
            whole.replace("[{}, 1]", "[{}, 1,]"),
            whole.replace("\"metadata\"", "\"resources\""),
            whole.replace("}}}", "}}, \"version\": 3}"),
            whole.replace("deployment", "latest"),
            format!("{whole}}}"),
        ] {
            assert_eq!(condensed(&text, 5), None, "{text}");
        }
        for end in 0..whole.len() {
            assert_eq!(condensed(&whole[..end], 5), None, "{end}");
        }
        let checkpoint =
            whole.replace("\"deployment\": {", "\"checkpoint\": {\"stack\": \"s\", \"latest\": {") + "}";
        assert!(condensed(&checkpoint, 5).is_some());
    }
}
