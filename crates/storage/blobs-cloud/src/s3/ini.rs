//! The grammar of the files `~/.aws/config` and `~/.aws/credentials`, as the SDK for Go reads them.
//!
//! Lines that are no section, property or continuation are ignored, as there.

use std::collections::BTreeMap;
use std::fmt;

/// A section: the words of its header, and its properties by their names in lower case.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) header: Vec<String>,
    pub(super) properties: BTreeMap<String, Property>,
}

/// A value, and the properties that are indented below it, such as those of `s3 =`.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) value: String,
    pub(super) nested: BTreeMap<String, String>,
}

impl fmt::Debug for Section {
    /// Shows names only: values are keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { header, properties } = self;
        f.debug_struct("Section").field("header", header).field("properties", properties).finish()
    }
}

impl fmt::Debug for Property {
    /// Shows the names below it only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.nested.keys()).finish()
    }
}

/// The sections of a file in their order; the same one may appear twice.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut last: Option<String> = None;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let is_comment = line.trim_start().starts_with(['#', ';']);
        if line.trim().is_empty() || is_comment {
            continue;
        }
        if let Some(header) = header(line) {
            sections.push(Section { header, ..Section::default() });
            last = None;
            continue;
        }
        let Some(section) = sections.last_mut() else { continue };
        let is_indented = line.starts_with([' ', '\t']);
        let current = last.as_ref().filter(|_| is_indented);
        let current = current.and_then(|name| section.properties.get_mut(name));
        match (current, line.split_once('=')) {
            (Some(property), Some((name, value))) if property.value.is_empty() => {
                property.nested.insert(name.trim().to_lowercase(), value.trim().to_owned());
            }
            (_, Some((name, value))) if !name.trim().is_empty() => {
                let name = name.trim().to_lowercase();
                let value = without_comment(value).trim().to_owned();
                section.properties.insert(name.clone(), Property { value, nested: BTreeMap::new() });
                last = Some(name);
            }
            (Some(property), None) if !property.value.is_empty() => {
                property.value.push('\n');
                property.value.push_str(line.trim());
            }
            _ => {}
        }
    }
    sections
}

/// The words between the brackets; quotes keep spaces together.
fn header(line: &str) -> Option<Vec<String>> {
    let (inside, _) = line.trim().strip_prefix('[')?.split_once(']')?;
    let mut words = Vec::new();
    for (index, part) in inside.split('"').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    Some(words)
}

fn without_comment(value: &str) -> &str {
    let starts = [" #", " ;", "\t#", "\t;"].into_iter().filter_map(|mark| value.find(mark));
    &value[..starts.min().unwrap_or(value.len())]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::sections;

    #[test]
    fn no_debug_text_has_a_value() {
        let text = "[default]\naws_secret_access_key = hush\ns3 =\n  token = hush\n";
        let shown = format!("{:?}", sections(text));
        assert!(shown.contains("aws_secret_access_key") && shown.contains("token"), "{shown}");
        assert!(!shown.contains("hush"), "{shown}");
    }

    #[test]
    fn nested_properties_continuations_and_comments_are_read() {
        let text = "\u{feff}lost = 1\n# comment\n[profile  \"my dev\"] ; note\nRegion = eu-west-1 # here\n s3 =\n  \
            addressing_style = path\n  max = 1\nodd line\nprocess = a#b \\\n   --flag\n  role_arn = arn\n[default]\nx=\n";
        let found = sections(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].header, ["profile", "my dev"]);
        let value = |name: &str| found[0].properties[name].value.as_str();
        assert_eq!(value("region"), "eu-west-1");
        assert_eq!(found[0].properties["s3"].nested["addressing_style"], "path");
        assert_eq!(value("process"), "a#b \\\n--flag");
        assert_eq!(value("role_arn"), "arn");
        assert_eq!(found[1].properties["x"].value, "");
        assert!(!found[0].properties.contains_key("lost"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\PC|[\\[\\]\"=# ;\\n\\t])*") {
            sections(&text);
        }
    }
}
