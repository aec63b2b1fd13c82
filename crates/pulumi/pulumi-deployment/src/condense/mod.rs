//! Deployments without the values that surely can be loaded, for those who look at everything else.

mod condenser;
mod part;

use std::io::{self, Read};

use groundstate_json::Mark;

use crate::decode::{DecodeOptions, decode};
use crate::file::DeploymentFile;

pub(crate) use condenser::Condenser;
pub use part::{Beginning, CondensedPart, condense_part};

/// A deployment without the values that surely can be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Condensed {
    /// The deployment.
    pub file: DeploymentFile,
    /// Where each of its resources stands in the text, and last the bracket behind them.
    pub elements: Vec<Element>,
}

/// Where an element of a list stands, or the bracket that ends the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Element {
    /// The place behind what stands before it: another element, or the bracket that begins the list.
    pub gap: Mark,
    /// Where it begins.
    pub start: Mark,
}

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
/// let condensed = condense(text.as_bytes())?.expect("it is a deployment of version 3");
/// let resource = &condensed.file.snapshot.unwrap().resources[0];
/// assert_eq!(resource.urn, "a");
/// assert_eq!(resource.inputs.as_raw().unwrap().as_str(), r#"{"large":1e999}"#);
/// assert_eq!(condensed.elements[0].start.offset, text.find(r#"{"urn""#).unwrap());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of the input.
pub fn condense(input: impl Read) -> io::Result<Option<Condensed>> {
    Ok(condense_part(input, 0, None)?.and_then(|part| Condensed::join([part])))
}

impl Condensed {
    /// Puts the parts of one text together, first to last.
    ///
    /// Nothing if the parts do not meet, or where [`condense`] gives nothing.
    pub fn join(parts: impl IntoIterator<Item = CondensedPart>) -> Option<Self> {
        let (mut resources, mut elements, mut frame) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Element { gap: Mark::START, start: Mark::START };
        let mut is_whole = false;
        for mut part in parts {
            if part.start() != next.start.offset || is_whole {
                return None;
            }
            // What stands before the first element of a part is known to the part before.
            let (before, is_first) = (next, part.start() == 0);
            let behind = |element: Element| Element {
                gap: element.gap.behind(before.start),
                start: element.start.behind(before.start),
            };
            let first = elements.len();
            elements.extend(part.elements.drain(..).map(behind));
            next = behind(part.next);
            if !is_first {
                elements.get_mut(first).unwrap_or(&mut next).gap = before.gap;
            }
            resources.append(&mut part.resources);
            frame.append(&mut part.frame);
            is_whole = part.is_last;
        }
        elements.push(next);
        let mut file = decode(&frame, &DecodeOptions::default()).ok().filter(|file| file.notes.is_empty())?;
        file.snapshot.as_mut().filter(|_| is_whole)?.resources = resources;
        Some(Self { file, elements })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::part::{BLOCK, part_by};
    use super::{Beginning, Condensed, CondensedPart, condense, condense_part};
    use crate::{DecodeOptions, SourcePos, decode};
    use groundstate_pulumi_snapshot::Properties;

    fn condense_by(text: &[u8], block: usize) -> io::Result<Option<Condensed>> {
        Ok(part_by(text, 0, None, block)?.and_then(|part| Condensed::join([part])))
    }

    /// The inputs of the first resource and the outputs, condensed, after a look at all else.
    fn condensed(text: &str, block: usize) -> Option<(String, String)> {
        let found = condense_by(text.as_bytes(), block).expect("memory can be read")?.file.snapshot?;
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

    fn part(text: &str, start: usize, stop: Option<usize>) -> Option<CondensedPart> {
        condense_part(&text.as_bytes()[start..], start, stop).expect("memory can be read")
    }

    /// Documents of the same resources: with lines and without, in both envelopes, and with a list of none.
    fn documents() -> Vec<String> {
        let indented = "{\n  \"version\": 3,\n  \"deployment\": {\n    \"resources\": [\n      {\n        \"urn\": \"größe\",\n                     \"inputs\": {\"日本\": [1e999, \"]\"]}\n      },\n      {\n        \"urn\": \"b\"\n      },\n      {\n        \"urn\": \"c\"\n      }\n    ],\n                 \"pending_operations\": []\n  }\n}\n";
        let compact: String = indented.split(['\n', ' ']).collect();
        let checkpoint =
            compact.replace("\"deployment\":{", "\"checkpoint\":{\"stack\":\"s\",\"latest\":{") + "}";
        let begin = compact.find("[{").unwrap();
        let none = format!("{}[ \n ]}}}}", &compact[..begin]);
        vec![indented.to_owned(), compact, checkpoint, none]
    }

    #[test]
    fn elements_stand_where_the_text_has_them() {
        for text in documents() {
            let whole = condense(text.as_bytes()).unwrap().expect("it is a deployment of version 3");
            let mut end = text.find('[').unwrap() + 1;
            for element in &whole.elements {
                for (mark, expected) in [(element.gap, end), (element.start, element.start.offset)] {
                    let place = SourcePos::of(text.as_bytes(), expected);
                    let found = (mark.offset, mark.line, mark.column);
                    assert_eq!(found, (expected, place.line, place.column), "{text}");
                }
                let rest = &text[element.start.offset..];
                let mut cursor = groundstate_json::Cursor::new(rest.as_bytes());
                assert_eq!(rest.starts_with(']'), cursor.skip().is_err(), "{text}");
                end = element.start.offset + cursor.offset();
            }
            let count = whole.file.snapshot.unwrap().resources.len();
            assert_eq!(whole.elements.len(), count + 1);
        }
    }

    #[test]
    fn parts_that_meet_are_the_whole_and_others_are_refused() {
        for text in documents() {
            let whole = condense(text.as_bytes()).unwrap().expect("it is a deployment of version 3");
            let starts: Vec<usize> = whole.elements.iter().map(|element| element.start.offset).collect();
            let resources = &starts[..starts.len() - 1];
            for stop in 0..=text.len() {
                let first = part(&text, 0, Some(stop)).expect("it begins as the whole does");
                let next = resources.iter().find(|start| **start >= stop);
                assert_eq!(first.reached(), next.copied(), "{stop} in {text}");
                let Some(&next) = next else {
                    assert_eq!(Condensed::join([first]).unwrap().elements, whole.elements);
                    continue;
                };
                // The rest in two, the first of which may be empty.
                let second = part(&text, next, Some(stop)).unwrap();
                let third = part(&text, second.reached().unwrap(), None).unwrap();
                let joined = Condensed::join([first, second, third]).expect("they meet");
                assert_eq!(joined.elements, whole.elements, "{stop} in {text}");
                assert_eq!(joined.file.snapshot, whole.file.snapshot, "{stop} in {text}");
                if next != stop {
                    continue;
                }
                let again = || part(&text, 0, Some(stop)).unwrap();
                for start in (1..text.len()).filter(|at| *at != next && text.is_char_boundary(*at)) {
                    let Some(wrong) = part(&text, start, None) else { continue };
                    assert!(Condensed::join([again(), wrong]).is_none(), "{start} and not {next} in {text}");
                }
                assert!(Condensed::join([again()]).is_none(), "{stop} in {text}");
            }
            assert!(Condensed::join([]).is_none());
        }
    }

    #[test]
    fn resources_are_expected_where_they_begin() {
        for text in documents() {
            let whole = condense(text.as_bytes()).unwrap().expect("it is a deployment of version 3");
            let starts: Vec<usize> = whole.elements.iter().map(|element| element.start.offset).collect();
            let Some(beginning) = Beginning::of(text.as_bytes()) else {
                assert_eq!(starts.len(), 1, "{text}");
                continue;
            };
            for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
                if let Some(found) = beginning.find(&text.as_bytes()[at..]) {
                    assert!(starts.contains(&(at + found)), "{at} in {text}");
                }
            }
            assert_eq!(beginning.find(text.as_bytes()), Some(starts[1]), "{text}");
            assert!((0..starts[0] + 1).all(|end| Beginning::of(&text.as_bytes()[..end]).is_none()));
        }
    }
}
